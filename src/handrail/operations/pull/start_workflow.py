"""Starts a workflow for a connected agent, which holds the run from the beginning."""

import json
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path

from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.guided.context_limits import context_problem
from handrail.engine.guided.loops import find_lacking
from handrail.engine.state.preferences import Wish, decide_preferences
from handrail.errors import VersionConflict
from handrail.frozen import frozen
from handrail.model.history.events import Event, RunStarted, RunTaken
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.answer_context import add_start_context
from handrail.operations.pull.answers import Answer, Caution, answer_at
from handrail.operations.pull.desk import Desk, PullRefused, holder_name, new_name
from handrail.operations.runs.lifecycle import Request, idempotent_run_id, start
from handrail.operations.runs.prefer import read_preferences
from handrail.operations.runs.prepare import Wanted, pin, prepare
from handrail.operations.runs.references import look_for
from handrail.operations.runs.secrets import Secrecy
from handrail.runtime.run_writer import RunClaim
from handrail.sources.tiers import Place


@frozen(kw_only=True)
class StartWanted:
    """What an agent asks to be started."""

    workflow: str
    workspace: str
    goal: str
    context: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    request: str = ""
    """Chosen by the client: the same one always means the same run."""


def start_pulled(desk: Desk, wanted: StartWanted) -> Answer:
    """Start a workflow, held by the agent that asked for it, and return its first step."""
    place = desk.place_of(wanted.workspace)
    request = _request(desk, place, wanted)
    references = look_for(request.pinned.plan, place)
    found = {"observed": desk.machine.repositories.observe(Path(wanted.workspace)), "references": references}
    request = replace(request, **found, once=wanted.request)
    holder = new_name()
    preferences = read_preferences(place)
    begins = _Beginning(request.pinned.plan, holder, preferences.wish)
    claim = RunClaim(desk.log, holder_name(holder))
    try:
        run = _start_once(desk, request, begins, claim)
        desk.offer(run)
    finally:
        claim.free()
    found = desk.known.fold_run(desk.log, run)
    desk.known.keep(found)
    answer = answer_at(desk, found.state, "start")
    if preferences.unused:
        answer = replace(answer, warnings=(Caution(code="PREFERENCES_NOT_USED", message=preferences.unused),))
    if answer.working:
        desk.wake(run)
    return add_start_context(desk, answer)


def _start_once(desk: Desk, request: Request, begins: "_Beginning", claim: RunClaim) -> str:
    """Start a run; a repeated start returns the run of the first one."""
    try:
        return start(desk.writer, request, then=_make_first_events(desk, begins), claim=claim)
    except VersionConflict:
        run = idempotent_run_id(request)
        if desk.known.fold_run(desk.log, run).state.task != request.task:
            hint = "use a new requestId for a new start; repeat one only with the same goal"
            message = f"this requestId already started {run} with another goal"
            raise PullRefused("VALIDATION_ERROR", message, next_step=hint) from None
        return run


def _request(desk: Desk, place: Place, wanted: StartWanted) -> Request:
    look_up = desk.catalogue.look_up
    pinned = desk.catalogue.attach_written_plan(pin(place, wanted.workflow, look_up))
    if pinned.plan.selection != "rescan":
        given = tuple(f"{name}={_format_value(value)}" for name, value in wanted.context.items())
        workspace = str(place.cwd or wanted.workspace)
        asked = Wanted(wanted.workflow, wanted.goal, given, folder=workspace, by=str(desk.caller), connected=True)
        return prepare(desk.machine, place, asked, look_up).request
    problem = context_problem({"goal": wanted.goal}, wanted.context)
    if problem:
        hint = "omit what the workflow does not read, or put it into a file and name the file"
        raise PullRefused("CONTEXT_BUDGET_EXCEEDED", problem, next_step=hint)
    secrecy = Secrecy(desk.machine.redactor())
    secrecy.require_none_in(pinned.plan, pinned.written)
    inputs = secrecy.inputs(dict(wanted.context))
    return Request(pinned, wanted.workspace, inputs=inputs, task=secrecy.task(wanted.goal), by=str(desk.caller))


def _format_value(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@frozen
class _Beginning:
    """Who begins a run, and how far it may continue alone."""

    plan: Plan
    holder: str
    wish: Wish


def _make_first_events(desk: Desk, begins: _Beginning) -> Callable[[RunStarted], tuple[Event, ...]]:
    """Return what hands the run to the agent before the first step is decided, in the same append that creates it."""
    blobs = desk.log.get_blob

    def decide_first_events(started: RunStarted) -> tuple[Event, ...]:
        state = apply(None, started, 1, blobs)
        taken = RunTaken(by=holder_name(begins.holder), hands="agents", at=started.at)
        first = (taken, *decide_preferences(begins.plan, state, begins.wish, started.at))
        for event in first:
            state = apply(state, event, state.seq + 1, blobs)
        decided = advance(begins.plan, state, started.at, blobs, desk.agents.catalog.names)
        _require_all_it_needs(begins.plan, decided.state)
        return (*first, *decided.events)

    return decide_first_events


def _require_all_it_needs(plan: Plan, state: RunState) -> None:
    """Refuse a workflow that begins with a loop whose variable is missing: it has no step in which to ask for it."""
    found = find_lacking(plan, state) if state.status == "blocked" else None
    if found is not None:
        hint = f"call start_workflow again with this in its context: {json.dumps({found.variable: found.example})}"
        raise PullRefused("PRECONDITION_FAILED", found.message, next_step=hint)
