"""Worktrees: made once for a run however often it is asked, recreated when they are gone, removed without loss."""

import os
import re
import shutil
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Source
from handrail.workspace.git.command import Git, GitFolders
from handrail.workspace.git.data_places import RECORDS, VIEW, DataLayout, safe_name
from handrail.workspace.git.repositories import branches, common_dir, find_root, git_dir
from handrail.workspace.git.repository_view import copy_view
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import REFS
from handrail.workspace.worktrees.records import (
    WorktreeRecord,
    admin_folders,
    is_whole,
    owner_ref,
    read_record,
    record_path,
    write_record,
)
from handrail.workspace.worktrees.start_point import StartPoint, choose_start, copy_ignored, work_on_top

if TYPE_CHECKING:
    from handrail.workspace.snapshots import restore
    from handrail.workspace.worktrees import remove as removal
else:
    restore = late_import("handrail.workspace.snapshots.restore")
    removal = late_import("handrail.workspace.worktrees.remove")

_USUAL = re.compile(r"[a-z0-9_]+([/-][a-z0-9_]+)*", re.ASCII)
"""Branch names that are certainly valid, without running git."""


@frozen
class _WorktreeSite:
    """Where a worktree is made."""

    git: Git
    """Git in the user's checkout."""
    common: Path
    source: Source
    path: Path
    note: Path


def prepare(places: DataLayout, source: Source) -> Tree:
    """Make the worktree of a run, or find the existing one."""
    root = find_root(Path(source.repository))
    common = common_dir(root)
    folder = places.worktrees(root, common)
    note, path = record_path(folder, source.run), folder / safe_name(source.run)
    with places.lock(path) as own:
        with places.lock(common) as lock:
            site = _WorktreeSite(places.git(root).with_locks(own, lock), common, source, path, note)
            known = read_record(note)
            record = known if known and known.is_of(source.run, source.born) else None
            if record and record.ready and is_whole(path, common):
                return record.tree()
            record, tip = _place(places, site, record)
        # Files are written without the repository's lock, so that several worktrees can be filled at the same time.
        return _fill(places, replace(site, git=replace(site.git, held=(own,))), record, tip)


def is_there(tree: Tree) -> bool:
    """Whether a worktree belongs to its repository, without running git."""
    try:
        return (git_dir(Path(tree.path)) / "HEAD").is_file()
    except WorkspaceFault:
        return False


def _place(places: DataLayout, site: _WorktreeSite, known: WorktreeRecord | None) -> tuple[WorktreeRecord, str]:
    """Make branch and worktree, still without files; return the commit that it is on."""
    if os.path.lexists(site.path) or admin_folders(site.path, site.common):
        _make_room(places, site, known)
    found = _recover_branch(site, known) if known and known.ready else None
    claimed = known.branch if known is not None else ""
    record, tip = found or _claim(site, choose_start(site.git, site.source), claimed)
    site.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _link(site, record.branch, tip)
    _set_upstream(site, record.branch)
    return record, tip


def _make_room(places: DataLayout, site: _WorktreeSite, known: WorktreeRecord | None) -> None:
    """Remove what was left of making this very worktree; anything else there may be somebody's work."""
    if known is not None and not known.ready:
        removal.remove_worktree(places, known, site.common)
    else:
        removal.set_aside(site.path)
        removal.remove_entries(site.path, site.common)


def _fill(places: DataLayout, site: _WorktreeSite, record: WorktreeRecord, tip: str) -> Tree:
    """Write the files of a worktree, and mark it as ready."""
    folder = places.private_folder(site.path)
    git = replace(site.git, where=site.path, view=copy_view(site.git.active_view, site.path, folder / VIEW))
    private = PrivateIndex(git, folder)
    private.begin()
    shutil.rmtree(folder / RECORDS, ignore_errors=True)
    private.git.out("-c", "checkout.workers=4", "read-tree", "--reset", "-u", "HEAD")
    private.copy_to_real_index()
    on_top = work_on_top(site.git, site.source, tip) if tip == record.start else None
    if on_top:
        private.follow()
        restore.put_files(git, private, on_top)
    copy_ignored(site.git, site.path, site.source.copy)
    write_record(site.note, record.mark_ready())
    return record.tree()


def _recover_branch(site: _WorktreeSite, record: WorktreeRecord) -> tuple[WorktreeRecord, str] | None:
    """Find the branch of a worktree that is gone; one that is checked out elsewhere continues under another name."""
    found = [one for one in branches(site.git, f"refs/heads/{record.branch}") if one.name == record.branch]
    if not found:
        return None
    tip = found[0].commit
    return _claim(site, StartPoint(tip, record.commit), "") if found[0].worktree else (record, tip)


