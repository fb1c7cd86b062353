"""What runs left behind, what of it may be removed, and why the rest may not. Only considers what Handrail created."""

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.ports.delivery import Leftover, Life, Retention
from handrail.workspace.commits.is_merged import has_arrived
from handrail.workspace.delivery.arrival import has_arrived_applied, has_arrived_in_branch
from handrail.workspace.delivery.discard import discard, require_discardable
from handrail.workspace.delivery.retention import RemovedWorktree, list_removed, remember_removed
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import DataLayout, try_lock
from handrail.workspace.git.folder_users import list_processes_in
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.snapshots.changes import files_of
from handrail.workspace.snapshots.omitted import find_losses
from handrail.workspace.snapshots.private_index import Files, PrivateIndex
from handrail.workspace.snapshots.state import REFS
from handrail.workspace.worktrees.records import WorktreeRecord, is_whole, list_records
from handrail.workspace.worktrees.remove import delete_ref

_LIVES = {"alive": "the run has not ended", "unknown": "there is no such run"}
_DAY = 86_400.0


def survey(
    places: DataLayout, life: Callable[[str], Life], repositories: Iterable[str], retention: Retention
) -> tuple[Leftover, ...]:
    """List what is left of runs, in the repositories of all worktrees and in the given ones."""
    records, removed = list_records(places), list_removed(places)
    found = [_worktree(places, record, life(record.run)) for record in records]
    known = (*(each.repository for each in records), *(each.repository for each in removed), *repositories)
    with_worktree = {(record.repository, record.branch) for record in records}
    for root in dict.fromkeys(known):
        if (Path(root) / ".git").exists():
            kept = {ref: each for each in removed if each.repository == root for ref in each.refs}
            found += [
                one for one in _refs(places.git(Path(root)), kept, retention) if (root, one.name) not in with_worktree
            ]
    return (*found, *_locks(places))


def clean(places: DataLayout, leftovers: Iterable[Leftover]) -> tuple[str, ...]:
    """Remove what may be removed; return the refs that preserve its content."""
    return tuple(ref for one in leftovers if not one.reasons for ref in _remove_leftover(places, one) if ref)


def size_of(folder: Path) -> int:
    """Compute the space that a folder takes on disk."""
    paths = (Path(where) / name for where, _, files in os.walk(folder) for name in files)
    return sum(path.lstat().st_blocks * 512 for path in paths if os.path.lexists(path))


def _remove_leftover(places: DataLayout, one: Leftover) -> list[str]:
    match one.kind:
        case "worktree":
            record = next((record for record in list_records(places) if record.path == one.name), None)
            return [discard(places, record.tree(), record.run)] if record else []
        case "snapshots":
            _delete_ref(places, one)
        case "lock":
            file = try_lock(Path(one.name))
            if file is not None:
                Path(one.name).unlink(missing_ok=True)
                os.close(file)
        case "branch":
            # Without a record it is not known for which run it was made.
            pass
    return []


def _delete_ref(places: DataLayout, one: Leftover) -> None:
    """Delete a ref of a run whose work has arrived, if it has not changed since the worktree was removed."""
    known = next((each for each in list_removed(places) if one.name in each.refs and each.run == one.run), None)
    if known is None or known.repository != one.repository:
        return
    root = find_root(Path(known.repository))
    common = common_dir(root)
    with places.lock(common) as lock:
        delete_ref(places.git(root).with_locks(lock), one.name, known.refs[one.name])
        remember_removed(places, common, known.drop_ref(one.name))


def _worktree(places: DataLayout, record: WorktreeRecord, life: Life) -> Leftover:
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


def _worktree_reasons(places: DataLayout, record: WorktreeRecord) -> list[str]:
    path, root = Path(record.path), find_root(Path(record.repository))
    git = places.git(root)
    require_discardable(places, record.tree(), record.run)
    reasons = [f"in use by {who}" for who in list_processes_in(path)]
    if record.ready and is_whole(path, common_dir(root)):
        reasons += _find_unsaved(places, git, record)
    if git.query("rev-parse", "--verify", "-q", f"refs/heads/{record.branch}"):
        reasons += _find_unmerged(git, record)
    return reasons


