"""Whatever a caller gives: it is refused with a typed error and leaves no trace, or everything reads it back."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.engine.state.preferences import PreferenceChange
from handrail.errors import HandrailError
from handrail.operations.doctor.repair import examine_runs
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prefer import prefer
from handrail.operations.runs.tell import tell
from handrail.operations.views.explain import explain
from handrail.operations.views.history import history
from handrail.operations.views.run_document import LoggedRuns, run_document, summary_document
from handrail.operations.views.run_listing import list_runs
from handrail.ports.log import Log
from handrail.runtime.history import events_of, state_of
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import open_log
from handrail.wiring.machine import this_machine
from support.runtime.memory_room import MemoryRoom
from support.runtime.room import Room, pinned

ASKS = pinned("name: asks\nsteps:\n  - {name: ok, type: approval}\n  - {name: b, command: 'true'}\n")
DEEP: Any = reduce(lambda inner, _: [inner], range(2000), [0])
ODD: tuple[Any, ...] = (
    "maybe", "", "\0", "\ud800", "a\udcffb", "é😀\u2028", 7, -1, True, None, 2**63, 10**5000, math.nan, math.inf, 1.5,
    b"bytes", [], {}, {1: 2}, {"a": {2: 3}}, DEEP, ("a",), {"a", "b"}, object(), "x" * 200_000,
)  # fmt: skip
values = st.one_of(
    st.sampled_from(range(len(ODD))).map(ODD.__getitem__),
    st.text(max_size=20),
    st.recursive(st.none() | st.integers() | st.floats() | st.text(max_size=5), st.lists, max_leaves=5),
)
Act = Callable[[MemoryRoom, str, Any], object]

ACTS: dict[str, Act] = {
    "answer": lambda room, run, odd: runs.answer(room.writer, run, odd, "me"),
    "answer by": lambda room, run, odd: runs.answer(room.writer, run, "approve", odd),
    "feedback": lambda room, run, odd: runs.answer(room.writer, run, "reject", "me", odd),
    "stop": lambda room, run, odd: runs.stop(room.writer, run, odd),
    "resume": lambda room, run, odd: runs.resume(room.writer, run, odd),
    "rewind": lambda room, run, odd: runs.rewind(room.writer, run, "ok", odd),
    "fork": lambda room, run, odd: runs.fork(room.writer, run, None, odd),
    "take": lambda room, run, odd: runs.take(room.writer, run, odd),
    "prefer": lambda room, run, odd: prefer(room.writer, run, PreferenceChange(by="me", autonomy=odd)),
    "prefer by": lambda room, run, odd: prefer(room.writer, run, PreferenceChange(by=odd, risk="aggressive")),
    "tell": lambda room, run, odd: tell(room.writer, run, odd, "me", this_machine().agents),
    "tell by": lambda room, run, odd: tell(room.writer, run, "hello", odd, this_machine().agents),
    "inputs": lambda room, _, odd: _start(room, inputs={"x": odd}),
    "task": lambda room, _, odd: _start(room, task=odd),
    "by": lambda room, _, odd: _start(room, by=odd),
    "agent": lambda room, _, odd: _start(room, agent=odd),
    "workspace": lambda room, _, odd: _start(room, workspace=odd),
    "checks": lambda room, _, odd: _start(room, checks={"a": odd}),
    "pass_env": lambda room, _, odd: _start(room, pass_env=(odd,)),
    "observed": lambda room, _, odd: _start(room, observed={"root": odd}),
    "references": lambda room, _, odd: _start(room, references={"doc": odd}),
    "definition": lambda room, _, odd: _start(room, pinned=replace(ASKS, definition=odd)),
    "name": lambda room, _, odd: _start(room, pinned=replace(ASKS, plan=replace(ASKS.plan, name=odd))),
}


TEXTS = (ACTS["tell"], ACTS["name"])
"""What is asked for its length or its letters at once, and is text for every caller."""


def _start(room: MemoryRoom, **given: Any) -> str:
    words: dict[str, Any] = {"pinned": ASKS, "workspace": "/w", **given}
    return runs.start(room.writer, runs.Request(**words))


def _traces(log: Log) -> object:
    return [(each, log.last(each), len(log.inbox(each))) for each in log.streams()], log.pending_streams()


def _assert_everything_reads(log: Log, run: str) -> None:
    assert list_runs(LoggedRuns(log)).lines
    assert summary_document(log, run)["run"] == run
    assert examine_runs(log) == ()
    for each in log.streams():
        assert events_of(log, each)
        assert history(log, each)
        assert explain(log, each) is not None
        assert run_document(log, each)["run"] == each
        assert state_of(log, each).run == each
    assert runs.find(log, run) == run


def _room() -> tuple[MemoryRoom, str]:
    room = MemoryRoom()
    room.log = MemoryWorld(room.clock).open()
    run = room.start(ASKS.plan)
    room.drive()
    return room, run


def _hold(room: MemoryRoom, run: str, act: Act, odd: Any) -> None:
    if act in TEXTS and not isinstance(odd, str):
        return
    before = _traces(room.log)
    try:
        act(room, run, odd)
    except HandrailError:
        assert _traces(room.log) == before, "a refusal leaves no trace"
    room.drive()
    _assert_everything_reads(room.log, run)


@pytest.mark.parametrize("what", ACTS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(odd=values)
def test_what_is_given_is_refused_or_can_be_read(what: str, odd: Any) -> None:
    _hold(*_room(), ACTS[what], odd)


@pytest.mark.parametrize("what", ACTS)
def test_every_odd_value_is_refused_or_can_be_read(what: str) -> None:
    for odd in ODD:
        _hold(*_room(), ACTS[what], odd)


@pytest.mark.parametrize("odd", ["\ud800", "a\0b", "", "é", "x:y", "../x", 10**30])
def test_a_run_that_cannot_be_named_is_a_typed_error(room: Room, odd: Any) -> None:
    log = open_log(room.data)
    for act in (runs.stop, runs.resume, runs.release, runs.take):
        with pytest.raises(HandrailError):
            act(room.writer, odd, "me")
    with pytest.raises(HandrailError):
        runs.find(log, str(odd))
    log.close()
