"""Files that a filter of the repository's own configuration would convert are never stored as they stand."""

from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.ports.workspaces import Merged
from support.workspace.git_room import GitRoom, commit, fill, git

ROT = "tr a-z n-za-m"
"""Stands for git-crypt: what is stored is not what is in the file."""


@pytest.fixture
def locked(shop: GitRoom) -> GitRoom:
    """A repository with a filter of its own, and with a file that is stored by it."""
    for name in ("clean", "smudge"):
        git(shop.repo, "config", f"filter.crypt.{name}", ROT)
    commit(shop.repo, _gitattributes="*.key filter=crypt\n", old_key="secret")
    assert git(shop.repo, "show", "HEAD:old.key") == "frperg"
    return shop


def refused(room: GitRoom, path: Path, **files: str) -> str:
    tree, _ = room.prepare()
    fill(path, {name.replace("__", "/").replace("_", "."): text for name, text in files.items()})
    before = git(room.repo, "for-each-ref", "refs/heads")
    with pytest.raises(WorkspaceFault) as found:
        room.spaces.commit(tree, "work")
    assert git(room.repo, "for-each-ref", "refs/heads") == before
    return f"{found.value.message}; {found.value.next_step}"


@pytest.mark.parametrize("name", ["new_key", "old_key", "deep__new_key"])
def test_a_new_or_changed_file_is_refused_by_name(locked: GitRoom, name: str) -> None:
    _, path = locked.prepare()
    said = refused(locked, path, **{name: "password"})
    assert name.replace("__", "/").replace("_", ".") in said
    assert "the filter 'crypt' (*.key)" in said
    assert "git config --global filter.crypt.clean" in said


def test_a_rule_that_the_run_itself_wrote_counts_too(locked: GitRoom) -> None:
    tree, path = locked.prepare()
    first = locked.spaces.snapshot(tree, "r1")
    fill(path, {".gitattributes": "*.pem filter=crypt\n", "new.pem": "password"})
    locked.spaces.snapshot(tree, "r1", first.id)
    assert "new.pem" in refused(locked, path)


def test_a_part_that_holds_none_is_committed(locked: GitRoom) -> None:
    tree, path = locked.prepare()
    fill(path, {"new.key": "password", "new.txt": "n"})
    locked.spaces.commit(tree, "part", ("new.txt",))
    assert git(path, "show", "--format=", "--name-only", "HEAD") == "new.txt"
    with pytest.raises(WorkspaceFault, match="unfiltered"):
        locked.spaces.commit(tree, "part", ("new.key",))


def test_other_files_are_nobodys_business(locked: GitRoom) -> None:
    tree, path = locked.prepare()
    fill(path, {"new.txt": "n"})
    (path / "old.key").unlink()
    locked.spaces.commit(tree, "work")
    assert git(path, "show", "--format=", "--name-status", "HEAD") == "A\tnew.txt\nD\told.key"


def test_what_a_merge_brings_was_stored_by_whoever_committed_it(locked: GitRoom) -> None:
    git(locked.repo, "switch", "-qc", "theirs")
    commit(locked.repo, their_key="hidden", README_md="theirs\n")
    git(locked.repo, "switch", "-q", "main")
    tree, path = locked.prepare()
    fill(path, {"README.md": "ours\n"})
    locked.spaces.commit_before_merge(tree, "work")
    locked.spaces.merge(tree, "theirs", "Merge", markers=True)
    fill(path, {"README.md": "both\n"})
    assert isinstance(locked.spaces.conclude(tree, "Merge"), Merged)
    assert git(path, "show", "HEAD:their.key") == "uvqqra"


def test_applying_is_refused_with_and_without_the_worktree(locked: GitRoom) -> None:
    tree, path = locked.prepare()
    fill(path, {"new.key": "password"})
    locked.spaces.snapshot(tree, "r1")
    for _ in range(2):
        with pytest.raises(WorkspaceFault, match=r"new\.key in .* would be stored unfiltered"):
            locked.spaces.apply_to_checkout(tree, "r1")
        if path.is_dir():
            locked.spaces.discard(tree, "r1")
    assert not (locked.repo / "new.key").exists()


def test_snapshots_keep_and_give_back_the_very_bytes(locked: GitRoom) -> None:
    tree, path = locked.prepare()
    first = locked.spaces.snapshot(tree, "r1")
    fill(path, {"new.key": "pass\r\nword", "old.key": "other"})
    second = locked.spaces.snapshot(tree, "r1", first.id)
    locked.spaces.restore(tree, "r1", first.id)
    assert not (path / "new.key").exists()
    locked.spaces.restore(tree, "r1", second.id)
    assert ((path / "new.key").read_bytes(), (path / "old.key").read_bytes()) == (b"pass\r\nword", b"other")


def test_it_is_said_when_a_run_is_set_up(locked: GitRoom) -> None:
    tree, _ = locked.prepare()
    locked.spaces.record_settings(tree)
    (said,) = locked.spaces.list_unused_filters(tree)
    assert said.startswith("the filter 'crypt' (*.key) is configured only in the repository")


def test_a_filter_of_the_persons_own_runs_and_nothing_is_refused(locked: GitRoom) -> None:
    for name in ("clean", "smudge"):
        git(locked.repo, "config", "--global", f"filter.crypt.{name}", ROT)
    tree, path = locked.prepare()
    locked.spaces.record_settings(tree)
    assert locked.spaces.list_unused_filters(tree) == ()
    assert (path / "old.key").read_text() == "secret"
    fill(path, {"new.key": "password"})
    locked.spaces.commit(tree, "work")
    assert git(path, "show", "HEAD:new.key") == "cnffjbeq"


def test_a_filter_that_nobody_configured_is_none(shop: GitRoom) -> None:
    commit(shop.repo, _gitattributes="*.key filter=crypt\n")
    tree, path = shop.prepare()
    shop.spaces.record_settings(tree)
    assert shop.spaces.list_unused_filters(tree) == ()
    fill(path, {"new.key": "n"})
    shop.spaces.commit(tree, "work")
