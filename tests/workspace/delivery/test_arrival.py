"""What `clean` recognises as arrived, what it keeps, and when the snapshots of a run go."""

import time
from pathlib import Path

import pytest

from handrail.ports.delivery import Retention
from handrail.workspace.delivery.apply import apply_to_checkout, undo_apply
from handrail.workspace.delivery.discard import discard
from handrail.workspace.delivery.janitor import clean, survey
from support.workspace.git_room import GitRoom, commit, fill, git

LATER = Retention(lambda _: 30, 4e12)
SOON = Retention(lambda _: 30, 0.0)


def cleaned(shop: GitRoom, retention: Retention = SOON) -> list[str]:
    """Clean up, and name what went."""
    found = survey(shop.spaces.places, lambda _: "over", [str(shop.repo)], retention)
    clean(shop.spaces.places, found)
    return [one.name for one in found if not one.reasons and one.kind != "lock"]


def work(shop: GitRoom) -> Path:
    """A run that changes, adds and removes files, and commits none of it."""
    _, path = shop.prepare()
    fill(path, {"README.md": "better\n", "new/deep.txt": "n"})
    (path / "src/app.py").unlink()
    return path


def apply(shop: GitRoom) -> None:
    apply_to_checkout(shop.spaces.places, shop.prepare()[0], "r1")


def test_what_nobody_applied_stays(shop: GitRoom) -> None:
    path = work(shop)
    assert cleaned(shop) == []
    assert path.exists()


def test_applied_work_has_arrived_while_it_stands_in_the_checkout(shop: GitRoom) -> None:
    path = work(shop)
    apply(shop)
    assert cleaned(shop) == [str(path)]
    undo_apply(shop.spaces.places, shop.source_tree(path), "r1")
    assert git(shop.repo, "status", "--porcelain") == ""


def test_applied_work_that_was_taken_back_stays(shop: GitRoom) -> None:
    path = work(shop)
    apply(shop)
    undo_apply(shop.spaces.places, shop.prepare()[0], "r1")
    assert cleaned(shop) == []
    assert path.exists()


def test_applied_work_has_arrived_when_it_was_committed_and_edited_since(shop: GitRoom) -> None:
    path = work(shop)
    apply(shop)
    commit(shop.repo, "applied")
    commit(shop.repo, README_md="and edited since\n")
    assert cleaned(shop) == [str(path)]


def test_work_that_was_copied_by_hand_and_committed_has_arrived(shop: GitRoom) -> None:
    path = work(shop)
    (shop.repo / "src/app.py").unlink()
    commit(shop.repo, README_md="better\n", new__deep_txt="n")
    assert cleaned(shop) == [str(path)]


def test_work_that_was_applied_onto_other_changes_has_arrived_by_what_came_out(shop: GitRoom) -> None:
    _, path = shop.prepare()
    fill(path, {"src/app.py": "print(11)\nprint(2)\nprint(3)\n"})
    commit(shop.repo, src__app_py="print(1)\nprint(2)\nprint(33)\n")
    apply(shop)
    commit(shop.repo, "applied")
    assert cleaned(shop) == [str(path)]


@pytest.mark.parametrize("left_out", ["README.md", "src/app.py", "new/deep.txt"])
def test_work_that_arrived_only_in_part_stays(shop: GitRoom, left_out: str) -> None:
    path = work(shop)
    apply(shop)
    if left_out == "new/deep.txt":
        (shop.repo / left_out).unlink()
    else:
        git(shop.repo, "checkout", "-q", "HEAD", left_out)
    commit(shop.repo, "a part")
    assert cleaned(shop) == []
    assert path.exists()


def test_work_that_went_on_after_it_was_applied_stays(shop: GitRoom) -> None:
    path = work(shop)
    apply(shop)
    commit(shop.repo, "applied")
    fill(path, {"more.txt": "m"})
    assert cleaned(shop) == []


def test_commits_that_are_not_in_the_files_any_more_stay(shop: GitRoom) -> None:
    _, path = shop.prepare()
    commit(path, only_txt="committed")
    git(path, "checkout", "-q", "--detach", "main")
    assert cleaned(shop) == []
    assert path.exists()


def test_snapshots_go_when_their_time_is_over_and_the_work_is_in_a_branch(shop: GitRoom) -> None:
    path = work(shop)
    shop.spaces.snapshot(shop.prepare()[0], "r1")
    apply(shop)
    commit(shop.repo, "applied")
    assert cleaned(shop) == [str(path)]
    assert shop.refs()
    assert cleaned(shop) == []
    kept = shop.refs()
    assert {"refs/handrail/applied/r1", "refs/handrail/r1"} <= set(kept)
    assert cleaned(shop, LATER) == kept
    assert shop.refs() == []
    assert not list((shop.data / "removed").iterdir())


def test_snapshots_of_steps_stay_longer_for_blame_than_what_was_put_aside_or_applied(shop: GitRoom) -> None:
    work(shop)
    shop.spaces.snapshot(shop.prepare()[0], "r1")
    apply(shop)
    commit(shop.repo, "applied")
    cleaned(shop)
    kept = shop.refs()
    cleaned(shop, Retention(lambda _: 30, time.time() + 100 * 86_400, lambda _: 365))
    assert shop.refs() == [ref for ref in kept if ref == "refs/handrail/r1"]
    assert cleaned(shop, LATER) == ["refs/handrail/r1"]


def test_snapshots_of_work_that_is_only_in_the_checkout_stay(shop: GitRoom) -> None:
    work(shop)
    shop.spaces.snapshot(shop.prepare()[0], "r1")
    apply(shop)
    cleaned(shop)
    cleaned(shop, LATER)
    assert "refs/handrail/r1" in shop.refs()


def test_snapshots_of_discarded_work_stay_for_ever_and_go_once_it_has_arrived(shop: GitRoom) -> None:
    work(shop)
    tree = shop.prepare()[0]
    shop.spaces.snapshot(tree, "r1")
    discard(shop.spaces.places, tree, "r1")
    kept = shop.refs()
    assert cleaned(shop, LATER) == []
    assert shop.refs() == kept
    apply_to_checkout(shop.spaces.places, tree, "r1")
    commit(shop.repo, "applied after all")
    assert cleaned(shop, LATER) == kept
    assert shop.refs() == ["refs/handrail/applied/r1"]


def test_a_ref_that_moved_on_since_is_somebody_elses(shop: GitRoom) -> None:
    work(shop)
    shop.spaces.snapshot(shop.prepare()[0], "r1")
    apply(shop)
    commit(shop.repo, "applied")
    cleaned(shop)
    git(shop.repo, "update-ref", "refs/handrail/r1", "main")
    cleaned(shop, LATER)
    assert "refs/handrail/r1" in shop.refs()


def test_refs_of_another_data_folder_stay(shop: GitRoom) -> None:
    work(shop)
    shop.spaces.snapshot(shop.prepare()[0], "r1")
    other = GitRoom(shop.root / "elsewhere")
    other.root.mkdir()
    (other.root / "shop").symlink_to(shop.repo)
    found = survey(other.spaces.places, lambda _: "over", [str(shop.repo)], LATER)
    assert [one.name for one in found if not one.reasons] == []
