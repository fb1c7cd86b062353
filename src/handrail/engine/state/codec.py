"""Encodes the state of a run as bytes and back, without default values: for checkpoints, forks and rewinds."""

import gc
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import Any, cast

from rpds import HashTrieMap, Queue

from handrail.engine.state.given import context_given, leave_out, names_given, read_given
from handrail.model.codec import decode
from handrail.model.history.events import Parent
from handrail.model.history.run_state import (
    Failure,
    FlowCall,
    FlowState,
    Frame,
    GroupState,
    LoopState,
    Pending,
    RunState,
    StepState,
    WorkState,
    step_of,
)
from handrail.model.history.spending import Spending
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.workflow.settings import AgentPolicy, Budget, Project
from handrail.model.workflow.values import JsonValue

_Data = dict[str, Any]
_MAPS = (
    *("names", "latest", "context", "revisions", "feedback", "turns"),
    *("used", "answers", "capabilities", "children", "diffs"),
)
_RECORDS: dict[str, type[Any]] = {
    "pending": Pending,
    "failure": Failure,
    "parent": Parent,
    "spent": Spending,
    "tree": Tree,
    "around": Budget,
}
_NO_ADDRESS = 2
"""The number of fields of a flow's call in states of older versions."""
_LEFT_OUT = "as_given"
"""Lists the values of a record that are unchanged since the start of the run, and are not written with it."""
_STEP_DEFAULTS = tuple(StepState("waiting"))


def _dumps(value: Any) -> str:
    return json.dumps(value, default=_plain, separators=(",", ":"), sort_keys=True)


@dataclass(slots=True)
class StepTexts:
    """Caches the encoded text of each step, since most steps of a long run never change again."""

    _kept: dict[str, tuple[StepState, str]] = field(default_factory=dict[str, tuple[StepState, str]])

    def encode_step(self, address: str, step: StepState) -> str:
        """Return a step with its address, as an entry of a JSON object."""
        kept = self._kept.get(address)
        if kept is None or kept[0] is not step:
            kept = step, f"{_dumps(address)}:{_dumps(_trim_defaults(step))}"
            self._kept[address] = kept
        return kept[1]


def encode_state(state: RunState, texts: StepTexts | None = None) -> bytes:
    """Encode a state, equal states as equal bytes; `texts` avoids encoding steps again that did not change."""
    text = StepTexts().encode_step if texts is None else texts.encode_step
    steps = ",".join([text(address, state.steps[address]) for address in sorted(state.steps)])
    rest = _plain(state)
    del rest["steps"]
    if state.given:
        rest |= _without_given(state)
    return f'{_dumps(rest)[:-1]},"steps":{{{steps}}}}}'.encode()


def _without_given(state: RunState) -> _Data:
    """Encode the parts of a state that hold what the run was given, without those values."""
    names = names_given(state.inputs)
    kept, same = leave_out(dict(state.names.items()), names)
    context, alike = leave_out(dict(state.context.items()), context_given(state.inputs, state.task))
    frames = [_plain(each) if each.group is None else _frame_without(each, names) for each in state.stack]
    left = {"inputs": {}, "task": "", "names": kept, "context": context, "stack": frames}
    return {**left, _LEFT_OUT: {"names": same, "context": alike}}


def _frame_without(frame: Frame, names: Mapping[str, JsonValue]) -> _Data:
    group = cast("GroupState", frame.group)
    kept, same = leave_out(dict(group.names.items()), names)
    return {**_plain(frame), "group": {**_plain(group), "names": kept, _LEFT_OUT: same}}


def decode_state(data: bytes, blobs: Callable[[str], bytes]) -> RunState:
    """Decode a state from bytes; what its run was given may be in a blob of its own."""
    with _pause_garbage_collection():
        read = json.loads(data)
        if read.get("given"):
            _put_back_given(read, blobs)
        return _state(read)


def _put_back_given(read: _Data, blobs: Callable[[str], bytes]) -> None:
    read["inputs"], read["task"] = read_given(read["given"], blobs)
    left_out, names = read.pop(_LEFT_OUT), names_given(read["inputs"])
    _put_back(read, "names", left_out["names"], names)
    _put_back(read, "context", left_out["context"], context_given(read["inputs"], read["task"]))
    for group in (frame["group"] for frame in read["stack"] if frame.get("group") is not None):
        _put_back(group, "names", group.pop(_LEFT_OUT), names)


