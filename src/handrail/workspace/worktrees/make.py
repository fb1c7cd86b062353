"""Worktrees: made once for a run however often it is asked, remade when they are gone, removed with nothing lost."""

import os
import re
import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Source
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import Places, plain
from handrail.workspace.git.repositories import branches, common_dir, find_root, git_dir
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import REFS
from handrail.workspace.worktrees.copy_ignored import copy_ignored
from handrail.workspace.worktrees.records import WorktreeRecord, read_record, record_path, write_record
from handrail.workspace.worktrees.start_point import Start, starting_point, work_on_top

if TYPE_CHECKING:
    from handrail.workspace.snapshots import restore
else:
    restore = late_import("handrail.workspace.snapshots.restore")

_USUAL = re.compile(r"[a-z0-9_]+([/-][a-z0-9_]+)*", re.ASCII)
"""Names that git takes for a branch without being asked."""


@frozen
class _Site:
    """Where a worktree is made."""

    git: Git
    """In the user's checkout."""
    common: Path
    source: Source
    path: Path
    note: Path


def prepare(places: Places, source: Source) -> Tree:
    """Make the worktree of a run, or find the one that was made."""
    root = find_root(Path(source.repository))
    common = common_dir(root)
    folder = places.worktrees(root, common)
    note, path = record_path(folder, source.run), folder / plain(source.run)
    with places.locked(path) as own:
        with places.locked(common) as lock:
            site = _Site(Git(root).holding(own, lock), common, source, path, note)
            record = read_record(note)
            if record and record.ready and is_whole(path, common):
                return record.tree()
            record, tip = _place(site, record)
        # The files come without the repository's lock: several worktrees get theirs at the same time.
        return _fill(places, replace(site, git=Git(root).holding(own)), record, tip)


def is_whole(path: Path, common: Path) -> bool:
    """Tell whether a worktree's folder and its entry in the repository belong together."""
    return (
        any(_names(entry, path) and (entry / "HEAD").is_file() for entry in admin_folders(path, common))
        and (path / ".git").is_file()
    )


def is_there(tree: Tree) -> bool:
    """Tell whether a work tree is a worktree of its repository, without asking git."""
    try:
        return (git_dir(Path(tree.path)) / "HEAD").is_file()
    except WorkspaceFault:
        return False


def admin_folders(path: Path, common: Path) -> list[Path]:
    """List the entries of the repository that are about a worktree of ours, half-made ones too."""
    entries = [entry for entry in (common / "worktrees").glob("*") if entry.is_dir()]
    own_name = [entry for entry in entries if entry.name.rstrip("0123456789") == path.name.rstrip("0123456789")]
    unfinished = [entry for entry in own_name if not (entry / "gitdir").exists() and entry.name.startswith(path.name)]
    return [entry for entry in entries if _names(entry, path)] + unfinished


def remove_worktree(path: Path, common: Path) -> None:
    """Remove a worktree's folder and its entry; hold the repository's lock, and keep what is in it before."""
    remove_folder(path)
    for entry in admin_folders(path, common):
        remove_folder(entry)


def remove_folder(path: Path) -> None:
    """Remove a folder with everything in it, read-only folders too."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        if not os.access(folder, os.W_OK | os.X_OK):
            Path(folder).chmod(0o700)
    shutil.rmtree(path)


def _names(entry: Path, path: Path) -> bool:
    try:
        return os.fsdecode((entry / "gitdir").read_bytes()).rstrip("\n") == str(path / ".git")
    except OSError:
        return False


def _place(site: _Site, known: WorktreeRecord | None) -> tuple[WorktreeRecord, str]:
    """Make branch and worktree, as yet without files; gives the commit that it stands on."""
    if known is not None and known.ready:
        _set_aside(site.path)
    remove_worktree(site.path, site.common)
    found = _again(site, known) if known and known.ready else None
    record, tip = found or _claim(site, starting_point(site.git, site.source))
    site.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    site.git.out("worktree", "add", "--quiet", "--no-checkout", str(site.path), record.branch)
    _own_upstream(site.git, record.branch)
    return record, tip


def _set_aside(path: Path) -> None:
    """Keep a folder that was handed out and is no worktree any more: somebody's work may lie in it."""
    if not path.is_dir() or path.is_symlink() or not any(path.iterdir()):
        return
    number = 1
    while (aside := path.with_name(f"{path.name}.set-aside-{number}")).exists():
        number += 1
    path.rename(aside)


