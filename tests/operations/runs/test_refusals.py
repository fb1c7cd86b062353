"""An attempt of an agent is noted in its own run, else in the run that it meant: once, and only so often."""

import pytest

from handrail.errors import PersonOnly
from handrail.model.actors import Actor, make_agent, make_connected, make_person
from handrail.model.history.events import CommandRefused
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.refusals import RefusedCommand, record_attempt
from support.runtime.room import Room, of_kind

ASKS = "name: x\nsteps:\n  - {name: ok, type: approval, message: Good?}\n  - {name: b, command: 'true'}\n"
SLOW = "name: x\nsteps:\n  - {name: a, command: 'echo up >> trace; until test -e go; do sleep 0.01; done'}\n"
CLAUDE = make_connected("claude")


def noted(room: Room, run: str) -> list[tuple[str, str, str]]:
    return [(each.by, each.command, each.about) for each in of_kind(room.log, run, CommandRefused)]


def test_it_is_noted_in_a_run_that_waits_and_the_question_stays_open(room: Room) -> None:
    run = room.start(ASKS)
    room.drive()
    for _ in range(2):
        assert record_attempt(room.writer, RefusedCommand(CLAUDE, "approve", run)) == run
    assert noted(room, run) == [("connected:claude", "approve", run)]
    assert room.log.inbox(run) == ()
    runs.answer(room.writer, run, "approve", "ann")
    room.drive()
    assert room.state(run).status == "succeeded"
    assert [command for *_, command in room.state(run).tried] == [f"approve {run}"]


def test_it_is_noted_in_the_agents_own_run_while_its_step_goes_on(room: Room) -> None:
    run = room.start(SLOW)

    def tries() -> None:
        record_attempt(room.writer, RefusedCommand(make_agent(run, "a"), "approve", "other-1"))
        (room.workspace / "go").touch()

    room.during(tries, lambda: room.trace() == ["up"])
    assert noted(room, run) == [(f"agent:{run}/a", "approve", "other-1")]
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["up"], "the step was not begun again"


def test_it_is_noted_in_a_run_that_is_over(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: b, command: 'true'}\n")
    room.drive()
    record_attempt(room.writer, RefusedCommand(CLAUDE, "discard", run))
    assert noted(room, run) == [("connected:claude", "discard", run)]
    assert room.state(run).status == "succeeded"


def test_a_run_notes_only_so_many(room: Room) -> None:
    run = room.start(ASKS)
    room.drive()
    for number in range(25):
        record_attempt(room.writer, RefusedCommand(make_connected(f"c{number}"), "approve", run))
    assert len(noted(room, run)) == 20


def test_what_belongs_to_no_run_is_noted_nowhere(room: Room) -> None:
    assert record_attempt(room.writer, RefusedCommand(CLAUDE, "trust", "evil")) == ""
    assert record_attempt(room.writer, RefusedCommand(make_agent("try-1"), "trust", "evil")) == ""


def test_a_long_name_is_cut(room: Room) -> None:
    run = room.start(ASKS)
    room.drive()
    record_attempt(room.writer, RefusedCommand(make_agent(run, "a"), "trust", "x" * 5000))
    assert noted(room, run) == [(f"agent:{run}/a", "trust", "x" * 200)]


@pytest.mark.parametrize("actor", [CLAUDE, make_agent("x-9", "a")])
def test_no_agent_decides_what_a_person_is_asked(room: Room, actor: Actor) -> None:
    run = room.start(ASKS)
    room.drive()
    with pytest.raises(PersonOnly):
        runs.answer(room.writer, run, "approve", str(actor))
    assert room.log.inbox(run) == ()
    runs.answer(room.writer, run, "approve", str(make_person("ann")))
    room.drive()
    assert room.state(run).status == "succeeded"


def test_going_back_and_copies(room: Room) -> None:
    run = room.start(ASKS)
    room.drive()
    record_attempt(room.writer, RefusedCommand(CLAUDE, "approve", run))
    runs.rewind(room.writer, run, "ok", "ann")
    room.drive()
    assert len(room.state(run).tried) == 1
    assert room.state(runs.fork(room.writer, run, None, "ann")).tried == ()
