"""Operations on a workspace that a test runs in a process of its own, to be killed at its n-th git command."""

import os
import shutil
import signal
from collections.abc import Callable
from typing import NoReturn

from handrail.workspace.delivery.apply import apply_to_checkout
from handrail.workspace.delivery.discard import discard
from handrail.workspace.worktrees.records import read_record
from support.workspace.git_room import GitRoom, commit, fill, git

_WRAPPER = """#!/bin/sh
number=1
# A folder is made by one alone: commands that run at once get different numbers.
until mkdir {count}.$number 2> /dev/null; do number=$((number + 1)); done
if [ "$number" -eq {at} ]; then
  if [ {when} = after ]; then {git} "$@" > /dev/null; fi
  kill -9 $PPID
  exit 137
fi
exec {git} "$@"
"""


def set_up(room: GitRoom) -> None:
    """A run with work of every kind, a snapshot before it, and a base that has moved on."""
    room.make()
    git(room.root, "init", "-q", "--template=", "--bare", "origin.git")
    git(room.repo, "remote", "add", "origin", str(room.root / "origin.git"))
    fill(room.repo, {".env": "KEY=1", "README.md": "mine\n", "loose.txt": "l"})
    taken = room.spaces.snapshot(room.borrowed(), "r1")
    git(room.repo, "update-ref", "refs/tests/changes", taken.id)
    git(room.repo, "stash", "-qu")
    tree, path = room.prepare("r2")
    shutil.copy(path.with_name("r2.json"), room.root)
    fill(path, {"before.txt": "b"})
    git(path, "add", "before.txt")
    git(room.repo, "update-ref", "refs/tests/point", room.spaces.snapshot(tree, "r2").id)
    git(path, "commit", "-qam", "work")
    git(room.repo, "update-ref", "refs/tests/theirs", commit(room.repo, theirs_txt="t", src__app_py="theirs\n"))


def prepare(room: GitRoom) -> object:
    first = git(room.repo, "rev-parse", "main~1")
    changes = git(room.repo, "rev-parse", "refs/tests/changes")
    merge = (git(room.repo, "rev-parse", "work/r2"),)
    return room.spaces.prepare(room.source("r1", commit=first, changes=changes, merge=merge, copy=(".env",)))


def restore(room: GitRoom) -> object:
    tree, _ = room.prepare("r2")
    return room.spaces.restore(tree, "r2", git(room.repo, "rev-parse", "refs/tests/point"))


def commit_all(room: GitRoom) -> object:
    return room.spaces.commit(room.prepare("r2")[0], "all")


def merge(room: GitRoom) -> object:
    return room.spaces.merge(room.prepare("r2")[0], "refs/tests/theirs", "Merge")


def merge_with_markers(room: GitRoom) -> object:
    return room.spaces.merge(room.prepare("r2")[0], "refs/tests/theirs", "Merge", markers=True)


def apply(room: GitRoom) -> object:
    return apply_to_checkout(room.spaces.places, room.prepare("r2")[0], "r2")


def throw_away(room: GitRoom) -> object:
    record = read_record(room.root / "r2.json")
    assert record
    return discard(room.spaces.places, record.tree(), "r2")


OPERATIONS: dict[str, Callable[[GitRoom], object]] = {
    one.__name__: one for one in (prepare, restore, commit_all, merge, merge_with_markers, apply, throw_away)
}


def killed_at(room: GitRoom, operation: str, at: int, when: str) -> bool:
    """Run an operation and kill it at a git command of its own; False if it was through before."""
    real = shutil.which("git")
    folder = room.root / "wrapper"
    folder.mkdir(exist_ok=True)
    count = folder / "count"
    (folder / "git").write_text(_WRAPPER.format(count=count, at=at, when=when, git=real))
    (folder / "git").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    pid = os.fork()
    if not pid:
        _as_child(room, operation, path)
    status = os.waitpid(pid, 0)[1]
    assert status in (0, signal.SIGKILL), f"{operation} failed in a process of its own"
    return status != 0


def _as_child(room: GitRoom, operation: str, path: str) -> NoReturn:
    code = 1
    try:
        os.environ["PATH"] = path
        OPERATIONS[operation](room)
        code = 0
    finally:
        os._exit(code)
