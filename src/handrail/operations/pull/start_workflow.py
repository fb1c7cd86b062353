"""Starts a workflow for a connected agent, which holds the run from the beginning."""

import json
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path

from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.guided.context_limits import context_problem
from handrail.engine.guided.loops import find_lacking
from handrail.engine.state.preferences import decide_preferences
from handrail.errors import VersionConflict
from handrail.frozen import frozen
from handrail.model.history.events import Event, RunStarted, RunTaken
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.operations.issue_runs.assign_agent import AlreadyStarted
from handrail.operations.issue_runs.issue_record import build_record
from handrail.operations.issue_runs.issue_reference import find_issue
from handrail.operations.pull.answer_context import add_start_context
from handrail.operations.pull.answers import Answer, Caution, answer_at
from handrail.operations.pull.call_context import CallContext, PullError, holder_name, new_name
from handrail.operations.runs.lifecycle import Request, idempotent_run_id, start
from handrail.operations.runs.prefer import PreferenceSettings, read_preferences
from handrail.operations.runs.prepare import RunOptions, pin, prepare
from handrail.operations.runs.references import look_for
from handrail.operations.runs.secrets import SecretChecker
from handrail.runtime.run_writer import RunClaim
from handrail.sources.tiers import Location


@frozen(kw_only=True)
class StartRequest:
    """What an agent asks to be started."""

    workflow: str
    workspace: str
    goal: str
    context: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    request: str = ""
    """Chosen by the client: the same one always means the same run."""
    issue: str = ""
    """The issue to work on, as people name it."""


def start_pulled(ctx: CallContext, wanted: StartRequest) -> Answer:
    """Start a workflow, held by the agent that asked for it, and return its first step."""
    place = ctx.place_of(wanted.workspace)
    begins = _prepare_start(ctx, place, wanted)
    claim = RunClaim(ctx.log, holder_name(begins.holder))
    try:
        run = _start_once(ctx, begins, claim)
        ctx.offer(run)
    finally:
        claim.free()
    return _answer_first(ctx, run, begins)


async def start_pulled_on_issue(ctx: CallContext, wanted: StartRequest) -> Answer:
    """Start a workflow on an issue, as `handrail run --issue` does, held by the agent that asked for it."""
    place = ctx.place_of(wanted.workspace)
    if ctx.issues is None:
        raise PullError("NOT_SUPPORTED", "this server starts no runs on issues", next_step="omit issue")
    desk = ctx.issues(place)
    remote = "" if place.repository is None else ctx.machine.repositories.remote_url(place.repository)
    issue = await desk.read(find_issue(wanted.issue, remote, desk.trackers))
    begins = _prepare_start(ctx, place, wanted, build_record(issue, ctx.machine.redactor()))
    claim = RunClaim(ctx.log, holder_name(begins.holder))
    try:
        run = await desk.start(issue, begins.request, claim, then=_make_first_events(ctx, begins))
        ctx.offer(run)
    except AlreadyStarted as known:
        run = _require_same_goal(ctx, known.run, begins.request)
    finally:
        claim.free()
    # The driver also reports on the issue, whoever does the steps.
    ctx.wake(run)
    return _answer_first(ctx, run, begins)


def _prepare_start(
    ctx: CallContext, place: Location, wanted: StartRequest, issue: dict[str, JsonValue] | None = None
) -> "_RunStart":
    request = _request(ctx, place, wanted, issue)
    references = look_for(request.pinned.plan, place)
    found = {"observed": ctx.machine.repositories.observe(Path(wanted.workspace)), "references": references}
    return _RunStart(replace(request, **found, once=wanted.request), new_name(), read_preferences(place))


def _answer_first(ctx: CallContext, run: str, begins: "_RunStart") -> Answer:
    found = ctx.known.fold_run(ctx.log, run)
    ctx.known.keep(found)
    answer = answer_at(ctx, found.state, "start")
    if begins.preferences.unused:
        answer = replace(answer, warnings=(Caution(code="PREFERENCES_NOT_USED", message=begins.preferences.unused),))
    if answer.working:
        ctx.wake(run)
    return add_start_context(ctx, answer)


