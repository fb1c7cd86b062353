"""Decides what follows from a state: a series of events up to the next thing that only the outside can provide.

A run must survive a crash at any moment and continue as if nothing had happened. So the engine has no memory of its
own: the recorded events are the only truth, `apply` folds them into a `RunState`, and `decide` is a pure function from
the plan and that state to the next event. Whatever takes time or can fail (a command, an agent, a person, a timer) is
not performed here. Deciding it records an intent, which becomes `state.pending`; a handler outside performs it and
records the outcome as a further event, from which the next `advance` continues.

A run is therefore in one of three situations. It is *running* with nothing pending, and the next event can be decided
here. It has something pending or *waits* for an answer or a time, and only the outside can move it. Or it is *queued*,
*blocked* or ended, and only the scheduler or a person can. `state.transitions` lists what may follow in which status.

This is safe because:

1. Nothing is decided while something is pending, or while the run is not running. The exceptions are items of a
   fan-out, which start while others run, and a step whose performer let go of the run, which blocks.
2. Every decision is an event that holds the values it was based on; replaying it evaluates nothing again.
3. Each event is folded before the next is decided, so that deciding live and replaying take the same path.
4. Every running state with nothing pending has a next event: a run cannot get stuck silently.
"""

from typing import TYPE_CHECKING, NamedTuple

from handrail.engine.composite import decide as works
from handrail.engine.decide.begin import begin
from handrail.engine.fold.apply import apply
from handrail.engine.fold.guided import block_abandoned_step
from handrail.engine.fold.runs import Blobs
from handrail.engine.prompts import person_messages as messages
from handrail.engine.state.position import StepStart, current_step_list, find_current_step
from handrail.engine.state.scope import evaluate_condition
from handrail.language.problems import EvaluationError
from handrail.late_import import late_import
from handrail.model.history.events import Event, GroupLeft, RunBlocked, RunEnded, StepSkipped, Why
from handrail.model.history.run_state import RunState, update_state
from handrail.model.workflow.agent_names import NO_AGENT_NAMES, AgentNames
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import Expression

if TYPE_CHECKING:
    from handrail.engine.composite import loop as loops
    from handrail.engine.contracts import context_conditions as conditions
    from handrail.engine.decide import after_failure as outcomes
    from handrail.engine.guided import loops as guided_loops
    from handrail.engine.guided import select_step as rescan
else:
    guided_loops = late_import("handrail.engine.guided.loops")
    rescan = late_import("handrail.engine.guided.select_step")
    loops = late_import("handrail.engine.composite.loop")
    outcomes = late_import("handrail.engine.decide.after_failure")
    conditions = late_import("handrail.engine.contracts.context_conditions")

MAX_EVENTS = 10_000
"""The most events that one call of `advance` may decide; a plan that decides more without acting is stopped."""


class Advance(NamedTuple):
    """The events that were decided and the state after them."""

    events: tuple[Event, ...]
    state: RunState


def advance(plan: Plan, state: RunState, now: float, blobs: Blobs, agent_names: AgentNames = NO_AGENT_NAMES) -> Advance:
    """Decide events until something is pending or the run is no longer running."""
    decided: list[Event] = []
    while len(decided) < MAX_EVENTS:
        event = decide(plan, state, now, agent_names)
        if event is None:
            return Advance(tuple(decided), state)
        state = apply(state, event, state.seq + 1, blobs)
        decided.append(event)
    return Advance(tuple(decided), state)


def decide(plan: Plan, state: RunState, now: float, agent_names: AgentNames = NO_AGENT_NAMES) -> Event | None:
    """Decide the one event that follows, or return None while the outside must act first."""
    if state.status != "running" or _is_awaiting_worktree(state):
        return block_abandoned_step(state, now)
    if state.pending is not None and state.pending.kind != "items":
        return block_abandoned_step(state, now)
    try:
        return _decide_next(plan, state, now, agent_names)
    except EvaluationError as error:
        return _block_on_undefined(plan, state, now, error)


def _is_awaiting_worktree(state: RunState) -> bool:
    """Whether the worktree must be created, restored or inspected before anything else begins."""
    unseen = state.tree is not None and not state.snapshot
    return state.source is not None or bool(state.restore) or unseen


def _decide_next(plan: Plan, state: RunState, now: float, agent_names: AgentNames) -> Event | None:
    if state.failure is not None and state.failure.hindrance != "try":
        held_up = outcomes.wait_or_block(state, state.failure, now)
        if held_up is not None:
            return held_up
    if state.stack[-1].work is not None:
        return works.decide_next_effort(plan, state, now, agent_names)
    moved = _decide_between_steps(plan, state, now)
    if moved is not None:
        return moved
    step, address = find_current_step(plan, state)
    # Only expressions evaluated here see this, as `current_step`; the changed state is not returned.
    state = update_state(state, deciding=step.name)
    if state.failure is not None and state.failure.hindrance == "try":
        return outcomes.decide_after_failure(plan, state, step, now, agent_names)
    why = _evaluate_when(plan, state, step)
    if why is not None and why.result is not True:
        return StepSkipped(address=address, why=why, at=now)
    # A step that waited for its agent continues with the same attempt.
    attempt = 1 if state.failure is None else state.failure.attempt
    return begin(plan, state, step, StepStart(address, now, why, attempt, agent_names))


def _decide_between_steps(plan: Plan, state: RunState, now: float) -> Event | None:
    """Decide on the surrounding loop, or on which step is next, before a step is looked at."""
    frame = state.stack[-1]
    if frame.loop is not None and plan.selection == "rescan" and guided_loops.innermost_loop(plan, state) is not None:
        return guided_loops.decide_before_step(plan, state, now)
    if frame.loop is not None and (frame.index < 0 or frame.loop.leaving):
        return loops.decide_next_round(plan, state, now)
    if plan.selection == "rescan" and len(state.stack) == 1:
        return rescan.choose(plan, state, now)
    return _end_step_list(state, now) if frame.index >= len(current_step_list(plan, state)) else None


def _evaluate_when(plan: Plan, state: RunState, step: Step) -> Why | None:
    if step.when is None:
        return None
    if isinstance(step.when, Expression):
        return evaluate_condition(step.when, state)
    return conditions.evaluate_condition(step.when, guided_loops.visible_context(plan, state))


def _end_step_list(state: RunState, now: float) -> Event:
    frame = state.stack[-1]
    if frame.loop is not None:
        return loops.end_round(state, now)
    if frame.group is not None:
        return GroupLeft(address=frame.group.address, at=now)
    return RunEnded(status="succeeded", message=messages.describe_unheard(state), at=now)


def _block_on_undefined(plan: Plan, state: RunState, now: float, error: EvaluationError) -> Event:
    """Block the run before anything is started, naming the value that is not defined."""
    _, address = find_current_step(plan, state)
    problem = error.problem
    message = f"step '{address}' cannot start: {problem.message}"
    hint = problem.hint or "provide the value, or guard it with `is defined` or `| default(...)`"
    return RunBlocked(reason="fault", message=message, address=address, next_step=hint, at=now)
