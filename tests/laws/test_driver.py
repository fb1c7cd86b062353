"""The laws of the driver, on random plans with random performers, in memory."""

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.errors import StorageFull
from handrail.model.history.events import ChildStarted, StepBegan, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import ScriptAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import Command, Expression
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.history import state_of
from handrail.testing.memory_processes import ScriptedCommand
from support.runtime.memory_room import MemoryRoom, meaning, plans
from support.runtime.room import fold_from_zero, of_kind

LAWS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANCE = st.integers(0, 1000)


@LAWS
@given(plans(), CHANCE)
def test_replaying_a_log_gives_the_live_state(plan: Plan, chance: int) -> None:
    room = MemoryRoom(chance)
    run = room.start(plan)
    final = room.finish(run)
    live: dict[str, RunState] = {state.run: state for state in room.lived}
    assert live[run] == final
    for name, state in live.items():
        assert fold_from_zero(room.log, name) == state_of(room.log, name)
        assert state.seq == room.log.last(name).seq
    assert room.log.check().is_healthy


@LAWS
@given(plans(), CHANCE)
def test_a_driven_run_comes_to_an_end_or_to_a_person(plan: Plan, chance: int) -> None:
    room = MemoryRoom(chance)
    assert room.finish(room.start(plan)).status in ("succeeded", "failed", "blocked")
    assert room.log.pending_streams() == ()
    assert room.log.due(9e9) == ()
    assert all(room.log.holder(run) is None for run in room.log.streams())


@LAWS
@given(plans(), CHANCE, st.data())
def test_going_on_from_any_prefix_ends_as_the_uninterrupted_run(plan: Plan, chance: int, data: st.DataObject) -> None:
    whole = MemoryRoom(chance)
    run = whole.start(plan)
    whole.finish(run)
    cut = data.draw(st.integers(1, len(whole.log.read_all())))
    again = whole.copy_first(cut)
    again.finish(run)
    assert meaning(again.log) == meaning(whole.log)


class Machine:
    """A machine that fails at one commit, and works again from the next one on."""

    def __init__(self, at: int, when: str) -> None:
        self.left = at
        self.when = when

    def __call__(self, name: str) -> None:
        if name == self.when:
            self.left -= 1
            if self.left == 0:
                raise StorageFull("no room", next_step="make some")


def _go_on(room: MemoryRoom, run: str) -> None:
    """Drive until nothing moves, and resume what a fault has blocked."""
    with suppress(StorageFull):
        room.finish(run)
    for name in room.log.streams():
        if state_of(room.log, name).reason == "fault":
            runs.resume(room.writer, name, "me")
    room.finish(run)


@LAWS
@given(plans(), CHANCE, st.integers(2, 12), st.sampled_from(["append.before", "append.after"]))
def test_a_commit_that_fails_leaves_nothing_ahead_of_the_log(plan: Plan, chance: int, at: int, when: str) -> None:
    room = MemoryRoom(chance, on_point=Machine(at, when))
    run = room.start(plan)
    _go_on(room, run)
    _go_on(room, run)
    assert state_of(room.log, run).status in ("succeeded", "failed", "blocked")
    assert state_of(room.log, run).reason != "fault"
    for name in room.log.streams():
        assert fold_from_zero(room.log, name) == state_of(room.log, name)
        ended = Counter(event.began for event in of_kind(room.log, name, StepEnded))
        assert set(ended.values()) <= {1}
    started = Counter(spec.folder for spec in room.processes.started)
    assert set(started.values()) <= {1}, "nothing is started twice under one key"


@LAWS
@given(plans(), CHANCE)
def test_every_outcome_answers_one_intent_and_every_intent_has_at_most_one(plan: Plan, chance: int) -> None:
    room = MemoryRoom(chance)
    run = room.start(plan)
    room.finish(run)
    began = len(of_kind(room.log, run, StepBegan)) + len(of_kind(room.log, run, ChildStarted))
    ended = [event.began for event in of_kind(room.log, run, StepEnded)]
    assert len(ended) == len(set(ended)) <= began
    assert len({spec.key for spec in room.processes.started}) == len(room.processes.started)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_a_step_boundary_is_one_commit(count: int) -> None:
    points: Counter[str] = Counter()
    room = MemoryRoom(on_point=lambda name: points.update([name]))
    room.processes = type(room.processes)(lambda _: _good())
    steps = tuple(Step(name=f"s{number}", action=ScriptAction(Command("true"))) for number in range(count))
    run = room.start(Plan(name="line", steps=steps))
    before = points["append.after"]
    assert room.finish(run).status == "succeeded"
    # The first intent, then each outcome together with the next intent or the end.
    assert points["append.after"] - before == count + 1
    assert points["acquire.after"] == 1


def _good() -> ScriptedCommand:
    return ScriptedCommand(b"", exit_code=0)


def test_a_walk_longer_than_one_commit_takes_goes_on() -> None:
    room = MemoryRoom()
    steps = tuple(Step(name=f"s{number}", action=ScriptAction(Command("x")), when=_never()) for number in range(12_000))
    run = room.start(Plan(name="long", steps=steps))
    assert room.finish(run).status == "succeeded"
    assert room.log.last(run).seq == 12_002


def _never() -> Expression:
    return Expression("false")
