"""Ignored files that a new worktree needs, such as `.env`: copied as `.worktreeinclude` in the user's checkout says."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from handrail.ports.repositories import WORKTREE_INCLUDE
from handrail.workspace.git.command import Git, split


def copy_ignored(checkout: Path, worktree: Path, globs: Sequence[str]) -> None:
    """Copy the files that git ignores and `.worktreeinclude` or a glob names; nothing there is overwritten."""
    for path in ignored_files(checkout, globs):
        source, target = checkout / path, worktree / path
        if _stays_inside(worktree, path) and not os.path.lexists(target):
            _copy(source, target, checkout)


def ignored_files(checkout: Path, globs: Sequence[str]) -> list[str]:
    """List the files that git ignores and `.worktreeinclude` or a glob names."""
    include = checkout / WORKTREE_INCLUDE
    patterns = [f"--exclude={glob}" for glob in globs]
    patterns += [f"--exclude-from={include}"] if include.is_file() and not include.is_symlink() else []
    if not patterns:
        return []
    git = Git(checkout)
    matching = split(git.out("ls-files", "-z", "--others", "--ignored", *patterns))
    files = b"\0".join(path for path in matching if not path.endswith(b"/"))
    ignored = git.run("check-ignore", "-z", "--stdin", stdin=files, ok=(0, 1)).out if files else b""
    return [os.fsdecode(path) for path in split(ignored)]


def _stays_inside(worktree: Path, path: str) -> bool:
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