def _fill(places: Places, site: _Site, record: WorktreeRecord, tip: str) -> Tree:
    """Give a worktree its files, and with that hand it out."""
    git = replace(site.git, where=site.path)
    git.out("-c", "checkout.workers=4", "read-tree", "--reset", "-u", "HEAD")
    on_top = work_on_top(site.git, site.source, tip) if tip == record.start else None
    if on_top:
        private = PrivateIndex(git, places.private(site.path))
        private.forget()
        private.follow()
        restore.put_files(git, private, on_top)
    copy_ignored(site.git.where, site.path, site.source.copy)
    write_record(site.note, record.made())
    return record.tree()


def _again(site: _Site, record: WorktreeRecord) -> tuple[WorktreeRecord, str] | None:
    """Find the branch of a worktree that is gone; one that is checked out elsewhere goes on under another name."""
    found = [one for one in branches(site.git, f"refs/heads/{record.branch}") if one.name == record.branch]
    if not found:
        return None
    tip = found[0].commit
    return _claim(site, Start(tip, record.commit)) if found[0].worktree else (record, tip)


def _claim(site: _Site, start: Start) -> tuple[WorktreeRecord, str]:
    """Make the branch together with a ref that says whose it is, in one transaction."""
    branch = _free_branch(site)
    source = site.source
    record = WorktreeRecord(
        run=source.run,
        path=str(site.path),
        repository=str(site.git.where),
        branch=branch,
        base=source.base,
        commit=start.measured,
        start=start.commit,
        teardown=source.teardown,
        teardown_timeout=source.teardown_timeout,
    )
    write_record(site.note, record)
    lines = f"update refs/heads/{branch} {start.commit}\nupdate {owner_ref(source.run, branch)} {start.commit}\n"
    site.git.out("update-ref", "--stdin", stdin=lines.encode())
    return record, start.commit


def owner_ref(run: str, branch: str) -> str:
    """Give the ref that says that a branch was made for a run; it names the commit that the branch began at."""
    return f"{REFS}owned/{plain(run)}/{branch}"


def _free_branch(site: _Site) -> str:
    wished = site.source.branch
    if not _USUAL.fullmatch(wished) and site.git.run("check-ref-format", "--branch", wished, ok=(0, 1, 128)).code:
        message = f"`{wished}` cannot be the name of a branch"
        raise WorkspaceFault(message, next_step="choose a name such as work/my-task")
    owned = f"{REFS}owned/{plain(site.source.run)}/"
    found = branches(site.git, f"refs/heads/{wished}*", f"refs/heads/{wished}*/**", owned, *_parents_of(wished))
    taken = {one.name for one in found if not one.name.startswith(REFS)}
    tips = {one.name: one.commit for one in found}
    # One that has moved on since holds work that no record knows any more.
    ours = {
        name
        for ref, began in tips.items()
        if (name := ref.removeprefix(owned)) != ref and tips.get(name, began) == began
    }
    busy = {one.name for one in found if one.worktree}
    for number in count(1):
        name = wished if number == 1 else f"{wished}-{number}"
        if name not in busy and (name in ours or not _clashes(name, taken)):
            return name
    raise AssertionError


def _clashes(name: str, taken: set[str]) -> bool:
    return any(one == name or one.startswith(f"{name}/") or name.startswith(f"{one}/") for one in taken)


def _parents_of(branch: str) -> list[str]:
    return [f"refs/heads/{parent}" for parent in map(str, Path(branch).parents) if parent != "."]


def _own_upstream(git: Git, branch: str) -> None:
    """Let a bare `git push` aim at a branch of the same name, whatever the base follows."""
    if git.asks("config", "--get", "remote.origin.url") is not None:
        git.out("config", f"branch.{branch}.remote", "origin")
        git.out("config", f"branch.{branch}.merge", f"refs/heads/{branch}")
