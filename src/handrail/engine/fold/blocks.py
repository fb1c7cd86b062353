"""Folds what contains steps: loops with their rounds, and routines that hide the names outside of them."""

from dataclasses import replace
from typing import cast

from rpds import HashTrieMap

from handrail.engine.fold.steps import ending_fields, finish_step, new_step_record, put_step
from handrail.engine.state.transitions import IllegalMove
from handrail.model.history import events as ev
from handrail.model.history.run_state import Frame, GroupState, LoopState, RunState
from handrail.model.workflow.values import JsonValue


def fold_loop_entered(state: RunState, event: ev.LoopEntered) -> RunState:
    """Enter a loop, before its first round."""
    step = new_step_record(state, event.address, event.at)
    loop = LoopState(event.address, 0, event.item, event.items, event.keys, event.count, steered=event.steered)
    return put_step(state, event.address, step, stack=(*state.stack, Frame(event.address, -1, loop)))


def fold_round_started(state: RunState, event: ev.RoundStarted) -> RunState:
    """Begin a round, before its first step."""
    frame = state.stack[-1]
    if frame.loop is None:
        raise IllegalMove(f"a round of '{event.address}' began outside of it")
    loop = replace(frame.loop, round=event.round, before=state.snapshot)
    prefix = f"{event.address}{_mark(loop)}/"
    return replace(state, stack=(*state.stack[:-1], Frame(prefix, 0, loop)))


def _mark(loop: LoopState) -> str:
    if loop.keys is not None:
        return f"[{loop.keys[loop.round - 1]}]"
    return f"@{loop.round}"


def fold_round_ended(state: RunState, event: ev.RoundEnded) -> RunState:
    """Record how a round ended, however deeply nested the run was inside it."""
    position = next(at for at in range(len(state.stack) - 1, -1, -1) if _is_loop(state.stack[at], event.address))
    frame = state.stack[position]
    loop = cast("LoopState", frame.loop)
    item = loop.items[loop.round - 1] if loop.items is not None else loop.round
    where = "undone" if event.undone else "failed" if event.failed else "done"
    restore = loop.before if event.undone and state.tree is not None else state.restore
    loop = replace(loop, **{where: getattr(loop, where).enqueue(item)})
    kept = (*state.stack[:position], Frame(event.address, -1, loop))
    return replace(state, stack=kept, failure=None, pending=None, restore=restore)


def _is_loop(frame: Frame, address: str) -> bool:
    return frame.loop is not None and frame.loop.address == address


def fold_loop_ended(state: RunState, event: ev.LoopEnded) -> RunState:
    """Leave a loop, with the results of its rounds."""
    loop = cast("LoopState", state.stack[-1].loop)
    total = len(loop.items) if loop.items is not None else loop.count
    left: list[JsonValue] = list(loop.items[loop.round :]) if loop.items is not None else []
    result: dict[str, JsonValue] = {
        "rounds": loop.round,
        "done": list(loop.done),
        "undone": list(loop.undone),
        "failed": list(loop.failed),
        "left": left if total is not None else [],
    }
    known = state.steps[event.address]
    step = known._replace(status="succeeded", output=result, **ending_fields(state, known, event.at))
    return finish_step(replace(state, stack=state.stack[:-1]), event.address, step, {})


def fold_group_entered(state: RunState, event: ev.GroupEntered) -> RunState:
    """Enter a routine, which hides the names outside of it."""
    step = new_step_record(state, event.address, event.at)
    hidden = GroupState(event.address, event.inputs, state.names, state.latest)
    names: HashTrieMap[str, JsonValue] = HashTrieMap(event.inputs)
    latest: HashTrieMap[str, str] = HashTrieMap()
    stack = (*state.stack, Frame(f"{event.address}/", 0, group=hidden))
    return put_step(state, event.address, step, stack=stack, names=names, latest=latest)


def fold_group_left(state: RunState, event: ev.GroupLeft) -> RunState:
    """Leave a routine and restore the names that it hid."""
    hidden = cast("GroupState", state.stack[-1].group)
    output: dict[str, JsonValue] = {name: value for name, value in state.names.items() if name not in hidden.inputs}
    known = state.steps[event.address]
    step = known._replace(status="succeeded", output=output, **ending_fields(state, known, event.at))
    state = replace(state, stack=state.stack[:-1], names=hidden.names, latest=hidden.latest)
    return finish_step(state, event.address, step, {})