def _put_back(record: _Data, field_name: str, left_out: list[str], given: Mapping[str, JsonValue]) -> None:
    record[field_name] |= {name: given[name] for name in left_out}


@contextmanager
def _pause_garbage_collection() -> Generator[None]:
    """Disable the garbage collector, which would scan a hundred thousand new objects repeatedly: none is garbage."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _state(read: _Data) -> RunState:
    for name in _MAPS:
        read[name] = HashTrieMap(read.get(name, {}))
    read["steps"] = HashTrieMap({address: step_of(step) for address, step in read["steps"].items()})
    read["stack"] = tuple(_frame(each) for each in read.get("stack", ()))
    read["pass_env"] = tuple(read.get("pass_env", ()))
    read["crossed"] = tuple((seq, what) for seq, what in read.get("crossed", ()))
    read["said"] = tuple(read.get("said", (0, "")))
    read["gaps"] = tuple(read.get("gaps", ()))
    read["tried"] = tuple((seq, at, by, command) for seq, at, by, command in read.get("tried", ()))
    read["git_changes"] = tuple(read.get("git_changes", ()))
    read["messages"] = tuple((seq, by, text) for seq, by, text in read.get("messages", ()))
    for name, record in _RECORDS.items():
        if name in read:
            read[name] = record(**read[name])
    for name in ("source", "pinned"):
        if name in read:
            read[name] = decode(TreeSource, read[name])
    if "agents" in read:
        read["agents"] = decode(AgentPolicy, read["agents"])
    if "project" in read:
        read["project"] = decode(Project, read["project"])
    read["flow"] = _flow(read["flow"]) if "flow" in read else None
    read["forked_from"] = tuple(read["forked_from"]) if "forked_from" in read else None
    return RunState(**read)


def _trim_defaults(row: StepState) -> tuple[Any, ...]:
    """Drop trailing default values of a step, because steps are most of a long run's state."""
    end = len(row)
    while end > 1 and (row[end - 1] is _STEP_DEFAULTS[end - 1] or row[end - 1] == _STEP_DEFAULTS[end - 1]):
        end -= 1
    return row[:end]


def step_rows(state: RunState) -> dict[str, Any]:
    """Return the steps that can be read by name, each as a row of its values."""
    return {address: state.steps[address] for address in state.latest.values()}


def _plain(value: Any) -> Any:
    if type(value) is HashTrieMap:
        return dict(cast("HashTrieMap[str, Any]", value).items())
    if type(value) is Queue:
        return list(cast("Queue[Any]", value))
    names, values, defaults = _layout(cast("type[Any]", type(value)))
    items = zip(names, values(value), defaults, strict=True)
    # Compare by identity first, because most fields have their default.
    return {name: item for name, item, default in items if item is not default and item != default}


@cache
def _layout(record: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]:
    names = tuple(each.name for each in fields(record))
    return names, attrgetter(*names), tuple(each.default for each in fields(record))


def _flow(data: _Data) -> FlowState:
    pending = Pending(**data["pending"])
    # An older version stored no addresses, only the number of the call.
    calls = {
        int(number): FlowCall(*call, *(() if len(call) > _NO_ADDRESS else (f"{pending.address}#{int(number) + 1}",)))
        for number, call in data.get("calls", {}).items()
    }
    return FlowState(pending, HashTrieMap(calls), data.get("began_at", 0.0))


def _frame(data: _Data) -> Frame:
    loop, group, work = data.get("loop"), data.get("group"), data.get("work")
    return Frame(
        data["prefix"],
        data.get("index", 0),
        None if loop is None else _loop(loop),
        None if group is None else _group(group),
        None if work is None else WorkState(**work),
    )


def _loop(data: _Data) -> LoopState:
    for name, kind in (("items", tuple), ("keys", tuple), ("done", Queue), ("failed", Queue), ("undone", Queue)):
        if data.get(name) is not None:
            data[name] = kind(data[name])
    return LoopState(**data)


def _group(data: _Data) -> GroupState:
    names, latest = HashTrieMap(data["names"]), HashTrieMap(data["latest"])
    return GroupState(data["address"], data["inputs"], names, latest)
