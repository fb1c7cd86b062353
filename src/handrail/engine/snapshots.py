"""The state of a run as bytes and back: for checkpoints, forks and rewinds."""

import json
from dataclasses import fields
from typing import Any, cast

from rpds import HashTrieMap

from handrail.model.events import Parent
from handrail.model.run import Failure, Frame, GroupState, LoopState, Pending, RunState, StepState

_RECORDS = (Failure, Frame, GroupState, LoopState, Parent, Pending, RunState, StepState)
_Data = dict[str, Any]


def encode_state(state: RunState) -> bytes:
    """Give a state as bytes, the same for the same state."""
    return json.dumps(_plain(state), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def decode_state(data: bytes) -> RunState:
    """Give the state that bytes stand for."""
    read: _Data = json.loads(data)
    read["names"] = HashTrieMap(read["names"])
    read["steps"] = HashTrieMap({address: StepState(**step) for address, step in read["steps"].items()})
    read["latest"] = HashTrieMap(read["latest"])
    read["revisions"] = HashTrieMap(read["revisions"])
    read["feedback"] = HashTrieMap(read["feedback"])
    read["stack"] = tuple(_frame(each) for each in read["stack"])
    read["crossed"] = tuple((seq, what) for seq, what in read["crossed"])
    for name, record in (("pending", Pending), ("failure", Failure), ("parent", Parent)):
        read[name] = None if read[name] is None else record(**read[name])
    read["forked_from"] = None if read["forked_from"] is None else tuple(read["forked_from"])
    return RunState(**read)


def _plain(value: Any) -> Any:
    if isinstance(value, HashTrieMap):
        return {key: _plain(item) for key, item in cast("HashTrieMap[str, Any]", value).items()}
    if isinstance(value, _RECORDS):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    return value


def _frame(data: _Data) -> Frame:
    loop, group = data["loop"], data["group"]
    return Frame(
        data["prefix"],
        data["index"],
        None if loop is None else _loop(loop),
        None if group is None else _group(group),
    )


def _loop(data: _Data) -> LoopState:
    for name in ("items", "keys", "done", "failed"):
        data[name] = None if data[name] is None else tuple(data[name])
    return LoopState(**data)


def _group(data: _Data) -> GroupState:
    names, latest = HashTrieMap(data["names"]), HashTrieMap(data["latest"])
    return GroupState(data["address"], data["inputs"], names, latest)
