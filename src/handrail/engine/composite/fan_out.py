"""Runs a body of steps for each item, each in a run and a worktree of its own, several at a time.

1. Items, keys and dependencies are fixed when the step begins; keys must be unique and dependencies known.
2. An item starts when all items it depends on have succeeded and a slot is free; items start in their order.
3. An item that depends on a failed one is not started, and its result says why. The other items continue.
4. When all items have ended, the step returns their results in item order. When a person resumes a run that is blocked
   here, only the failed items are tried again.
"""

from dataclasses import replace
from typing import cast

from handrail.engine.composite import loop as loops
from handrail.engine.composite.context import CompositeContext
from handrail.engine.state.scope import evaluate_expression, value_of
from handrail.language.problems import EvaluationError, Problem, UndefinedError
from handrail.model.history.events import Event, ItemEnded, ItemStarted, RunBlocked, RunEnded
from handrail.model.history.run_state import RunState
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import (
    GroupAction,
    LoopAction,
    ParallelAction,
    add_escalation,
    body,
    describe_order_fault,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]
DEFAULT_WIDTH = 3


def initial_data(state: RunState, action: ParallelAction) -> Data:
    """Return the initial data of the step, before its first item."""
    items, keys = loops.items_and_keys(state, action.over)
    after = {key: _item_dependencies(state, action, item) for key, item in zip(keys, items, strict=True)}
    fault = describe_order_fault(after)
    if fault is not None:
        raise _type_mismatch(fault)
    width = DEFAULT_WIDTH if action.max_concurrent is None else value_of(action.max_concurrent, state)
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise _type_mismatch(f"`max_concurrent` must be a whole number of at least 1, got {width!r}")
    return {
        "items": list(items),
        "keys": list(keys),
        "item": action.over.item,
        "after": cast("JsonValue", after),
        "width": width,
        "started": {},
        "results": {},
    }


def _item_dependencies(state: RunState, action: ParallelAction, item: JsonValue) -> list[str]:
    if action.after is None:
        return []
    try:
        found = evaluate_expression(action.after, state, {make_identifier(action.over.item): item})
    except UndefinedError:
        # Only some items have the field.
        return []
    listed = found if isinstance(found, list) else [] if found is None else [found]
    return [str(each) for each in listed]


def _type_mismatch(message: str) -> EvaluationError:
    return EvaluationError(Problem("type-mismatch", message[:200], 0, 0))


def decide_next_effort(ctx: CompositeContext, action: ParallelAction) -> Event | None:
    """Start the next item, end the step with its results, or wait."""
    # All composite steps share this signature; here everything was fixed in the data when the step began.
    del action
    data = ctx.data
    keys = cast("list[str]", data["keys"])
    started, results = cast("dict[str, str]", data["started"]), cast("dict[str, Data]", data["results"])
    after = cast("dict[str, list[str]]", data["after"])
    running = len(started.keys() - results.keys())
    for key in keys:
        if key in results or key in started:
            continue
        lost = [other for other in after[key] if other in results and results[other]["status"] != "succeeded"]
        if lost:
            return _skip_item(ctx, key, lost[0])
        if running < cast("int", data["width"]) and all(other in results for other in after[key]):
            child = f"{ctx.state.run}.{ctx.state.seq + 1}"
            return ItemStarted(address=ctx.work.address, key=key, child=child, at=ctx.now)
    return None if running else _finish(ctx, [results[key] for key in keys])


def running_items(state: RunState) -> tuple[str, ...]:
    """List the runs of items that have not ended."""
    work = state.stack[-1].work if state.stack else None
    if work is None:
        return ()
    started, results = cast("dict[str, str]", work.data["started"]), cast("Data", work.data["results"])
    return tuple(child for key, child in started.items() if key not in results)


def _skip_item(ctx: CompositeContext, key: str, lost: str) -> ItemEnded:
    data = ctx.data
    item = cast("list[JsonValue]", data["items"])[cast("list[str]", data["keys"]).index(key)]
    error = f"it depends on '{lost}', which failed"
    return ItemEnded(address=ctx.work.address, key=key, result=result_of(key, item, "failed", error=error), at=ctx.now)


def result_of(key: str, item: JsonValue, status: str, **known: JsonValue) -> Data:
    """Build the result of one item; fields that are not known stay empty."""
    empty: Data = {"branch": "", "commit": "", "output": None, "error": "", "cost": 0.0, "after": []}
    return {"key": key, "item": item, "status": status, **empty, **known}


def _finish(ctx: CompositeContext, results: list[Data]) -> Event:
    failed = [each for each in results if each["status"] != "succeeded"]
    on_fail = ctx.step.on_fail
    if not failed or on_fail in ("continue", "undo", "warn"):
        return ctx.succeed(cast("JsonValue", results))
    named = "; ".join(f"{each['key']}: {each['error']}" for each in failed)
    message = f"step '{ctx.work.address}': {len(failed)} of {len(results)} items failed: {named}"
    if on_fail == "fail":
        return RunEnded(status="failed", message=message, at=ctx.now)
    hint = "fix what failed, then resume the run: only the failed items start over"
    to = ctx.step.escalate_to or "" if on_fail == "escalate" else ""
    message, address = add_escalation(message, to), ctx.work.address
    return RunBlocked(reason="step", message=message, address=address, next_step=hint, escalate_to=to, at=ctx.now)


def item_plan(plan: Plan, step: Step) -> Plan:
    """Return the plan of an item's run, in which a step that would block ends the run, so that other items go on."""
    return Plan(
        name=plan.name,
        description=f"an item of {step.name}",
        inputs=plan.inputs,
        steps=_make_nonblocking(body(step.action)),
        assessments=plan.assessments,
        guided=plan.guided,
    )


def _make_nonblocking(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(_make_step_nonblocking(step) for step in steps)


def _make_step_nonblocking(step: Step) -> Step:
    action = step.action
    if isinstance(action, LoopAction | GroupAction):
        action = replace(action, steps=_make_nonblocking(action.steps))
    return replace(step, action=action, on_fail="fail" if step.on_fail in ("block", "escalate") else step.on_fail)


def reset_failed_items(data: Data) -> Data:
    """Return the data with failed items removed from the results, so that they are tried again."""
    results = cast("dict[str, Data]", data["results"])
    good: Data = {key: each for key, each in results.items() if each["status"] == "succeeded"}
    started = cast("Data", data["started"])
    kept = {key: child for key, child in started.items() if key in good or key not in results}
    return {**data, "results": good, "started": kept}