def _start_once(ctx: CallContext, begins: "_RunStart", claim: RunClaim) -> str:
    """Start a run; a repeated start returns the run of the first one."""
    try:
        return start(ctx.writer, begins.request, then=_make_first_events(ctx, begins), claim=claim)
    except VersionConflict:
        return _require_same_goal(ctx, idempotent_run_id(begins.request), begins.request)


def _require_same_goal(ctx: CallContext, run: str, request: Request) -> str:
    """Refuse a repeated start with another goal than the first; return its run otherwise."""
    if ctx.known.fold_run(ctx.log, run).state.task != request.task:
        hint = "use a new requestId for a new start; repeat one only with the same goal"
        message = f"this requestId already started {run} with another goal"
        raise PullError("VALIDATION_ERROR", message, next_step=hint) from None
    return run


def _request(ctx: CallContext, place: Location, wanted: StartRequest, issue: dict[str, JsonValue] | None) -> Request:
    look_up = ctx.catalogue.look_up
    pinned = ctx.catalogue.attach_written_plan(pin(place, wanted.workflow, look_up))
    if pinned.plan.selection != "rescan":
        given = tuple(f"{name}={_format_value(value)}" for name, value in wanted.context.items())
        workspace = str(place.cwd or wanted.workspace)
        asked = RunOptions(wanted.workflow, wanted.goal, given, folder=workspace, by=str(ctx.caller), connected=True)
        return prepare(ctx.machine, place, replace(asked, issue=issue), look_up).request
    problem = context_problem({"goal": wanted.goal}, wanted.context)
    if problem:
        hint = "omit what the workflow does not read, or put it into a file and name the file"
        raise PullError("CONTEXT_BUDGET_EXCEEDED", problem, next_step=hint)
    if issue is not None:
        message = f"'{wanted.workflow}' is a guided workflow, whose texts cannot mark an issue as data from outside"
        hint = "start it without issue and put what matters into the goal, or start a native workflow on the issue"
        raise PullError("NOT_SUPPORTED", message, next_step=hint)
    secrecy = SecretChecker(ctx.machine.redactor())
    secrecy.require_none_in(pinned.plan, pinned.written)
    inputs = secrecy.inputs(dict(wanted.context))
    return Request(pinned, wanted.workspace, inputs=inputs, task=secrecy.task(wanted.goal), by=str(ctx.caller))


def _format_value(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@frozen
class _RunStart:
    """What is started, who begins it, and how far it may continue alone."""

    request: Request
    holder: str
    preferences: PreferenceSettings

    @property
    def plan(self) -> Plan:
        """What it does."""
        return self.request.pinned.plan


def _make_first_events(ctx: CallContext, begins: _RunStart) -> Callable[[RunStarted], tuple[Event, ...]]:
    """Return what hands the run to the agent before the first step is decided, in the same append that creates it."""
    blobs = ctx.log.get_blob

    def decide_first_events(started: RunStarted) -> tuple[Event, ...]:
        state = apply(None, started, 1, blobs)
        taken = RunTaken(by=holder_name(begins.holder), hands="agents", at=started.at)
        first = (taken, *decide_preferences(begins.plan, state, begins.preferences.change, started.at))
        for event in first:
            state = apply(state, event, state.seq + 1, blobs)
        decided = advance(begins.plan, state, started.at, blobs, ctx.agents.catalog.names)
        _require_all_it_needs(begins.plan, decided.state)
        return (*first, *decided.events)

    return decide_first_events


def _require_all_it_needs(plan: Plan, state: RunState) -> None:
    """Refuse a workflow that begins with a loop whose variable is missing: it has no step in which to ask for it."""
    found = find_lacking(plan, state) if state.status == "blocked" else None
    if found is not None:
        hint = f"call start_workflow again with this in its context: {json.dumps({found.variable: found.example})}"
        raise PullError("PRECONDITION_FAILED", found.message, next_step=hint)
