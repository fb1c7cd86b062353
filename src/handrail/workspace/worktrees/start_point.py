"""What a new worktree starts from: a commit or the merge of several, a snapshot on top, and copies of ignored files."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.ports.workspaces import Source
from handrail.workspace.git.command import Git, split
from handrail.workspace.git.repositories import commit_of
from handrail.workspace.snapshots.state import State
from handrail.workspace.snapshots.take import load

if TYPE_CHECKING:
    from handrail.workspace.commits import commit
    from handrail.workspace.commits import merge_trees as merges
else:
    commit = late_import("handrail.workspace.commits.commit")
    merges = late_import("handrail.workspace.commits.merge_trees")


@frozen
class StartPoint:
    """Where the branch of a run begins."""

    commit: str
    measured: str
    """What the run's own changes are measured against."""


def choose_start(git: Git, source: Source) -> StartPoint:
    """Choose the commit at which a branch begins; the work that an item depends on is merged into it."""
    given = commit_of(git, source.commit)
    point = load(git, source.changes) if source.changes else None
    start = point.head if point and point.owned else given
    for commit in source.merge:
        start = _merge_commits(git, start, commit_of(git, commit))
    if source.merge:
        return StartPoint(start, start)
    # The user's own uncommitted changes are not the run's work.
    return StartPoint(start, source.changes if point and not point.owned else given)


def work_on_top(git: Git, source: Source, start: str) -> State | None:
    """Return the state that a new worktree gets on top of its commit; None if it is that commit alone."""
    if not source.changes:
        return None
    point = load(git, source.changes)
    if point.head == start:
        return point
    tip = git.line("rev-parse", f"{start}^{{tree}}")
    found = merges.merge_three_way(git, f"{point.head}^{{tree}}", tip, point.work)
    if found.files:
        message = f"the uncommitted changes conflict with {start[:12]}: {', '.join(found.files)}"
        raise WorkspaceFault(message, next_step="commit them first, or start from another branch", files=found.files)
    return replace(point, work=found.tree, index=tip, unmerged="", merge=())


def _merge_commits(git: Git, ours: str, theirs: str) -> str:
    if merges.is_ancestor(git, theirs, ours):
        return ours
    if merges.is_ancestor(git, ours, theirs):
        return theirs
    found = merges.merge_trees(git, ours, theirs)
    if found.files:
        message = (
            f"{ours[:12]} and {theirs[:12]} conflict, so no worktree can start from both: {', '.join(found.files)}"
        )
        raise WorkspaceFault(message, next_step="merge one into the other by hand, then try again", files=found.files)
    return commit.write_commit(git, found.tree, f"Merge {theirs[:12]}", (ours, theirs))


def copy_ignored(git: Git, worktree: Path, globs: Sequence[str]) -> None:
    """Copy the ignored files that match a pattern; nothing is overwritten."""
    checkout = git.where
    for path in list_ignored_files(git, globs):
        source, target = checkout / path, worktree / path
        if _is_inside(worktree, path) and not os.path.lexists(target):
            _copy(source, target, checkout)


def list_ignored_files(git: Git, globs: Sequence[str]) -> list[str]:
    """List the ignored files that match a pattern; patterns are written as in `.gitignore`."""
    patterns = [f"--exclude={glob}" for glob in globs]
    if not patterns:
        return []
    matching = split(git.out("ls-files", "-z", "--others", "--ignored", *patterns))
    files = b"\0".join(path for path in matching if not path.endswith(b"/"))
    ignored = git.run("check-ignore", "-z", "--stdin", stdin=files, ok=(0, 1)).out if files else b""
    return [os.fsdecode(path) for path in split(ignored)]


def _is_inside(worktree: Path, path: str) -> bool:
    folders = Path(path).parents
    return not any((worktree / folder).is_symlink() for folder in folders if folder != Path())


def _copy(source: Path, target: Path, checkout: Path) -> None:
    if source.is_symlink():
        aim = source.readlink()
        inside = (source.parent / aim).resolve().is_relative_to(checkout.resolve())
        if aim.is_absolute() or not inside:
            return
    elif not source.is_file():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        return
    draft = target.with_name(f".{target.name}.handrail")
    draft.unlink(missing_ok=True)
    shutil.copy2(source, draft, follow_symlinks=False)
    draft.replace(target)
