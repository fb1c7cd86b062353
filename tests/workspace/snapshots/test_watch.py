"""What is known without git: it never says that nothing changed where a snapshot from scratch would differ."""

import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Snapshot
from handrail.workspace.git.command import Git
from handrail.workspace.git_workspaces import GitWorkspaces
from handrail.workspace.snapshots import index_memo, watch
from support.workspace.git_room import GitRoom, fill, git

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))
MAX_TRIES = 12
"""Snapshots after which a worktree that can be watched is."""

Edit = Callable[[Path], object]


def _write_in_place(path: Path) -> None:
    with (path / "README.md").open("r+b") as file:
        file.write(b"HELLO" if file.read(5) == b"hello" else b"hello")


def _write_through_a_map(path: Path) -> None:
    with (path / "README.md").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:1] = b"j" if mapped[:1] != b"j" else b"k"


def _write_and_set_time_back(path: Path) -> None:
    before = (path / "README.md").stat()
    _write_in_place(path)
    os.utime(path / "README.md", ns=(before.st_atime_ns, before.st_mtime_ns))


def _write_through_a_hard_link(path: Path) -> None:
    other = path.parent / "other-name"
    if not other.exists():
        os.link(path / "src/app.py", other)
    other.write_bytes(b"3" if other.read_bytes() == b"1" else b"1")


def _rename_over(path: Path) -> None:
    new = path.parent / "replacement"
    new.write_bytes(b"jelly\n")
    os.utime(new, ns=((path / "README.md").stat().st_atime_ns, (path / "README.md").stat().st_mtime_ns))
    new.rename(path / "README.md")


def _swap_link(path: Path) -> None:
    link = path / "link"
    aim = "src" if link.is_symlink() and link.readlink() == Path("etc") else "etc"
    link.unlink(missing_ok=True)
    link.symlink_to(aim)


def _replace_folder_by_link(path: Path) -> None:
    if not (path / "src").is_symlink():
        aside = path.parent / "aside"
        shutil.rmtree(aside, ignore_errors=True)
        (path / "src").rename(aside)
        (path / "src").symlink_to(aside)


def _forget_file(path: Path, flag: str) -> None:
    git(path, "update-index", flag, "README.md")
    _write_in_place(path)


def _append(path: Path, name: str, text: str) -> None:
    target = path / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text((target.read_text() if target.exists() else "") + text)


def _toggle_mode(path: Path) -> None:
    (path / "README.md").chmod((path / "README.md").stat().st_mode ^ 0o111)


def _rewrite_ignored_rules(path: Path) -> None:
    fill(path, {"own/.gitignore": "*\n", "own/a.txt": "1"})


def _drop_own_rules(path: Path) -> None:
    if (path / "own/.gitignore").exists():
        (path / "own/.gitignore").write_bytes(b"#\n")


def _common(path: Path) -> Path:
    return path / git(path, "rev-parse", "--git-common-dir")


