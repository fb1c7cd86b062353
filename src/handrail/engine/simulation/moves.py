"""The possible next events of a state: every class of outcome of what is pending."""

from collections.abc import Iterator
from dataclasses import replace

from handrail.engine.decide.from_outside import Answer, decide_approval
from handrail.engine.fold.guided import OUTSIDE, can_go_on
from handrail.engine.simulation import guided_moves, review_moves
from handrail.engine.simulation.endings import cost_details, end_step
from handrail.engine.simulation.inner_runs import InnerRunExplorer
from handrail.engine.simulation.world import Choice, Observations, World, place_of
from handrail.engine.state.position import enclosing_step, find_current_step
from handrail.engine.state.scope import evaluate_expression
from handrail.language.problems import EvaluationError
from handrail.language.shell.known_outcome import verdict
from handrail.model.history.events import RunBlocked, RunReleased, RunTaken, TimerFired
from handrail.model.history.run_state import RunState
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import ApprovalAction, Checks, GateAction, MergeAction, ScriptAction
from handrail.model.workflow.plan import Step
from handrail.model.workflow.proofs import CommandProof, ExpectProof
from handrail.model.workflow.values import JsonValue

ACTOR = "somebody"


def moves(world: World, state: RunState, facts: Observations, inner: InnerRunExplorer) -> list[Choice]:
    """List everything that may happen next; empty if the run is over or needs a person."""
    place = world.prefix + place_of(world.plan, state)
    if state.status == "blocked":
        return list(_takeover_moves(world, state, place))
    if state.status == "waiting":
        return list(_wait_moves(world, state, place))
    if state.status != "running" or state.pending is None:
        return []
    match state.pending.kind:
        case "child":
            return inner.child(world, state, place, facts)
        case "items":
            return inner.item(world, state, place, facts)
        case _:
            return list(_step_moves(world, state, place, facts))


def _takeover_moves(world: World, state: RunState, place: str) -> Iterator[Choice]:
    """Let an outside performer take the run, for steps that only such a performer can do."""
    if state.stack[-1].work is not None or not can_go_on(state) or state.pending is not None or state.held_by:
        return
    step, _ = find_current_step(world.plan, state)
    if step.action.kind in OUTSIDE:
        yield Choice("", (RunTaken(by=ACTOR, at=0.0),), place)


def _wait_moves(world: World, state: RunState, place: str) -> Iterator[Choice]:
    if state.reason in ("timer", "quota"):
        yield Choice("", (TimerFired(key="retry", at=0.0),), place)
    if state.reason != "approval" or state.pending is None:
        return
    step, _ = find_current_step(world.plan, state)
    action = step.action
    if not isinstance(action, ApprovalAction):
        return
    yield Choice("approved", (decide_approval(world.plan, state, Answer("approve", ACTOR), 0.0),), place)
    # What follows a second revision is what followed the first.
    if action.revise is not None and action.max_revisions and not state.revisions.get(state.pending.address, 0):
        answer = Answer("revise", ACTOR, "once more")
        yield Choice(f"sent back to {action.revise}", (decide_approval(world.plan, state, answer, 0.0),), place)
    yield Choice("rejected", (decide_approval(world.plan, state, Answer("reject", ACTOR), 0.0),), place)
    if step.timeout is not None:
        late = RunBlocked(reason="step", message="nobody answered in time", address=state.pending.address, at=0.0)
        yield Choice("not answered in time", (late,), place)


def _step_moves(world: World, state: RunState, place: str, facts: Observations) -> Iterator[Choice]:
    work = state.stack[-1].work
    if work is not None:
        step = enclosing_step(world.plan, state)
        if step is not None:
            yield from _effort_moves(world, state, step, place)
        return
    step, _ = find_current_step(world.plan, state)
    if world.plan.selection == "rescan" or step.action.kind in ("guided", "delegate"):
        yield from guided_moves.moves(world, state, place, facts)
        return
    found = _outcomes(world, state, step, place, facts)
    # The performer of a step that the engine cannot do gives the run back.
    release = (RunReleased(by=ACTOR, at=0.0),) if state.held_by else ()
    yield from (replace(each, events=(*each.events, *release)) for each in found)


def _outcomes(world: World, state: RunState, step: Step, place: str, facts: Observations) -> Iterator[Choice]:
    if step.action.kind == "dynamic":
        facts.unexplored.setdefault(place, "its calls are decided by its code, which a simulation does not run")
    known = predict_end(step)
    if known is not False:
        yield from _successes(world, state, step, place, facts)
    if known is not True:
        yield from _failures(world, state, step, place)


def predict_end(step: Step) -> bool | None:
    """Return how a step ends, if its own text decides that."""
    if any(isinstance(each, CommandProof) and not _can_hold(each) for each in step.done_when):
        return False
    match step.action:
        case ScriptAction(command=command):
            return verdict(command.script)
        case GateAction(checks=checks):
            return _checks_end(checks)
        case _:
            return None


def _can_hold(proof: CommandProof) -> bool:
    known = verdict(proof.command.script)
    return known is None or known is (proof.expect == "pass")