def _find_unsaved(places: DataLayout, git: Git, record: WorktreeRecord) -> list[str]:
    files = _files(places, Path(record.path))
    committed = files.head and git.line("rev-parse", f"{files.head}^{{tree}}") == files.tree
    lost = list(find_losses(files.omitted))
    if committed or _has_content_arrived(git, record, files.tree):
        return lost
    applied = has_arrived_applied(places, git, record.run, files.tree, record.start)
    return lost if applied else ["uncommitted changes", *lost]


def _files(places: DataLayout, path: Path) -> Files:
    with places.lock(path) as lock:
        return PrivateIndex(places.git(path).with_locks(lock), places.private_folder(path)).follow()[0]


def _has_content_arrived(git: Git, record: WorktreeRecord, files: str) -> bool:
    return has_arrived_in_branch(git, record.commit, files, record.start, record.base)


def _find_unmerged(git: Git, record: WorktreeRecord) -> list[str]:
    branch, base = f"refs/heads/{record.branch}", f"refs/heads/{record.base}"
    known = git.query("rev-parse", "--verify", "-q", base) is not None
    if known and has_arrived(git, branch, base):
        return []
    if _has_content_arrived(git, record, git.line("rev-parse", f"{branch}^{{tree}}")):
        return []
    if not known:
        return [f"its base {record.base} is not a branch here, so whether it was merged is unknown"]
    return [f"{record.branch} has commits that {record.base} does not have"]


def _refs(git: Git, kept: dict[str, RemovedWorktree], retention: Retention) -> list[Leftover]:
    listing = git.line("for-each-ref", "--format=%(refname) %(objectname)", REFS).splitlines()
    found: list[Leftover] = []
    for ref, _, commit in (line.partition(" ") for line in listing):
        words = ref.removeprefix(REFS).split("/", 2)
        if words[0] == "owned":
            found.append(_branch(git, words[1], words[2]))
            continue
        run = words[0] if len(words) == 1 else words[1]
        reasons = _ref_reasons(git, (ref, commit), kept.get(ref), retention)
        if words[0] != "applied" or ref in kept:
            found.append(Leftover(kind="snapshots", run=run, name=ref, repository=str(git.where), reasons=reasons))
    return found


def _ref_reasons(
    git: Git, ref: tuple[str, str], removed: RemovedWorktree | None, retention: Retention
) -> tuple[str, ...]:
    """Return why a ref stays: it goes once its worktree has been gone for some time, and its work is somewhere else."""
    name, commit = ref
    if removed is None or removed.refs[name] != commit:
        return (f"it keeps work that may be needed again; to remove it: git update-ref -d {name}",)
    try:
        elsewhere = name.startswith(f"{REFS}applied/") or has_arrived_in_branch(
            git, removed.commit, files_of(git, commit), removed.start, removed.base
        )
    except WorkspaceFault as fault:
        return (fault.message,)
    if not elsewhere:
        return (f"it keeps work that is on no branch; to remove it: git update-ref -d {name}",)
    until = removed.at + _retained_days(name, removed.repository, retention) * _DAY
    if retention.now < until:
        return (f"it is kept until {datetime.fromtimestamp(until, UTC):%Y-%m-%d}; its work was merged or applied",)
    return ()


def _retained_days(ref: str, repository: str, retention: Retention) -> int:
    """Return how long a ref stays: `blame` needs the snapshots of steps, but not what was put aside."""
    days = retention.days(repository)
    is_of_steps = "/" not in ref.removeprefix(REFS)
    return max(days, retention.blame_days(repository)) if is_of_steps else days


def _branch(git: Git, run: str, branch: str) -> Leftover:
    reasons = ["no record says which run it was created for"]
    known = [one for one in branches(git, f"refs/heads/{branch}") if one.name == branch]
    if known and known[0].worktree:
        reasons.append(f"it is checked out in {known[0].worktree}")
    return Leftover(kind="branch", run=run, name=branch, repository=str(git.where), reasons=tuple(reasons))


def _locks(places: DataLayout) -> list[Leftover]:
    found: list[Leftover] = []
    for path in sorted(places.locks.glob("*.lock")):
        file = try_lock(path)
        reasons = () if file is not None else ("a process is holding it",)
        if file is not None:
            os.close(file)
        found.append(Leftover(kind="lock", run="", name=str(path), repository="", reasons=reasons))
    return found
