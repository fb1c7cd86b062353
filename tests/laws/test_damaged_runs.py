"""One damaged run among five: everybody else goes on, it is named, and a person can get rid of it."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.errors import HandrailError
from handrail.model.history.events import RunEnded
from handrail.model.history.run_lines import Filter
from handrail.operations.delivery.export_import import export
from handrail.operations.doctor.repair import cut_unreadable, drop_orphans, examine_runs, repair_lists
from handrail.operations.driving.resume import list_resumable_runs
from handrail.operations.driving.stop_damaged import stop_damaged
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.run_document import LoggedRuns, summary_document
from handrail.operations.views.run_listing import list_runs
from handrail.ports.log import Append, Log
from handrail.ports.processes import ProcessSpec
from handrail.runtime.history import readable_state, state_of
from handrail.runtime.local.background_driver import BackgroundDriver
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.run_writer import RunWriter
from handrail.store.memory.log import MemoryWorld
from handrail.testing.conformance.log_worlds import event
from handrail.testing.memory_processes import MemoryProcesses, ScriptedCommand
from handrail.wiring.system import make_writer
from support.laws.damage import HARMLESS, MEMORY, SQL, STRANGERS, damage_memory
from support.runtime.memory_room import MemoryRoom
from support.runtime.room import Room, damage, of_kind, pinned, supervisor_of

ASKS = """
name: NAME
steps:
  - {name: a, command: 'true'}
  - {name: ok, type: approval}
  - {name: b, command: 'true'}
