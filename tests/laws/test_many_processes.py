"""Many processes on one database: every message has its effect once, no run is driven twice."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter

import pytest

from handrail.model.history.events import RunRewound, StepBegan
from handrail.model.history.run_lines import Filter, Row
from handrail.operations.runs import lifecycle as runs
from support.runtime import many_worker
from support.runtime.room import LONG, Room, assert_sound, of_kind

SENDERS = 8
DRIVERS = 4
RUNS = 200 if os.environ.get("HANDRAIL_SOAK") else 80


def _start(*words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, many_worker.__file__, *words])


@pytest.mark.system
def test_each_of_800_messages_from_8_processes_has_its_effect_once(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: a, command: 'true'}\n  - {name: ok, type: approval}\n")
    senders = [_start("send", str(room.data), run, f"s{number}") for number in range(SENDERS)]
    end = time.monotonic() + LONG
    while any(sender.poll() is None for sender in senders):
        assert time.monotonic() < end
        room.drive()
    room.drive()
    assert [sender.returncode for sender in senders] == [0] * SENDERS
    effects = Counter(event.by for event in of_kind(room.log, run, RunRewound))
    wanted = {f"person:s{sender}-{number}" for sender in range(SENDERS) for number in range(many_worker.MESSAGES)}
    assert set(effects) == wanted
    assert set(effects.values()) == {1}
    assert room.log.inbox(run) == ()
    assert room.state(run).reason == "approval"
    runs.answer(room.writer, run, "approve", "me")
    room.drive()
    assert room.state(run).status == "succeeded"
    assert_sound(room.log)


@pytest.mark.timeout(240)
def test_4_processes_drive_many_runs_and_none_is_driven_twice(room: Room) -> None:
    text = (
        "name: x\nsteps:\n  - {name: a, command: 'echo ${run.id} >> trace'}\n"
        "  - {name: l, type: loop, for: 3, max_iterations: 3, steps: [{name: n, command: x, when: round > 9}]}\n"
    )
    made = [room.start(text) for _ in range(RUNS)]
    room.close()
    drivers = [_start("drive", str(room.data)) for _ in range(DRIVERS)]
    assert [driver.wait(200) for driver in drivers] == [0] * DRIVERS
    assert Counter(room.state(run).status for run in made) == {"succeeded": RUNS}
    assert Counter(room.trace()) == dict.fromkeys(made, 1)
    for run in made:
        assert [event.address for event in of_kind(room.log, run, StepBegan)] == ["a"]
    assert_sound(room.log)


def test_waiting_runs_cost_one_look_at_a_change_token(room: Room) -> None:
    for _ in range(5):
        room.start("name: x\nsteps:\n  - {name: ok, type: approval}\n")
    room.drive()
    long = room.start("name: y\nsteps:\n  - {name: a, command: 'sleep 1'}\n")
    asked: list[Filter | None] = []
    supervisor = room.supervisor()
    inner = supervisor.log.summaries

    def summaries(wanted: Filter | None = None) -> tuple[Row, ...]:
        asked.append(wanted)
        return inner(wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervisor.log, "summaries", summaries)
        asyncio.run(supervisor.run_until_idle())
    assert room.state(long).status == "succeeded"
    assert len(asked) <= 8, "rows are read when something was written, not twenty times a second"
