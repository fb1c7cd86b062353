"""The state of a run as bytes and back, without what stands at its default: for checkpoints, forks and rewinds."""

import json
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, cast

from rpds import HashTrieMap

from handrail.model.events import Parent
from handrail.model.run import Failure, FlowState, Frame, GroupState, LoopState, Pending, RunState, StepState

_Data = dict[str, Any]
_step_row = attrgetter(*(each.name for each in fields(StepState)))


def encode_state(state: RunState) -> bytes:
    """Give a state as bytes, the same for the same state."""
    return json.dumps(state, default=_plain, separators=(",", ":"), sort_keys=True).encode()


def decode_state(data: bytes) -> RunState:
    """Give the state that bytes stand for."""
    read: _Data = json.loads(data)
    read["names"] = HashTrieMap(read["names"])
    read["steps"] = HashTrieMap({address: StepState(*step) for address, step in read["steps"].items()})
    read["latest"] = HashTrieMap(read["latest"])
    read["context"] = HashTrieMap(read["context"])
    read["revisions"] = HashTrieMap(read["revisions"])
    read["feedback"] = HashTrieMap(read["feedback"])
    read["stack"] = tuple(_frame(each) for each in read.get("stack", ()))
    read["crossed"] = tuple((seq, what) for seq, what in read.get("crossed", ()))
    for name, record in (("pending", Pending), ("failure", Failure), ("parent", Parent)):
        read[name] = record(**read[name]) if read.get(name) is not None else None
    read["flow"] = _flow(read["flow"]) if read.get("flow") is not None else None
    read["forked_from"] = tuple(read["forked_from"]) if read.get("forked_from") is not None else None
    return RunState(**read)


def _plain(value: Any) -> Any:
    if type(value) is HashTrieMap:
        return dict(cast("HashTrieMap[str, Any]", value).items())
    if type(value) is StepState:
        # Most of a long run's state are its steps: rows of their values are written and read in half the time.
        return _step_row(value)
    names, values, defaults = _layout(cast("type[Any]", type(value)))
    items = zip(names, values(value), defaults, strict=True)
    # Identity first: most fields stand at their default.
    return {name: item for name, item, default in items if item is not default and item != default}


@cache
def _layout(record: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]:
    names = tuple(each.name for each in fields(record))
    return names, attrgetter(*names), tuple(each.default for each in fields(record))


def _flow(data: _Data) -> FlowState:
    return FlowState(Pending(**data["pending"]), tuple((digest, asks) for digest, asks in data.get("calls", ())))


def _frame(data: _Data) -> Frame:
    loop, group = data.get("loop"), data.get("group")
    return Frame(
        data["prefix"],
        data.get("index", 0),
        None if loop is None else _loop(loop),
        None if group is None else _group(group),
    )


def _loop(data: _Data) -> LoopState:
    for name in ("items", "keys", "done", "failed"):
        if data.get(name) is not None:
            data[name] = tuple(data[name])
    return LoopState(**data)


def _group(data: _Data) -> GroupState:
    names, latest = HashTrieMap(data["names"]), HashTrieMap(data["latest"])
    return GroupState(data["address"], data["inputs"], names, latest)
