"""What becomes of a run's changes: applied to the user's checkout, merged into the base, or discarded and kept."""

from dataclasses import replace
from pathlib import Path

from handrail.errors import NotFound, UsageError, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import Tree
from handrail.operations.views.diff import began_with, tree_of
from handrail.operations.views.run_tree import family, held_words, holder_of
from handrail.ports.delivery import Delivery
from handrail.ports.log import Filter, Log
from handrail.ports.repositories import Repositories
from handrail.ports.workspaces import Conflict, Merged
from handrail.runtime.handlers.trees import with_trailer
from handrail.runtime.history import state_of


@frozen
class Applied:
    """What was brought into a checkout, or taken back."""

    run: str
    checkout: str
    files: tuple[str, ...]
    unfinished: bool = False
    """Whether the run is not over yet."""


@frozen
class Delivered:
    """A run's branch that is in its base now."""

    run: str
    branch: str
    base: str
    commit: str
    already: bool


@frozen
class Discarded:
    """What was removed of a run, and where it is kept."""

    run: str
    branch: str
    commit: str
    """Where the branch stood."""
    ref: str


def apply(log: Log, workspaces: Delivery, run: str) -> Applied:
    """Bring a run's changes into the user's checkout as uncommitted changes."""
    state = state_of(log, run)
    tree = _own(state)
    files = workspaces.apply_to_checkout(replace(tree, commit=began_with(state)), run)
    unfinished = state.status not in ("succeeded", "cancelled", "failed")
    return Applied(run, tree.repository, files, unfinished)


def undo_apply(log: Log, workspaces: Delivery, run: str | None, root: Path) -> Applied:
    """Take back what was applied to a checkout last, of one run or of any."""
    found = run or _applied_last(log, workspaces, root)
    tree = _own(state_of(log, found))
    return Applied(found, tree.repository, workspaces.undo_apply(tree, found))


def merge(log: Log, workspaces: Delivery, run: str) -> Delivered:
    """Merge a run's branch, with everything in its work tree, into its base; no checkout is touched."""
    state = state_of(log, run)
    tree = _own(state)
    _refuse_moving(log, state)
    if Path(tree.path).is_dir():
        workspaces.commit(tree, with_trailer(f"Work of {run}", run))
    found = workspaces.merge_into_base(tree, with_trailer(f"Merge {tree.branch}", run))
    match found:
        case Merged():
            return Delivered(run, tree.branch, tree.base, found.commit, found.already)
        case Conflict():
            names = ", ".join(found.files) or found.message
            step = f"git switch {tree.base} && git merge {tree.branch}, and resolve it there"
            raise WorkspaceFault(
                f"{tree.branch} does not fit {tree.base}: conflict in {names}", next_step=step, files=found.files
            )


def discard(log: Log, workspaces: Delivery, repositories: Repositories, run: str) -> tuple[Discarded, ...]:
    """Remove the work trees and branches of a run and its items; everything is kept under refs first."""
    _own(state_of(log, run))
    found: dict[str, RunState] = {}
    for each in family(log, run):
        state = state_of(log, each)
        if state.tree is not None and state.tree.owned:
            # A called workflow works in the tree of its caller.
            found.setdefault(state.tree.path, state)
    return tuple(_discarded(workspaces, repositories, state) for state in reversed(found.values()))


def _discarded(workspaces: Delivery, repositories: Repositories, state: RunState) -> Discarded:
    tree = tree_of(state)
    if Path(tree.path).is_dir():
        # On top of the run's own snapshots, where `diff` and `apply` look for it afterwards.
        workspaces.snapshot(tree, state.run)
    commit = repositories.branch_commit(repositories.find_root(Path(tree.repository)), tree.branch)
    return Discarded(state.run, tree.branch, commit, workspaces.discard(tree, state.run))


def _own(state: RunState) -> Tree:
    tree = tree_of(state)
    if not tree.owned:
        raise UsageError(f"{state.run} works in your own checkout, {tree.path}", next_step="its changes are there")
    return tree


def _refuse_moving(log: Log, state: RunState) -> None:
    holder = holder_of(log, state.run)
    if holder is not None:
        message = f"{state.run} is driven by {held_words(holder)}, and its files may change any moment"
        raise UsageError(message, next_step=f"wait for it, or: handrail stop {state.run}")
    if state.status in ("running", "queued"):
        message = f"{state.run} was interrupted in the middle of a step"
        raise UsageError(message, next_step=f"handrail resume {state.run}, or handrail stop {state.run}")


def _applied_last(log: Log, workspaces: Delivery, root: Path) -> str:
    found = workspaces.applied_last(root, [row.key for row in log.summaries(Filter())])
    if found is None:
        raise NotFound(f"nothing of a run was applied to {root}", next_step="handrail apply RUN")
    return found