def _claim(site: _WorktreeSite, start: StartPoint, claimed: str) -> tuple[WorktreeRecord, str]:
    """Create the branch together with a ref that names its run, in one transaction.

    `claimed` is the branch that was created for this very worktree before it was ready.
    """
    branch = _free_branch(site, claimed)
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
        born=source.born,
    )
    write_record(site.note, record)
    lines = f"update refs/heads/{branch} {start.commit}\nupdate {owner_ref(source.run, branch)} {start.commit}\n"
    site.git.out("update-ref", "--stdin", stdin=lines.encode())
    return record, start.commit


def _free_branch(site: _WorktreeSite, claimed: str) -> str:
    wished = site.source.branch
    if not _USUAL.fullmatch(wished) and site.git.run("check-ref-format", "--branch", wished, ok=(0, 1, 128)).code:
        message = f"`{wished}` is not a valid branch name"
        raise WorkspaceFault(message, next_step="choose a name such as work/my-task")
    owned = f"{REFS}owned/{safe_name(site.source.run)}/"
    found = branches(site.git, f"refs/heads/{wished}*", f"refs/heads/{wished}*/**", owned, *_parents_of(wished))
    taken = {one.name for one in found if not one.name.startswith(REFS)}
    tips = {one.name: one.commit for one in found}
    # A branch that has moved since contains work that no record knows about.
    ours = {
        name
        for ref, began in tips.items()
        if (name := ref.removeprefix(owned)) == claimed and tips.get(name, began) == began
    }
    busy = {one.name for one in found if one.worktree}
    for number in count(1):
        name = wished if number == 1 else f"{wished}-{number}"
        if name not in busy and (name in ours or not _has_clash(name, taken)):
            return name
    raise AssertionError


def _has_clash(name: str, taken: set[str]) -> bool:
    return any(one == name or one.startswith(f"{name}/") or name.startswith(f"{one}/") for one in taken)


def _parents_of(branch: str) -> list[str]:
    return [f"refs/heads/{parent}" for parent in map(str, Path(branch).parents) if parent != "."]


def _set_upstream(site: _WorktreeSite, branch: str) -> None:
    """Make a bare `git push` target a branch of the same name, whatever the base tracks."""
    if site.git.active_view.is_enabled("origin"):
        config = ("config", "--file", str(site.common / "config"))
        site.git.out(*config, f"branch.{branch}.remote", "origin")
        site.git.out(*config, f"branch.{branch}.merge", f"refs/heads/{branch}")


def _link(site: _WorktreeSite, branch: str, tip: str) -> None:
    """Make a worktree without files, like `git worktree add --no-checkout`, which would obey the repository."""
    names = (f"{site.path.name}{number or ''}" for number in count())
    entry = next(folder for name in names if _try_make_folder(folder := site.common / "worktrees" / name))
    (entry / "gitdir").write_text(f"{site.path / '.git'}\n", "utf-8", "surrogateescape")
    (entry / "commondir").write_text("../..\n", "ascii")
    (entry / "logs").mkdir()
    who = f"{site.git.identity.name} <{site.git.identity.email}>"
    (entry / "logs/HEAD").write_text(f"{'0' * len(tip)} {tip} {who} {int(time.time())} +0000\n", "ascii")
    _link_sparse(site.git.active_view, entry)
    (entry / "HEAD").write_text(f"ref: refs/heads/{branch}\n", "utf-8")
    (site.path / ".git").write_text(f"gitdir: {entry}\n", "utf-8", "surrogateescape")


def _try_make_folder(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _link_sparse(view: GitFolders, entry: Path) -> None:
    """Copy the sparse patterns of the checkout to a worktree, as git does."""
    patterns, settings = view.own / "info" / "sparse-checkout", view.own / "config.worktree"
    if not view.is_enabled("sparsecheckout"):
        return
    (entry / "info").mkdir()
    if patterns.is_file():
        shutil.copyfile(patterns, entry / "info" / "sparse-checkout")
    if settings.is_file():
        for name in ("sparseCheckout", "sparseCheckoutCone"):
            value = "true" if view.is_enabled(name.lower()) else "false"
            Git(entry, own=entry).out("config", "--file", str(entry / "config.worktree"), f"core.{name}", value)
