"""Opens or updates the pull request of a run on a person's word, whether its workflow has such a step or not."""

from typing import Any, cast

from handrail.errors import TrackerFault
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import RunState
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import PullRequestAction
from handrail.operations.delivery.deliver import refuse_moving, require_known_settings, require_own_worktree
from handrail.operations.views.run_document import plan_of
from handrail.ports.delivery import Delivery
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.trackers.pull_request import PullRequestOpener
from handrail.runtime.handlers.trackers.pull_request_outcome import (
    LeftToPerson,
    NeedsPerson,
    OpenedPullRequest,
    PullRequestWish,
    describe_outcome,
    summarize_outcome,
)
from handrail.runtime.handlers.trees import work_title
from handrail.runtime.history import state_of
from handrail.runtime.pull_request_log import list_records

__all__ = [
    "LeftToPerson",
    "OpenedPullRequest",
    "PullRequestOptions",
    "describe_outcome",
    "open_pull_request",
    "summarize_outcome",
]
STEP = "pr"
"""The step that a pull request is said to come from if the workflow has none of that kind."""


@frozen(kw_only=True)
class PullRequestOptions:
    """What a person wants of a pull request; None leaves it to the workflow."""

    draft: bool | None = None
    base: str | None = None
    title: str | None = None
    body: str | None = None
    auto_merge: bool = False
    accept_git_changes: bool = False


async def open_pull_request(
    log: Log, workspaces: Delivery, opener: PullRequestOpener, run: str, options: PullRequestOptions
) -> OpenedPullRequest | LeftToPerson:
    """Push a run's branch, and open or update its pull request; a second call updates it."""
    state = state_of(log, run)
    tree = require_own_worktree(state)
    refuse_moving(log, state)
    require_known_settings(log, workspaces, state, "pr", accept=options.accept_git_changes)
    found = await opener.deliver(state, tree, _wish(log, state, options))
    if isinstance(found, NeedsPerson):
        raise TrackerFault(found.message, next_step=found.next_step)
    return found


def _wish(log: Log, state: RunState, options: PullRequestOptions) -> PullRequestWish:
    """Combine what the person says with what the workflow said, and with what is open already."""
    spec = _find_spec(log, state.run)
    known = next((each for each in list_records(log, state.family) if each.run == state.run), None)
    step = known.step if known is not None else _step_name(log, state)
    own = f"{state.family}/{step}"
    key = str(spec.get("key") or "") if known is None else "" if known.key == own else known.key
    title = options.title or (known.title if known else "") or str(spec.get("title") or "") or work_title(state)
    text = options.body if options.body is not None else known.text if known else ""
    drafted = True if not spec and known is None else bool(spec.get("draft"))
    return PullRequestWish(
        step=step,
        title=title,
        body=text or str(spec.get("body") or ""),
        by_person=bool(text),
        base=options.base or str(spec.get("base") or ""),
        key=key,
        draft=drafted if options.draft is None else options.draft,
        ready=options.draft is False,
        back_to_draft=options.draft is True,
        labels=tuple(map(str, spec.get("labels") or ())),
        reviewers=tuple(map(str, spec.get("reviewers") or ())),
        finishes=state.status == "succeeded" and not state.open_gaps,
        auto_merge=options.auto_merge,
        again=f"handrail pr {state.run}",
        accepted=options.accept_git_changes,
    )


def _find_spec(log: Log, run: str) -> dict[str, Any]:
    """Return what the workflow wanted when its step was last performed; empty if it never was."""
    for stored in reversed(log.read(run)):
        if stored.kind == "step_began" and b'"pull-request"' in stored.payload:
            began = cast("StepBegan", decode_event(stored))
            if began.action == "pull-request" and "title" in began.spec:
                return cast("dict[str, Any]", began.spec)
    return {}


def _step_name(log: Log, state: RunState) -> str:
    steps = walk_steps(plan_of(log, state.plan).steps)
    return next((step.name for _, step in steps if isinstance(step.action, PullRequestAction)), STEP)