EDITS: dict[str, Edit] = {
    "nothing": lambda path: path,
    "a write in place": _write_in_place,
    "a write with the time set back": _write_and_set_time_back,
    "a write through a hard link": _write_through_a_hard_link,
    "a file renamed over another": _rename_over,
    "a chmod": _toggle_mode,
    "a touch": lambda path: os.utime(path / "README.md", (1, 1)),
    "a swapped link": _swap_link,
    "a folder that becomes a link": _replace_folder_by_link,
    "a new file": lambda path: _append(path, "new.txt", "1"),
    "a new file deep below": lambda path: _append(path, "x/y/z.txt", "1"),
    "a file that goes": lambda path: (path / "new.txt").unlink(missing_ok=True),
    "an ignored file": lambda path: _append(path, "some.log", "1"),
    "an ignored folder": lambda path: _append(path, "build/out/a.o", "1"),
    "an ignored folder alone": lambda path: (path / "alone/build").mkdir(parents=True, exist_ok=True),
    "a file in that": lambda path: (path / "alone/build").is_dir() and _append(path, "alone/build/a.o", "1"),
    "that file gone": lambda path: (path / "alone/build/a.o").unlink(missing_ok=True),
    "an ignored name that no longer is": lambda path: _append(path, ".gitignore", "!some.log\n"),
    "a new ignored name": lambda path: _append(path, ".gitignore", "new.txt\n"),
    "a rule file below": lambda path: _append(path, "x/.gitignore", "z.txt\n"),
    "rules that ignore themselves": _rewrite_ignored_rules,
    "other rules in such a file": _drop_own_rules,
    "attributes": lambda path: _append(path, ".gitattributes", "*.md text eol=crlf\n"),
    "rules of the repository": lambda path: _append(_common(path), "info/exclude", "new.txt\n"),
    "an empty folder": lambda path: (path / "empty/inner").mkdir(parents=True, exist_ok=True),
    "an empty folder gone": lambda path: shutil.rmtree(path / "empty", ignore_errors=True),
    "a file in an empty folder": lambda path: _append(path, "empty/inner/a.txt", "1"),
    "a staged file": lambda path: git(path, "add", "-A", "--", ".", ":!nested"),
    "an unstaged file": lambda path: git(path, "reset", "-q"),
    "an ignored file that is staged": lambda path: (
        _append(path, "build/kept.txt", "1"),
        git(path, "add", "-f", "build/kept.txt"),
    ),
    "a write to it": lambda path: (path / "build/kept.txt").exists() and _append(path, "build/kept.txt", "2"),
    "an unchanged flag": lambda path: _forget_file(path, "--assume-unchanged"),
    "a skip flag": lambda path: _forget_file(path, "--skip-worktree"),
    "a commit": lambda path: (
        git(path, "add", "-A", "--", ".", ":!nested"),
        git(path, "commit", "-q", "--allow-empty", "-m", "all"),
    ),
    "an empty commit": lambda path: git(path, "commit", "-q", "--allow-empty", "-m", "empty"),
    "a detached head": lambda path: git(path, "checkout", "-q", "--detach"),
    "another branch": lambda path: git(path, "checkout", "-qB", "other/branch"),
    "packed refs": lambda path: git(path, "pack-refs", "--all"),
    "a nested repository": lambda path: git(path, "init", "-q", "--template=", "nested"),
    "a file in it": lambda path: (path / "nested").is_dir() and _append(path, "nested/a.txt", "1"),
    "a merge": lambda path: (_common(path) / "refs").exists() and _begin_merge(path),
}


if watch._notes_changes(Path(tempfile.gettempdir()).stat().st_dev):  # pyright: ignore[reportPrivateUsage]
    EDITS["a write through a map"] = _write_through_a_map


@pytest.fixture(autouse=True)
def any_file_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch the file system of the tests too, which may be one in memory."""
    monkeypatch.setattr(watch, "FILE_SYSTEMS", watch.FILE_SYSTEMS | {"tmpfs"})


def _begin_merge(path: Path) -> None:
    own = path / git(path, "rev-parse", "--git-dir")
    (own / "MERGE_HEAD").write_text(git(path, "rev-parse", "HEAD") + "\n")


def _snapshot_from_scratch(room: GitRoom, tree: Tree, since: str) -> Snapshot:
    private = room.spaces.places.private_folder(Path(tree.path))
    for name in ("index", "memo.json", "boot", "rules"):
        shutil.rmtree(private / name, ignore_errors=True) if name == "rules" else (private / name).unlink(
            missing_ok=True
        )
    return GitWorkspaces(room.data).snapshot(tree, "r1", since)


def _settle(room: GitRoom, tree: Tree, since: str) -> Snapshot:
    """Take snapshots until nothing changes any more, and the worktree is watched if it can be."""
    taken = room.spaces.snapshot(tree, "r1", since)
    for _ in range(MAX_TRIES):
        taken = room.spaces.snapshot(tree, "r1", taken.id)
        if room.spaces.recall_snapshot(tree, "r1", taken.id) is not None:
            break
    return taken


def _check(room: GitRoom, tree: Tree, taken: Snapshot) -> None:
    known = room.spaces.recall_snapshot(tree, "r1", taken.id)
    assert known is None or known == _snapshot_from_scratch(room, tree, taken.id)


@given(edits=st.lists(st.sampled_from(sorted(EDITS)), min_size=1, max_size=10), is_owned=st.booleans())
@settings(max_examples=150 if SOAK else 8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_remembered_never_hides_a_change(git_home: Path, edits: list[str], is_owned: bool) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        room = GitRoom(folder).make()
        tree = room.prepare()[0] if is_owned else room.borrowed()
        taken = _settle(room, tree, "")
        for name in edits:
            EDITS[name](Path(tree.path))
            _check(room, tree, taken)
            taken = _settle(room, tree, taken.id)
            _check(room, tree, taken)
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", sorted(EDITS))
def test_each_change_is_seen_at_once(shop: GitRoom, name: str) -> None:
    tree, path = shop.prepare()
    fill(path, {"new.txt": "0", "x/y/z.txt": "0"})
    taken = _settle(shop, tree, "")
    assert shop.spaces.recall_snapshot(tree, "r1", taken.id) == taken
    EDITS[name](path)
    _check(shop, tree, taken)
    assert shop.spaces.snapshot(tree, "r1", taken.id) == _snapshot_from_scratch(shop, tree, taken.id)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands that are started."""
    words: list[str] = []
    real = Git.start

    def noted(self: Git, *given: str, stdin: bytes = b"") -> object:
        words.append(given[0])
        return real(self, *given, stdin=stdin)

    monkeypatch.setattr(Git, "start", noted)
    return words


