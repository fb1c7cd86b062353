"""The law of snapshots: whatever an agent does, restoring gives files, index and HEAD back byte for byte."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.workspace.git_room import GitRoom, everything, git

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))

_NAMES = st.sampled_from(["a", "b", "c.txt", "d\n", 'e"', "f/g", "f/h/i", "b/j", "a/k", "src/app.py", "README.md"])
_BYTES = st.sampled_from([b"", b"1", b"2", b"x\r\n", b"\0\xff", b"<<<<<<< \n"])
_LINKS = st.sampled_from(["a", "../outside", "f", "nowhere\n"])
Edit = tuple[str, ...] | tuple[str, str, bytes, bool]

_EDITS = st.one_of(
    st.tuples(st.just("write"), _NAMES, _BYTES, st.booleans()),
    st.tuples(st.just("link"), _NAMES, _LINKS),
    st.tuples(st.just("delete"), _NAMES),
    st.tuples(st.just("add")),
    st.tuples(st.just("reset")),
    st.tuples(st.just("commit")),
    st.tuples(st.just("switch"), st.sampled_from(["one", "two", "work/r1"])),
    st.tuples(st.just("detach")),
)


@given(before=st.lists(_EDITS, max_size=8), after=st.lists(_EDITS, max_size=8))
@settings(max_examples=40 if SOAK else 15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_restoring_gives_back_what_was_there(git_home: Path, before: list[Edit], after: list[Edit]) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        room = GitRoom(folder).make()
        tree, path = room.prepare()
        _all(path, before)
        state = everything(path)
        taken = room.spaces.snapshot(tree, "r1")
        assert everything(path) == state
        _all(path, after)
        changed = everything(path)
        other = room.spaces.snapshot(tree, "r1")
        room.spaces.restore(tree, "r1", taken.id)
        assert everything(path) == state
        room.spaces.restore(tree, "r1", other.id)
        assert everything(path) == changed
    finally:
        shutil.rmtree(folder)


def _all(path: Path, edits: list[Edit]) -> None:
    for edit in edits:
        _edit(path, edit)


def _edit(path: Path, edit: Edit) -> None:
    match edit:
        case ("write", str(name), bytes(content), bool(executable)):
            target = _cleared(path, name)
            target.write_bytes(content)
            target.chmod(0o755 if executable else 0o644)
        case ("link", str(name), str(aim)):
            _cleared(path, name).symlink_to(aim)
        case ("delete", str(name)):
            _delete(path / name)
        case (("add" | "reset") as command,):
            git(path, command, *(("-A",) if command == "add" else ("-q",)))
        case ("commit",):
            git(path, "add", "-A")
            git(path, "commit", "-q", "--allow-empty", "-m", "by the agent")
        case ("switch", str(branch)):
            git(path, "symbolic-ref", "HEAD", f"refs/heads/{_existing(path, branch)}")
        case ("detach",):
            git(path, "update-ref", "--no-deref", "HEAD", git(path, "rev-parse", "HEAD"))
        case _:
            raise AssertionError(edit)


def _existing(path: Path, branch: str) -> str:
    if not git(path, "branch", "--list", branch):
        git(path, "branch", branch)
    return branch


def _cleared(path: Path, name: str) -> Path:
    """Make room for a file: whatever stands at it or above it goes away."""
    target = path / name
    for folder in reversed(target.relative_to(path).parents[:-1]):
        if os.path.lexists(path / folder) and ((path / folder).is_symlink() or not (path / folder).is_dir()):
            (path / folder).unlink()
        (path / folder).mkdir(exist_ok=True)
    _delete(target)
    return target


def _delete(target: Path) -> None:
    try:
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
    except NotADirectoryError:
        return
