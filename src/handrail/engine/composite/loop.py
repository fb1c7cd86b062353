"""Loops: `while` is tested before a round, `until` after one, `for` counts, `for_each` iterates over its items."""

from handrail.engine.state.position import StepStart, enclosing_step
from handrail.engine.state.scope import evaluate_condition, evaluate_expression, value_of
from handrail.language.problems import EvaluationError, Problem
from handrail.model.history.events import (
    Event,
    LoopEnded,
    LoopEntered,
    RoundEnded,
    RoundStarted,
    RunBlocked,
    RunEnded,
    Why,
)
from handrail.model.history.run_state import LoopState, RunState
from handrail.model.workflow.actions import Each, LoopAction, Times, Until, While, add_escalation
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import Expression, JsonValue


def enter(state: RunState, action: LoopAction, at: StepStart) -> Event:
    """Begin a loop, fixing its items, their keys and its count."""
    if isinstance(action.over, Each):
        items, keys = items_and_keys(state, action.over)
        return LoopEntered(address=at.address, items=items, keys=keys, item=action.over.item, at=at.now, why=at.why)
    if isinstance(action.over, Times):
        return LoopEntered(address=at.address, count=_count(value_of(action.over.count, state)), at=at.now, why=at.why)
    return LoopEntered(address=at.address, at=at.now, why=at.why)


def items_and_keys(state: RunState, over: Each) -> tuple[tuple[JsonValue, ...], tuple[str, ...]]:
    """Return the items to iterate over and the key that identifies each of them."""
    items = _items(value_of(over.items, state))
    return items, _keys(state, over, items)


def _count(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _type_mismatch(f"`for` must be a whole number of rounds, got {value!r}")
    return value


def _items(value: JsonValue) -> tuple[JsonValue, ...]:
    if isinstance(value, dict):
        return tuple({"key": key, "value": item} for key, item in value.items())
    if isinstance(value, list):
        return tuple(value)
    raise _type_mismatch(f"`for_each` needs a list or a map, got {value!r}")


def _type_mismatch(message: str) -> EvaluationError:
    return EvaluationError(Problem("type-mismatch", message[:200], 0, 0))


def _keys(state: RunState, over: Each, items: tuple[JsonValue, ...]) -> tuple[str, ...]:
    keys = tuple(_key(state, over, item, index) for index, item in enumerate(items))
    twice = {key for key in keys if keys.count(key) > 1} if len(set(keys)) != len(keys) else set[str]()
    if twice:
        raise _type_mismatch(f"keys must be unique, but {sorted(twice)[0]!r} appears twice")
    return keys


def _key(state: RunState, over: Each, item: JsonValue, index: int) -> str:
    if over.key is not None:
        return str(evaluate_expression(over.key, state, {over.item.replace("-", "_"): item}))
    if isinstance(item, dict):
        return str(item.get("id", item.get("key", index)))
    return str(index)


def decide_next_round(plan: Plan, state: RunState, now: float) -> Event:
    """Decide before a round whether it starts or the loop ends."""
    step = enclosing_step(plan, state)
    loop = state.stack[-1].loop
    if step is None or loop is None or not isinstance(step.action, LoopAction):
        return RunBlocked(reason="fault", message="the run is in a loop that its plan does not contain", at=now)
    ended = _decide_end(state, step.action, loop, now)
    if ended is None:
        why = _evaluate_condition(state, step.action, While, loop.round + 1)
        return RoundStarted(address=loop.address, round=loop.round + 1, at=now, why=why)
    if ended.reason == "max" and step.action.on_max != "continue":
        return _stop_at_limit(step.action, loop, now, step.escalate_to or "")
    return ended


def _decide_end(state: RunState, action: LoopAction, loop: LoopState, now: float) -> LoopEnded | None:
    address = loop.address
    if loop.leaving:
        return LoopEnded(address=address, reason="exit", at=now)
    total = len(loop.items) if loop.items is not None else loop.count
    if total is not None and loop.round >= total:
        return LoopEnded(address=address, reason="done", at=now)
    until = _evaluate_condition(state, action, Until, loop.round) if loop.round > 0 else None
    if until is not None and until.result is True:
        return LoopEnded(address=address, reason="condition", at=now, why=until)
    before = _evaluate_condition(state, action, While, loop.round + 1)
    if before is not None and before.result is not True:
        return LoopEnded(address=address, reason="condition", at=now, why=before)
    if loop.round >= action.max_iterations:
        return LoopEnded(address=address, reason="max", at=now)
    return None


def _evaluate_condition(
    state: RunState, action: LoopAction, kind: type[While] | type[Until], number: int
) -> Why | None:
    """Evaluate a loop's condition; `round` is the one about to begin for `while`, the one that ended for `until`."""
    over = action.over
    if isinstance(over, kind):
        source: Expression = over.condition
        return evaluate_condition(source, state, {"round": number})
    return None


def _stop_at_limit(action: LoopAction, loop: LoopState, now: float, escalate_to: str) -> Event:
    message = f"loop '{loop.address}' reached its limit of {action.max_iterations} rounds"
    if action.on_max == "fail":
        return RunEnded(status="failed", message=message, at=now)
    hint = "check the result of the last round, then resume the run, or rewind to an earlier step"
    to = escalate_to if action.escalate else ""
    message = add_escalation(message, to)
    return RunBlocked(reason="checks", message=message, address=loop.address, next_step=hint, escalate_to=to, at=now)


def end_round(state: RunState, now: float) -> Event:
    """End a round after its last step."""
    loop = state.stack[-1].loop
    address, number = (loop.address, loop.round) if loop is not None else ("", 0)
    return RoundEnded(address=address, round=number, failed=False, at=now)
