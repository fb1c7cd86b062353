"""Delivers a run's changes: applied to the user's checkout, merged into the base, or discarded under a ref."""

import time
from dataclasses import replace
from pathlib import Path

from handrail.engine.fold.apply import apply as fold
from handrail.errors import GitSettingsChanged, NotFound, UsageError, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history import events
from handrail.model.history.run_lines import Filter
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import Tree
from handrail.operations.views.diff import diff_base, tree_of
from handrail.operations.views.run_tree import family, holder_of, holder_words
from handrail.ports.delivery import Delivery
from handrail.ports.log import Append, Holder, Log
from handrail.ports.repositories import Repositories
from handrail.ports.workspaces import Conflict, Merged
from handrail.runtime.event_records import encode_event
from handrail.runtime.handlers.trees import add_run_trailer, work_title
from handrail.runtime.history import readable_state, state_of
from handrail.runtime.run_summary import summary_of

_SHOWN = 20
"""The number of changed settings that a refusal names."""


@frozen
class ApplyResult:
    """What was applied to a checkout, or undone."""

    run: str
    checkout: str
    files: tuple[str, ...]
    unfinished: bool = False
    """Whether the run has not ended yet."""


@frozen
class DeliveryResult:
    """A run's branch that is now in its base."""

    run: str
    branch: str
    base: str
    commit: str
    already: bool


@frozen
class DiscardResult:
    """What was removed of a run, and where it is stored."""

    run: str
    branch: str
    commit: str
    """The commit of the branch."""
    ref: str


def apply(log: Log, workspaces: Delivery, run: str, *, accept_git_changes: bool = False) -> ApplyResult:
    """Apply a run's changes to the user's checkout as uncommitted changes."""
    state = state_of(log, run)
    tree = require_own_worktree(state)
    require_known_settings(log, workspaces, state, "apply", accept=accept_git_changes)
    files = workspaces.apply_to_checkout(replace(tree, commit=diff_base(state)), run)
    workspaces.accept_settings(tree, files)
    unfinished = state.status not in ("succeeded", "cancelled", "failed")
    return ApplyResult(run, tree.repository, files, unfinished)


def undo_apply(log: Log, workspaces: Delivery, run: str | None, root: Path) -> ApplyResult:
    """Undo what was last applied to a checkout, of one run or of any."""
    found = run or _find_last_applied(log, workspaces, root)
    tree = require_own_worktree(state_of(log, found))
    files = workspaces.undo_apply(tree, found)
    workspaces.accept_settings(tree, files)
    return ApplyResult(found, tree.repository, files)


def merge(log: Log, workspaces: Delivery, run: str, *, accept_git_changes: bool = False) -> DeliveryResult:
    """Merge a run's branch, with everything in its worktree, into its base."""
    state = state_of(log, run)
    tree = require_own_worktree(state)
    refuse_moving(log, state)
    require_known_settings(log, workspaces, state, "merge", accept=accept_git_changes)
    if Path(tree.path).is_dir():
        workspaces.commit(tree, add_run_trailer(work_title(state), run))
    found = workspaces.merge_into_base(tree, add_run_trailer(f"Merge {tree.branch}", run))
    match found:
        case Merged():
            return DeliveryResult(run, tree.branch, tree.base, found.commit, found.already)
        case Conflict():
            names = ", ".join(found.files) or found.message
            step = f"git switch {tree.base} && git merge {tree.branch}, and resolve it there"
            raise WorkspaceFault(
                f"{tree.branch} conflicts with {tree.base} in {names}", next_step=step, files=found.files
            )


def require_discardable(log: Log, workspaces: Delivery, run: str) -> bool:
    """Refuse what `discard` would refuse, before the run is stopped; return whether it may have a worktree at all."""
    state = readable_state(log, run)
    if state.foreign:
        return False
    require_own_worktree(state)
    for each in _find_worktree_owners(log, run):
        workspaces.require_discardable(tree_of(each), each.run)
    return True