@pytest.mark.parametrize("is_owned", [True, False])
def test_a_worktree_that_stays_the_same_needs_no_git(shop: GitRoom, started: list[str], is_owned: bool) -> None:
    tree = shop.prepare()[0] if is_owned else shop.borrowed()
    fill(Path(tree.path), {"build/out.o": "ignored", "new.txt": "untracked"})
    taken = _settle(shop, tree, "")
    started.clear()
    for _ in range(3):
        assert shop.spaces.snapshot(tree, "r1", taken.id) == taken
    assert started == []
    assert shop.spaces.snapshot(tree, "r1") == taken, "by the rules on disk"
    assert "status" in started


def test_what_is_written_while_snapshots_are_taken_is_in_the_next_one(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    taken = _settle(shop, tree, "")
    code = "import itertools, sys\nfor n in itertools.count():\n  open(sys.argv[1], 'r+b').write(b'%05d' % (n % 99999))"
    with subprocess.Popen([sys.executable, "-c", code, str(path / "README.md")]) as writer:
        for _ in range(20):
            taken = shop.spaces.snapshot(tree, "r1", taken.id)
        writer.kill()
    taken = shop.spaces.snapshot(tree, "r1", taken.id)
    assert git(path, "cat-file", "blob", f"{taken.tree}:README.md") == (path / "README.md").read_text().rstrip("\n")
    _check(shop, tree, taken)


def test_a_file_that_changed_when_the_snapshot_began_is_left_to_git(
    shop: GitRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, path = shop.prepare()
    monkeypatch.setattr(watch, "_TICK", 3600 * 10**9)
    taken = _settle(shop, tree, "")
    assert shop.spaces.recall_snapshot(tree, "r1", taken.id) is None
    _write_in_place(path)
    assert shop.spaces.snapshot(tree, "r1", taken.id) != taken


def test_a_file_system_that_does_not_note_each_change_is_left_to_git(
    shop: GitRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "FILE_SYSTEMS", frozenset[str]())
    tree, _ = shop.prepare()
    taken = _settle(shop, tree, "")
    assert shop.spaces.recall_snapshot(tree, "r1", taken.id) is None


def test_a_file_system_that_stores_whole_seconds_is_given_more_time(tmp_path: Path) -> None:
    with (tmp_path / "made").open("w") as file:
        exact = os.fstat(file.fileno()).st_ctime_ns
        assert watch.read_moment(file.fileno()).latest <= exact - 20_000_000


@pytest.mark.parametrize("limit", ["MAX_FILES", "FEW"])
def test_many_files_are_left_to_git_or_to_a_thread(
    shop: GitRoom, monkeypatch: pytest.MonkeyPatch, started: list[str], limit: str
) -> None:
    where = "snapshots.watch" if limit == "MAX_FILES" else "git_workspaces"
    monkeypatch.setattr(f"handrail.workspace.{where}.{limit}", 2)
    tree, _ = shop.prepare()
    taken = _settle(shop, tree, "")
    assert shop.spaces.recall_snapshot(tree, "r1", taken.id) is None
    started.clear()
    assert shop.spaces.snapshot(tree, "r1", taken.id) == taken
    assert started == (["status"] if limit == "MAX_FILES" else [])


def test_no_more_worktrees_are_watched_than_allowed(shop: GitRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_memo, "MOST_WATCHED", 1)
    trees = [shop.prepare(run)[0] for run in ("r1", "r2")]
    first, second = (_settle(shop, tree, "") for tree in trees)
    assert shop.spaces.recall_snapshot(trees[0], "r1", first.id) is None
    assert shop.spaces.recall_snapshot(trees[1], "r1", second.id) == second
