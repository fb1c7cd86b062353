"""What runs left behind, what of it may be removed and why the rest may not. Looks only at what we made."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.ports.delivery import Leftover, Life
from handrail.workspace.commits.is_merged import has_arrived
from handrail.workspace.delivery.deliver import discard, drop_branch
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import Places, try_lock
from handrail.workspace.git.folder_users import working_in
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.snapshots.private_index import PrivateIndex, cannot_be_kept
from handrail.workspace.snapshots.state import REFS
from handrail.workspace.worktrees.make import is_whole
from handrail.workspace.worktrees.records import WorktreeRecord, all_records

_LIVES = {"alive": "the run is not over", "unknown": "no such run is known here"}


def survey(places: Places, life: Callable[[str], Life], repositories: Iterable[str] = ()) -> tuple[Leftover, ...]:
    """List what is left of runs, in the repositories of all worktrees and in those given."""
    records = all_records(places)
    found = [_worktree(places, record, life(record.run)) for record in records]
    roots = dict.fromkeys((*(record.repository for record in records), *repositories))
    with_worktree = {(record.repository, record.branch) for record in records}
    for root in roots:
        if (Path(root) / ".git").exists():
            found += [one for one in _refs(Path(root), life) if (root, one.name) not in with_worktree]
    return (*found, *_locks(places))


def clean(places: Places, leftovers: Iterable[Leftover]) -> tuple[str, ...]:
    """Remove those that may be removed; gives the refs that keep what was in them."""
    return tuple(ref for one in leftovers if not one.reasons for ref in _removed(places, one) if ref)


def size_of(folder: Path) -> int:
    """Add up the space that a folder takes on the disk."""
    paths = (Path(where) / name for where, _, files in os.walk(folder) for name in files)
    return sum(path.lstat().st_blocks * 512 for path in paths if os.path.lexists(path))


def _removed(places: Places, one: Leftover) -> list[str]:
    match one.kind:
        case "worktree":
            record = next((record for record in all_records(places) if record.path == one.name), None)
            return [discard(places, record.tree(), record.run)] if record else []
        case "branch":
            root = find_root(Path(one.repository))
            with places.locked(common_dir(root)) as lock:
                return [drop_branch(Git(root).holding(lock), one.name, one.run)]
        case "lock":
            file = try_lock(Path(one.name))
            if file is not None:
                Path(one.name).unlink(missing_ok=True)
                os.close(file)
        case "snapshots":
            pass
    return []


def _worktree(places: Places, record: WorktreeRecord, life: Life) -> Leftover:
    path = Path(record.path)
    reasons = [_LIVES[life]] if life != "over" else []
    try:
        reasons += _worktree_reasons(places, record)
    except WorkspaceFault as fault:
        reasons.append(fault.message)
    return Leftover(
        kind="worktree",
        run=record.run,
        name=record.path,
        repository=record.repository,
        size=size_of(path),
        reasons=tuple(reasons),
    )


def _worktree_reasons(places: Places, record: WorktreeRecord) -> list[str]:
    path, root = Path(record.path), find_root(Path(record.repository))
    reasons = [f"in use by {who}" for who in working_in(path)]
    git = Git(root)
    if record.ready and is_whole(path, common_dir(root)):
        reasons += _unsaved(places, record)
    if git.asks("rev-parse", "--verify", "-q", f"refs/heads/{record.branch}"):
        reasons += _unmerged(git, record)
    return reasons


def _unsaved(places: Places, record: WorktreeRecord) -> list[str]:
    path = Path(record.path)
    with places.locked(path) as lock:
        git = Git(path).holding(lock)
        files = PrivateIndex(git, places.private(path)).follow()[0]
    differs = not files.head or git.line("rev-parse", f"{files.head}^{{tree}}") != files.tree
    return [*(["changes that are not committed"] if differs else []), *cannot_be_kept(files.omitted)]


def _unmerged(git: Git, record: WorktreeRecord) -> list[str]:
    if git.asks("rev-parse", "--verify", "-q", f"refs/heads/{record.base}") is None:
        return [f"its base {record.base} is no branch here, so nobody can tell whether it was merged"]
    arrived = has_arrived(git, f"refs/heads/{record.branch}", f"refs/heads/{record.base}")
    return [] if arrived else [f"{record.branch} has commits that {record.base} does not have"]


def _refs(root: Path, life: Callable[[str], Life]) -> list[Leftover]:
    git = Git(root)
    listing = git.line("for-each-ref", "--format=%(refname)", REFS).splitlines()
    found: list[Leftover] = []
    for ref in listing:
        words = ref.removeprefix(REFS).split("/", 2)
        if words[0] == "owned":
            found.append(_branch(git, words[1], words[2], life(words[1])))
        elif len(words) == 1 or words[0] == "kept":
            run = words[0] if len(words) == 1 else words[1]
            reasons = (f"it keeps work that may be wanted again; `git update-ref -d {ref}` lets it go",)
            found.append(Leftover(kind="snapshots", run=run, name=ref, repository=str(root), reasons=reasons))
    return found


def _branch(git: Git, run: str, branch: str, life: Life) -> Leftover:
    reasons = [_LIVES[life]] if life != "over" else []
    known = [one for one in branches(git, f"refs/heads/{branch}") if one.name == branch]
    if known and known[0].worktree:
        reasons.append(f"it is checked out in {known[0].worktree}")
    elsewhere = [one.name for one in branches(git) if one.name != branch and not one.name.startswith(f"{branch}-")]
    if known and not any(has_arrived(git, known[0].commit, f"refs/heads/{name}") for name in elsewhere):
        reasons.append("it has commits that no other branch has")
    return Leftover(kind="branch", run=run, name=branch, repository=str(git.where), reasons=tuple(reasons))


def _locks(places: Places) -> list[Leftover]:
    found: list[Leftover] = []
    for path in sorted(places.locks.glob("*.lock")):
        file = try_lock(path)
        reasons = () if file is not None else ("a process holds it",)
        if file is not None:
            os.close(file)
        found.append(Leftover(kind="lock", run="", name=str(path), repository="", reasons=reasons))
    return found