"""
NAMES = ("v", "w", "x", "y", "z")
BAD = "x-1"


class CalmRoom(MemoryRoom):
    """A machine on which every command succeeds."""

    def _perform(self, spec: ProcessSpec) -> ScriptedCommand:  # noqa: ARG002
        return ScriptedCommand(b"")


def _start_five(start: Callable[[str], str]) -> list[str]:
    """Five runs of five workflows, so that no two share a plan."""
    return [start(ASKS.replace("NAME", name)) for name in NAMES]


def _approve_all(writer: RunWriter) -> None:
    for name in NAMES:
        with contextlib.suppress(*((HandrailError,) if name == "x" else ())):
            runs.answer(writer, f"{name}-1", "approve", "me")
    writer.send(BAD, "tell:1", "tell", text="hello", by="me")


def _drive(supervisor: Supervisor) -> list[str]:
    met: list[str] = []
    supervisor.on_unreadable = lambda error: met.append(error.message)
    asyncio.run(supervisor.run_until_idle())
    asyncio.run(supervisor.run_until_idle())
    return met


def _assert_others_are_done(log: Log) -> None:
    assert {name: state_of(log, f"{name}-1").status for name in NAMES if name != "x"} == dict.fromkeys(
        ("v", "w", "y", "z"), "succeeded"
    )


def _assert_lists_hold(log: Log) -> None:
    lines = {line.run: line for line in list_runs(LoggedRuns(log)).lines}
    assert lines.keys() >= {f"{name}-1" for name in NAMES if name != "x"}
    listed = {str(each["run"]): each["status"] for each in (summary_document(log, run) for run in lines)}
    assert {run for run, status in listed.items() if status == "succeeded"} >= {"v-1", "w-1", "y-1", "z-1"}
    assert set(list_resumable_runs(log)) <= {BAD}
    assert runs.find(log, "v") == "v-1"
    assert runs.find(log, BAD) == BAD


@pytest.mark.parametrize("what", SQL)
def test_damage_in_the_database_is_named_and_stops_nobody_else(room: Room, what: str) -> None:
    _start_five(room.start)
    room.drive()
    room.close()
    damage(room, SQL[what], BAD)
    _approve_all(room.writer)
    met = _drive(room.supervisor())
    _assert_others_are_done(room.log)
    _assert_lists_hold(room.log)
    assert room.log.holder(BAD) is None
    report = [*room.log.check().findings, *examine_runs(room.log)]
    if what in HARMLESS:
        assert state_of(room.log, BAD).status in ("waiting", "succeeded"), met
    elif "plan" not in what:
        assert met, "whoever drives is told once"
        assert any(each.name == BAD or "text" in what for each in report), report
    else:
        assert state_of(room.log, BAD).reason == "fault" or state_of(room.log, BAD).status == "waiting"
        assert report


@pytest.mark.parametrize("what", MEMORY)
def test_damage_that_only_a_reader_can_tell_is_named_and_cut(what: str) -> None:
    world = MemoryWorld()
    room = CalmRoom()
    room.log = world.open()
    _start_five(lambda text: runs.start(room.writer, runs.Request(pinned(text), "/w")))
    room.drive()
    damage_memory(world, what, BAD)
    _approve_all(room.writer)
    room.drive()
    _assert_others_are_done(room.log)
    _assert_lists_hold(room.log)
    found = examine_runs(room.log)
    repaired = what not in ("newer version", "missing plan", "plan that is none")
    cut_unreadable(room.log)
    drop_orphans(room.log)
    repair_lists(room.log)
    if what.startswith("timer") or "line" in what:
        return
    assert found
    assert (examine_runs(room.log) == ()) == repaired


@pytest.mark.parametrize("what", STRANGERS)
def test_what_is_kept_for_no_run_of_ours_neither_ends_nor_spins_whoever_drives(room: Room, what: str) -> None:
    _start_five(room.start)
    room.drive()
    room.close()
    damage(room, STRANGERS[what])
    _approve_all(room.writer)
    supervisor = room.supervisor()
    serving = BackgroundDriver(room.log, supervisor, supervisor.clock, grace=0.0)
    asyncio.run(serving.serve())
    assert serving.is_idle()
    assert [state_of(room.log, f"{name}-1").status for name in NAMES] == ["succeeded"] * 5
    assert {line.run for line in list_runs(LoggedRuns(room.log)).lines} == {f"{name}-1" for name in NAMES}
    found = [(each.part, each.name) for each in examine_runs(room.log)]
    assert (len(found) == 1) == ("nobody" in what or "no text" in what)
    drop_orphans(room.log)
    assert [each.name for each in examine_runs(room.log) if each.name == "ghost-1"] == []


def test_a_repair_of_one_run_leaves_the_others_alone(room: Room) -> None:
    _start_five(room.start)
    room.drive()
    others = {f"{name}-1": room.log.last(f"{name}-1") for name in NAMES if name != "x"}
    last = room.log.last(BAD).seq
    room.close()
    damage(room, "UPDATE events SET payload = x'7b' WHERE stream = ? AND seq = 4", BAD)
    (cut,) = cut_unreadable(room.log, BAD)
    repair_lists(room.log, BAD)
    assert (cut.kept, cut.moved) == (3, last - 3)
    assert {run: room.log.last(run) for run in others} == others
    assert room.log.check().is_healthy
    room.drive()
    runs.answer(room.writer, BAD, "approve", "me")
    room.drive()
    assert room.state(BAD).status == "succeeded"


@pytest.mark.parametrize("what", ["undecodable event", "newer version", "broken chain", "kind that is no text"])
def test_a_damaged_run_is_stopped_for_good_and_stays_so_after_a_repair(room: Room, tmp_path: Path, what: str) -> None:
    _start_five(room.start)
    room.drive()
    room.close()
    damage(room, SQL[what], BAD)
    processes = MemoryProcesses(lambda _: ScriptedCommand(b""))
    assert stop_damaged(make_writer(room.log), processes, tmp_path, BAD, "ann") == (BAD,)
    line = next(line for line in list_runs(LoggedRuns(room.log)).lines if line.run == BAD)
    assert (line.section, line.words) == ("ended", "stopped by ann; its history cannot be read")
    _drive(room.supervisor())
    assert next(line for line in list_runs(LoggedRuns(room.log)).lines if line.run == BAD).section == "ended"
    if what == "newer version":
        return
    room.log.salvage()
    cut_unreadable(room.log)
    repair_lists(room.log)
    room.drive()
    assert [event.status for event in of_kind(room.log, BAD, RunEnded)] == ["cancelled"]


def test_what_can_be_read_of_a_damaged_run_is_exported_and_known(room: Room) -> None:
    _start_five(room.start)
    room.drive()
    room.close()
    damage(room, "UPDATE events SET payload = x'7b' WHERE stream = ? AND seq = 4", BAD)
    assert readable_state(room.log, BAD).seq == 3
    (stream,) = export(room.log, BAD)["streams"]
    assert [each["seq"] for each in stream["events"]] == [1, 2, 3]


def test_a_run_cannot_be_given_the_name_of_another_kind_of_stream(room: Room) -> None:
    made = pinned(ASKS.replace("NAME", "a"))
    odd = replace(made, plan=replace(made.plan, name="issue:7"))
    with pytest.raises(HandrailError, match="cannot be the id of a run"):
        runs.start(room.writer, runs.Request(odd, str(room.workspace)))
    assert room.log.streams() == ()


def test_a_stream_that_is_no_run_is_read_and_written_like_any_other(room: Room) -> None:
    room.log.append([Append("issue:7", 0, (event("x"),), summary={"status": "running"})], [])
    supervisor = supervisor_of(room.log, room.data, {})
    assert _drive(supervisor) == []
    assert len(room.log.read("issue:7")) == 1
    assert room.log.summaries() == ()
    assert [row.key for row in room.log.summaries(Filter(runs_only=False))] == ["issue:7"]
    assert examine_runs(room.log) == ()
