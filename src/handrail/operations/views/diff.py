"""What a run or one of its steps changed; from the snapshots, so that it also works without the worktree."""

import errno
import os
from pathlib import Path

from handrail.errors import UsageError, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState, run_diff_base
from handrail.model.history.trees import Tree
from handrail.model.secrets.redaction import Redactor
from handrail.operations.views.inner_steps import suggest_copy
from handrail.operations.views.step_addresses import FoundStep, find_member, find_steps, find_try, members
from handrail.ports.delivery import Delivery
from handrail.ports.log import Log
from handrail.ports.workspaces import FileChange
from handrail.runtime.history import state_before, state_of

MIN_BYTES = 1024 * 1024
"""The free bytes below which git may not be able to write an index."""
NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})


@frozen
class TreeRange:
    """Two states of a worktree; `until` is None for the current files."""

    tree: Tree
    since: str
    until: str | None


@frozen
class Difference:
    """What changed between them."""

    run: str
    step: str
    span: TreeRange
    files: tuple[FileChange, ...]
    text: str
    items: tuple[str, ...] = ()
    """Items of the step, whose changes are in worktrees of their own."""
    remark: str = ""
    """What a person should know about it."""


@frozen
class Differences:
    """Compares the states of a run's worktree; secrets are removed from what is shown."""

    log: Log
    workspaces: Delivery
    redactor: Redactor

    def compare(self, run: str, step: str | None, *, stat: bool) -> Difference:
        """Return what a run changed since its base, or what one step changed."""
        log, workspaces = self.log, self.workspaces
        inner = None if step is None else find_member(log, run, step)
        if step is None or inner is not None:
            spans = [span_of_run(workspaces, state_of(log, inner or run))]
        else:
            found = _require_single_run(find_steps(log, run, step))
            spans = [span_of_step(log, workspaces, each) for each in found]
        span = TreeRange(spans[0].tree, spans[0].since, spans[-1].until)
        remark = ""
        try:
            files, text = self._compare_span(span, stat=stat)
        except (OSError, WorkspaceFault) as error:
            if span.until is not None or not _is_disk_full(error, span.tree):
                raise
            # Comparing the files needs an index beside them; the newest snapshot already exists.
            span = TreeRange(span.tree, span.since, workspaces.snapshot_ref(inner or run))
            files, text = self._compare_span(span, stat=stat)
            remark = "this disk cannot be written to: shown as of the end of the last step"
        names = () if step is None else (each.whole for each in members(log, run))
        items = tuple(name for name in names if name.startswith(f"{step}["))
        return Difference(inner or run, step or "", span, files, text, items, remark)

    def _compare_span(self, span: TreeRange, *, stat: bool) -> tuple[tuple[FileChange, ...], str]:
        files = self.workspaces.changes(span.tree, span.since, span.until)
        patch = self.workspaces.diff(span.tree, span.since, span.until, stat=stat)
        return files, self.redactor.text("".join(map(_describe_unseen_files, files)) + patch)


def _describe_unseen_files(change: FileChange) -> str:
    """Format a line, which `git apply` ignores, about files that no snapshot holds."""
    if change.change != "repository":
        return ""
    return f"# {change.path} is a separate repository: files in it changed and are not shown here\n"


def span_of_run(workspaces: Delivery, state: RunState) -> TreeRange:
    """Return the span from a run's base to its current files."""
    tree = tree_of(state)
    return TreeRange(tree, diff_base(state), _find_end_snapshot(workspaces, tree, state.run))


def diff_base(state: RunState) -> str:
    """Return the baseline of a run's own changes: its base, with the changes that were taken along."""
    tree_of(state)
    return run_diff_base(state)


def span_of_step(log: Log, workspaces: Delivery, step: FoundStep) -> TreeRange:
    """Return the span from the snapshot on which a step began to the one after it."""
    found = find_try(log, step)
    state = state_of(log, step.run)
    tree = tree_of(state)
    if found is None:
        raise UsageError(f"'{step.shown}' never started", next_step=f"handrail why {step.run}")
    since = state_before(log, step.run, found.began).snapshot or _caller_snapshot(log, state) or tree.commit
    if found.end is None:
        return TreeRange(tree, since, _find_end_snapshot(workspaces, tree, step.run))
    return TreeRange(tree, since, state_before(log, step.run, found.ended + 1).snapshot or since)


def tree_of(state: RunState) -> Tree:
    """Return the worktree of a run, or raise why there is none."""
    if state.tree is not None:
        return state.tree
    if state.source is not None:
        raise UsageError(f"{state.run} has no worktree yet", next_step=f"handrail resume {state.run}")
    if state.foreign:
        step = suggest_copy(state) if state.is_over else f"handrail release {state.run}"
        raise UsageError(f"{state.run} was imported without its files", next_step=step)
    message = f"{state.run} works in {state.workspace} in place, so Handrail does not record its changes"
    raise UsageError(message, next_step=f"look there yourself: git -C {state.workspace} diff")


def _caller_snapshot(log: Log, state: RunState) -> str:
    """Return the snapshot that a called workflow began with: it works in the worktree of its caller."""
    return "" if state.parent is None else state_before(log, state.parent.run, state.parent.seq + 1).snapshot


def _find_end_snapshot(workspaces: Delivery, tree: Tree, run: str) -> str | None:
    return None if Path(tree.path).is_dir() else workspaces.snapshot_ref(run)


def _is_disk_full(error: OSError | WorkspaceFault, tree: Tree) -> bool:
    if isinstance(error, OSError):
        return error.errno in NOT_WRITABLE
    found = os.statvfs(tree.path)
    return bool(found.f_flag & os.ST_RDONLY) or found.f_bavail * found.f_frsize < MIN_BYTES


def _require_single_run(found: tuple[FoundStep, ...]) -> tuple[FoundStep, ...]:
    """Require steps of one run: several rounds of a step are shown as one change."""
    others = {each.run for each in found}
    if len(others) > 1:
        names = ", ".join(each.shown for each in found)
        raise UsageError(f"that matches several steps: {names}", next_step=f"name one, such as {found[0].shown}")
    return found
