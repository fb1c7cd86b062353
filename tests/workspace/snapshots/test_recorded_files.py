"""Files that are in no snapshot are recorded, and every one that differs afterwards is named."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import FileRange
from handrail.workspace.snapshots import recorded_files
from support.privileges import held_by_modes
from support.workspace.git_room import GitRoom, fill, git


class Step:
    """A step that must leave some files alone."""

    def __init__(self, room: GitRoom, below: tuple[str, ...] = ("",), **files: str) -> None:
        self.room = room
        self.tree, self.where = room.prepare()
        fill(self.where, {"a.log": "1\n", "deep/b.log": "2\n", "build/c": "3\n", **files})
        since = room.spaces.snapshot(self.tree, "r1").id
        self.chosen = FileRange(since=since, below=below, wanted=lambda _: True)
        self.record = room.spaces.record_files(self.tree, self.chosen)

    def differing(self) -> tuple[str, ...]:
        return self.room.spaces.list_differing_files(self.tree, self.chosen, self.record)


def _link(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _ignore(step: Step, how: str) -> None:
    rules = {
        "gitignore": step.where / ".gitignore",
        "exclude": Path(git(step.where, "rev-parse", "--git-common-dir")) / "info/exclude",
        "global": Path(os.environ["HOME"]) / ".config/git/ignore",
    }[how]
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text("*\n")
    fill(step.where, {"src/new.py": "1\n"})


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "is added": (lambda where: (where / "new.log").write_text("x"), "new.log"),
    "is added in a new folder": (lambda where: fill(where, {"x/y/new.log": ""}), "x/y/new.log"),
    "is changed": (lambda where: (where / "deep/b.log").write_text("9\n"), "deep/b.log"),
    "grows": (lambda where: (where / "deep/b.log").write_text("22\n"), "deep/b.log"),
    "is removed": (lambda where: (where / "build/c").unlink(), "build/c"),
    "is made executable": (lambda where: (where / "a.log").chmod(0o755), "a.log"),
    "becomes a link to the same text": (lambda where: _link(where / "a.log", "deep/b.log"), "a.log"),
    "becomes a folder": (lambda where: ((where / "a.log").unlink(), (where / "a.log").mkdir()), "a.log"),
    "becomes a pipe": (lambda where: ((where / "a.log").unlink(), os.mkfifo(where / "a.log")), "a.log"),
    "is added in a repository inside": (
        lambda where: (git(where, "init", "-q", "build/inner"), fill(where, {"build/inner/f": ""})),
        "build/inner/f",
    ),
    "has a name that is no text": (lambda where: (where / os.fsdecode(b"\xff.log")).write_text(""), "\udcff.log"),
}


@pytest.mark.parametrize("way", CHANGES)
def test_an_ignored_file_is_named_that(shop: GitRoom, way: str) -> None:
    step = Step(shop)
    assert step.differing() == ()
    change, path = CHANGES[way]
    change(step.where)
    assert step.differing() == (path,)


@pytest.mark.parametrize("how", ["gitignore", "exclude", "global"])
def test_a_file_that_is_made_ignored_is_named(shop: GitRoom, how: str) -> None:
    step = Step(shop)
    _ignore(step, how)
    assert "src/new.py" in step.differing()


def test_writing_the_same_again_changes_nothing(shop: GitRoom) -> None:
    step = Step(shop)
    (step.where / "a.log").unlink()
    (step.where / "a.log").write_text("1\n")
    os.utime(step.where / "deep/b.log", (1, 1))
    assert step.differing() == ()


def test_a_link_that_points_elsewhere_is_named_and_what_it_points_to_is_not_read(shop: GitRoom) -> None:
    outside = shop.root / "outside"
    fill(outside, {"f": "1"})
    tree, where = shop.prepare()
    _link(where / "l.log", str(outside))
    chosen = FileRange(since=shop.spaces.snapshot(tree, "r1").id, below=("",), wanted=lambda _: True)
    record = shop.spaces.record_files(tree, chosen)
    fill(outside, {"f": "2", "g": "3"})
    assert shop.spaces.list_differing_files(tree, chosen, record) == ()
    _link(where / "l.log", "README.md")
    assert shop.spaces.list_differing_files(tree, chosen, record) == ("l.log",)


def test_only_what_lies_below_and_is_wanted_is_looked_at(shop: GitRoom) -> None:
    step = Step(shop, ("deep", "deep/er", "build/c"))
    fill(step.where, {"a.log": "9", "deep/er/x.log": "", "build/d": "", "build/c": "9"})
    assert step.differing() == ("build/c", "deep/er/x.log")


def test_what_lies_behind_a_link_is_not_in_the_work_tree(shop: GitRoom) -> None:
    step = Step(shop, ("away/in",))
    _link(step.where / "away", str(shop.root))
    fill(shop.root, {"in/f": ""})
    assert step.differing() == ()


def test_files_of_the_snapshot_are_left_to_the_differences_of_git(shop: GitRoom) -> None:
    step = Step(shop)
    fill(step.where, {"README.md": "other\n"})
    assert step.differing() == ()


def test_a_file_that_cannot_be_read_is_named_once_it_was_touched(shop: GitRoom) -> None:
    with held_by_modes():
        step = Step(shop)
        (step.where / "a.log").chmod(0)
        step.record = shop.spaces.record_files(step.tree, step.chosen)
        assert step.differing() == ()
        os.utime(step.where / "a.log", (1, 1))
        assert step.differing() == ("a.log",)


def test_a_folder_that_cannot_be_read_is_refused(shop: GitRoom) -> None:
    with held_by_modes():
        step = Step(shop)
        (step.where / "build").chmod(0)
        try:
            with pytest.raises(WorkspaceFault, match=r"build cannot be read"):
                step.differing()
            with pytest.raises(WorkspaceFault, match=r"build cannot be read"):
                shop.spaces.record_files(step.tree, step.chosen)
        finally:
            (step.where / "build").chmod(0o700)


@pytest.mark.parametrize(
    ("limit", "most", "what"),
    [("MAX_FILES", 2, "2 files"), ("MAX_BYTES", 5, "0 MiB"), ("MAX_ENTRIES", 3, "3 files and folders")],
)
def test_too_much_is_refused(shop: GitRoom, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, what: str) -> None:
    monkeypatch.setattr(recorded_files, limit, most)
    with pytest.raises(WorkspaceFault, match=f"more than {what} would have to be read"):
        Step(shop)


def test_a_record_that_is_known_is_kept_whatever_stands_there_now(shop: GitRoom) -> None:
    step = Step(shop)
    (step.where / "a.log").write_text("9\n")
    assert shop.spaces.record_files(step.tree, step.chosen, step.record) == step.record
    assert shop.spaces.record_files(step.tree, step.chosen) != step.record
    assert step.differing() == ("a.log",)


def test_a_record_that_is_gone_proves_nothing(shop: GitRoom) -> None:
    step = Step(shop)
    step.record = "0" * 64
    with pytest.raises(WorkspaceFault, match=r"no files were recorded"):
        step.differing()
    assert shop.spaces.record_files(step.tree, step.chosen, step.record) != step.record


def test_a_torn_record_proves_nothing(shop: GitRoom) -> None:
    step = Step(shop)
    path = shop.spaces.places.private_folder(Path(step.tree.path)) / "recorded" / f"{step.record}.json"
    path.write_text(path.read_text()[:-5])
    with pytest.raises(WorkspaceFault, match=r"no files were recorded"):
        step.differing()


def test_old_records_are_removed(shop: GitRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_files, "MAX_RECORDS", 2)
    step = Step(shop)
    made = [step.record]
    for number in range(3):
        (step.where / "a.log").write_text(f"{number}-\n")
        made.append(shop.spaces.record_files(step.tree, step.chosen))
    folder = shop.spaces.places.private_folder(Path(step.tree.path)) / "recorded"
    assert {path.stem for path in folder.iterdir()} == set(made[-2:])


def test_a_work_tree_that_is_made_again_has_no_records(shop: GitRoom) -> None:
    step = Step(shop)
    git(shop.repo, "worktree", "remove", "--force", str(step.where))
    again, _ = shop.prepare()
    assert isinstance(again, Tree)
    with pytest.raises(WorkspaceFault, match=r"no files were recorded"):
        step.differing()