def _checks_end(checks: Checks) -> bool | None:
    found = [verdict(each.command.script) for each in checks.commands]
    if any(each is False for each in found):
        return False
    return True if found and all(found) and not checks.project else None


def _successes(world: World, state: RunState, step: Step, place: str, facts: Observations) -> Iterator[Choice]:
    calls = 1 if step.action.kind == "agent" else 0
    details: dict[str, JsonValue] = {}
    if isinstance(step.action, ScriptAction) and step.action.on_success is not None:
        details["exit_loop"] = True
    found = [each for each in world.results(place, step) if _is_expected(state, step, each.value)]
    if not found:
        expects = next((each.condition.source for each in step.done_when if isinstance(each, ExpectProof)), "")
        facts.doomed.setdefault(place, (f"expect: {expects}", ()))
    for each in found:
        event = end_step(state, ok=True, output=each.value, details={**details, **cost_details(calls)})
        yield Choice(f"done{f' ({each.says})' if each.says else ''}", (event,), place, calls)
    if calls and world.is_cost_relevant and not state.spent.usd and found:
        event = end_step(state, ok=True, output=found[0].value, details=cost_details(calls, all_spent=True))
        yield Choice("done, and the budget is used up", (event,), place, calls)


def _is_expected(state: RunState, step: Step, value: JsonValue) -> bool:
    names: dict[str, JsonValue] = {make_identifier(step.output): value} if step.output else {}
    for proof in step.done_when:
        if isinstance(proof, ExpectProof):
            try:
                if evaluate_expression(proof.condition, state, names) is not True:
                    return False
            except EvaluationError:
                return False
    return True


def _failures(world: World, state: RunState, step: Step, place: str) -> Iterator[Choice]:
    calls = 1 if step.action.kind == "agent" else 0
    path = ("steps", make_identifier(step.name), "exit_code")
    constants = [one for each in world.reading.deciders if path in each.paths for one in each.constants]
    codes = {1, *(each for each in constants if isinstance(each, int) and not isinstance(each, bool) and each > 0)}
    for code in sorted(codes):
        for output, says in _outputs_of_failure(world, step):
            label = "fails" + (f" with {code}" if len(codes) > 1 else "") + says
            yield Choice(
                label,
                (end_step(state, ok=False, output=output, exit_code=code, details=cost_details(calls)),),
                place,
                calls,
            )


def _outputs_of_failure(world: World, step: Step) -> Iterator[tuple[JsonValue, str]]:
    """Yield the outputs of a failed step; a gate says which of its checks failed."""
    if not isinstance(step.action, GateAction):
        yield None, ""
        return
    names = [each.name for each in step.action.checks.commands] or ["project"]
    name = make_identifier(step.name)
    told = any(path[:3] == ("steps", name, "failed") for path in world.reading.deciding)
    for failed in [[each] for each in names] if told else [names]:
        result: JsonValue = {"passed": False, "failed": [*failed], "exit_code": 1, "output": ""}
        yield result, f" ({', '.join(failed)})" if told else ""


def _effort_moves(world: World, state: RunState, step: Step, place: str) -> Iterator[Choice]:
    """Yield the outcomes of one action of a composite step."""
    pending = state.pending
    action = "" if pending is None else pending.action
    if step.action.kind == "agent-loop":
        yield from review_moves.moves(world, state, place)
    elif action == "agent":
        yield Choice("an agent fixes it", (end_step(state, ok=True, output="", details=cost_details(1)),), place, 1)
        if world.is_cost_relevant and not state.spent.usd:
            spent = end_step(state, ok=True, output="", details=cost_details(1, all_spent=True))
            yield Choice("an agent fixes it, and the budget is used up", (spent,), place, 1)
    elif action == "gate":
        yield from check_moves(state, step, place)
    else:
        yield from _merge_moves(state, step, place)


def check_moves(state: RunState, step: Step, place: str) -> Iterator[Choice]:
    """Yield the two outcomes of checks: they pass or fail."""
    action = step.action
    known = _checks_end(action.checks) if isinstance(action, GateAction) else None
    good: JsonValue = {"passed": True, "failed": [], "exit_code": 0, "output": ""}
    bad: JsonValue = {"passed": False, "failed": ["project"], "exit_code": 1, "output": ""}
    if known is not False:
        yield Choice("checks pass", (end_step(state, ok=True, output=good),), place)
    if known is not True:
        yield Choice("checks fail", (end_step(state, ok=False, output=bad),), place)


def _merge_moves(state: RunState, step: Step, place: str) -> Iterator[Choice]:
    data = {} if state.stack[-1].work is None else state.stack[-1].work.data
    yield Choice("merged" if data.get("phase") != "abandon" else "", (end_step(state, ok=True, output={}),), place)
    if isinstance(step.action, MergeAction) and data.get("phase") in ("merge", "conclude"):
        conflict = end_step(state, ok=True, output={"conflict": ["a file"]})
        yield Choice("conflict", (conflict,), place)
        yield Choice("cannot be merged", (end_step(state, ok=False, output=None),), place)