def discard(log: Log, workspaces: Delivery, repositories: Repositories, run: str) -> tuple[DiscardResult, ...]:
    """Remove the worktrees and branches of a run and its items; everything is stored under refs first."""
    return tuple(
        _discard_worktree(workspaces, repositories, state) for state in reversed(_find_worktree_owners(log, run))
    )


def set_aside(log: Log, workspaces: Delivery, run: str) -> tuple[str, ...]:
    """Give up the worktrees of a run whose repository is gone; return the folders in which their files are now."""
    return tuple(
        place for each in _find_worktree_owners(log, run) if (place := workspaces.set_aside(tree_of(each), each.run))
    )


def _find_worktree_owners(log: Log, run: str) -> tuple[RunState, ...]:
    """List the runs of a family that have their own worktrees; a called workflow uses the worktree of its caller."""
    found: dict[str, RunState] = {}
    for each in family(log, run):
        state = readable_state(log, each)
        if state.tree is not None and state.tree.owned:
            found.setdefault(state.tree.path, state)
    return tuple(found.values())


def _discard_worktree(workspaces: Delivery, repositories: Repositories, state: RunState) -> DiscardResult:
    tree = tree_of(state)
    if Path(tree.path).is_dir():
        # On top of the run's own snapshots, where `diff` and `apply` look for it afterwards.
        workspaces.snapshot(tree, state.run, state.snapshot)
    commit = repositories.branch_commit(repositories.find_root(Path(tree.repository)), tree.branch)
    return DiscardResult(state.run, tree.branch, commit, workspaces.discard(tree, state.run))


def require_own_worktree(state: RunState) -> Tree:
    """Return the worktree of a run; refuse one that works in the user's own checkout."""
    tree = tree_of(state)
    if not tree.owned:
        raise UsageError(
            f"{state.run} works in your own checkout, {tree.path}", next_step="its changes are already there"
        )
    return tree


def require_known_settings(log: Log, workspaces: Delivery, state: RunState, call: str, *, accept: bool) -> None:
    """Refuse to deliver if settings that start programs have changed since the run began."""
    tree = require_own_worktree(state)
    if accept:
        workspaces.accept_settings(tree)
        for each in family(log, state.run):
            _record_acceptance(log, each)
        return
    changes = workspaces.find_changed_settings(tree)
    if changes:
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        message = (
            "settings of the repository that make git start programs have changed since the run was set up: "
            f"{'; '.join(changes[:_SHOWN])}{more}"
        )
        step = f"check them in {tree.repository} and undo them, or: handrail {call} {state.run} --accept-git-changes"
        raise GitSettingsChanged(message, next_step=step, changes=changes)


def _record_acceptance(log: Log, run: str) -> None:
    """Record that a person accepted the changed settings; the driver of a moving run sees it after its next step."""
    if not readable_state(log, run).git_changes:
        return
    lease = log.acquire(run, "handrail")
    if isinstance(lease, Holder):
        return
    try:
        state = state_of(log, run)
        event = events.GitSettingsChanged(changes=(), at=time.time())
        after = fold(state, event, state.seq + 1, log.get_blob)
        log.append([Append(run, state.seq, (encode_event(event),), summary=summary_of(after))], [lease])
    finally:
        log.release(lease)


def refuse_moving(log: Log, state: RunState) -> None:
    """Refuse a run whose files may change at any moment."""
    holder = holder_of(log, state.run)
    if holder is not None:
        message = f"{state.run} is driven by {holder_words(holder)}, so its files may change at any moment"
        raise UsageError(message, next_step=f"wait for it, or: handrail stop {state.run}")
    if state.status in ("running", "queued"):
        message = f"{state.run} was interrupted during a step"
        raise UsageError(message, next_step=f"handrail resume {state.run}, or handrail stop {state.run}")


def _find_last_applied(log: Log, workspaces: Delivery, root: Path) -> str:
    found = workspaces.find_last_applied(root, [row.key for row in log.summaries(Filter())])
    if found is None:
        raise NotFound(f"no run was applied to {root}", next_step="handrail apply RUN")
    return found
