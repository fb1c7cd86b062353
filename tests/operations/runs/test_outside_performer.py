"""One run, two drivers: it changes hands in the middle of a loop, in both directions, and whoever has it performs."""

import asyncio
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import LogConflict, UsageError
from handrail.model.history.events import RunReleased, RunTaken, StepEnded
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.outside_performer import complete_step, pending_step
from handrail.runtime.ports import Pinned
from handrail.store.sqlite.log import open_log
from support.compiler.native_case import compile_text
from support.runtime.room import Room, assert_sound, of_kind, until

LOOP = """
name: hands
steps:
  - {name: first, command: 'echo first >> trace; echo 0', output: n}
  - name: rounds
    type: loop
    for: 4
    max_iterations: 5
    steps:
      - {name: work, command: 'echo work ${round} >> trace; echo engine ${round}', output: made}
      - {name: note, command: 'echo note ${made} >> trace'}
  - {name: last, command: 'echo last ${made} >> trace; echo ${made}', output: end}
"""
SLOW = "until test -e go; do sleep 0.01; done"


def _take(room: Room, run: str) -> None:
    runs.take(room.writer, run, "agent")


def perform(room: Room, run: str, address: str, output: str) -> None:
    """Do the pending step from outside."""
    step = pending_step(room.log, run)
    assert step is not None
    assert step.address == address
    complete_step(room.writer, run, step.seq, output, "agent")


def test_a_run_is_walked_half_by_the_engine_and_half_from_outside_in_the_middle_of_a_loop(room: Room) -> None:
    run = room.start(LOOP)

    def take() -> None:
        runs.take(room.writer, run, "agent")

    room.during(take, lambda: "work 2" in room.trace())
    engine = room.trace()
    step = pending_step(room.log, run)
    assert step is not None
    assert step.address in ("rounds@2/note", "rounds@3/work")
    room.drive()
    assert room.trace() == engine, "the engine performs nothing of a run that somebody holds"
    while (step := pending_step(room.log, run)) is not None and not step.address.startswith("rounds@4"):
        complete_step(room.writer, run, step.seq, f"agent {step.address}", "agent")
    runs.release(room.writer, run, "agent")
    room.drive()
    state = room.state(run)
    assert state.status == "succeeded"
    assert room.trace()[-3:] == ["work 4", "note engine 4", "last engine 4"]
    assert state.steps["rounds@3/work"].output == "agent rounds@3/work"
    assert state.steps["rounds"].output == {"rounds": 4, "done": [1, 2, 3, 4], "undone": [], "failed": [], "left": []}
    by = {event.address: event.by for event in of_kind(room.log, run, StepEnded)}
    assert by["rounds@1/work"] == ""
    assert by["rounds@3/work"] == by["rounds@3/note"] == "agent"
    assert by["rounds@4/work"] == by["last"] == ""
    assert_sound(room.log)


def test_a_run_taken_before_it_began_is_walked_from_outside_and_given_back_and_taken_again(room: Room) -> None:
    run = room.start(LOOP)
    _take(room, run)
    room.drive()
    perform(room, run, "first", "one")
    perform(room, run, "rounds@1/work", "made outside")
    runs.release(room.writer, run, "agent")
    room.during(lambda: _take(room, run), lambda: len(room.trace()) >= 3)
    assert room.trace()[0] == "note made outside", "the engine reads what was made outside"
    while (step := pending_step(room.log, run)) is not None:
        complete_step(room.writer, run, step.seq, "outside", "agent")
    assert room.state(run).status == "succeeded"
    assert room.state(run).names["end"] == "outside"
    assert len(of_kind(room.log, run, RunTaken)) == 2
    assert len(of_kind(room.log, run, RunReleased)) == 1
    assert_sound(room.log)


def test_the_step_in_the_engines_hands_is_finished_before_the_run_changes_hands(room: Room) -> None:
    run = room.start(
        f"name: x\nsteps:\n  - {{name: a, command: 'echo up >> trace; {SLOW}'}}\n  - {{name: b, command: x}}\n"
    )

    def take() -> None:
        runs.take(room.writer, run, "agent")
        (room.workspace / "go").touch()

    room.during(take, lambda: room.trace() == ["up"])
    kinds = [event.kind for event in room.log.read(run)]
    assert kinds == ["run_started", "step_began", "step_ended", "run_taken", "step_began"]
    assert room.log.inbox(run) == ()


def test_a_step_that_survived_its_driver_is_finished_before_the_run_changes_hands(room: Room) -> None:
    run = room.start(
        f"name: x\nsteps:\n  - {{name: a, command: 'echo up >> trace; {SLOW}'}}\n  - {{name: b, command: x}}\n"
    )

    async def dies() -> None:
        driving = asyncio.ensure_future(room.supervisor().run_until_idle())
        await until(lambda: room.trace() == ["up"])
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)

    asyncio.run(dies())
    runs.take(room.writer, run, "agent")
    (room.workspace / "go").touch()
    room.drive()
    assert [event.address for event in of_kind(room.log, run, StepEnded)] == ["a"]
    assert room.trace() == ["up"]
    step = pending_step(room.log, run)
    assert step is not None
    assert step.address == "b"


def test_the_outside_sees_what_the_engine_would_run(room: Room) -> None:
    run = room.start(
        "name: x\ninput: {v: string}\nsteps:\n  - {name: a, command: 'echo ${v}', timeout: 5s}\n", v="$(x)"
    )
    _take(room, run)
    room.drive()
    step = pending_step(room.log, run)
    assert step is not None
    assert step.spec == snapshot(
        {
            "commands": [
                {
                    "name": "command",
                    "script": 'echo "$HR_1"',
                    "values": {"HR_1": "$(x)"},
                    "files": [],
                    "sources": {"HR_1": "v"},
                }
            ],
            "timeout": 5,
        }
    )


def test_an_outside_performer_leaves_a_loop_as_the_script_would(room: Room) -> None:
    text = (
        "name: x\nsteps:\n  - name: l\n    type: loop\n    for: 3\n    max_iterations: 5\n    steps:\n"
        "      - {name: a, command: 'true', on_success: exit_loop}\n"
    )
    run = room.start(text)
    _take(room, run)
    room.drive()
    perform(room, run, "l@1/a", "left")
    assert room.state(run).status == "succeeded"
    assert room.began(run) == ["l@1/a"]


def test_a_step_that_the_engine_cannot_perform_is_performed_from_outside(room: Room) -> None:
    text = (
        "name: x\nsteps:\n  - {name: think, type: agent, prompt: Think hard., output: thought}\n"
        "  - {name: b, command: 'echo ${thought} >> trace'}\n"
    )
    run = room.start(text)
    room.drive()
    assert (room.state(run).status, room.state(run).reason) == ("blocked", "step")
    assert "take" in room.state(run).next_step
    _take(room, run)
    room.drive()
    perform(room, run, "think", "deep")
    runs.release(room.writer, run, "agent")
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["deep"]
    assert_sound(room.log)


def test_a_run_given_back_at_a_step_that_the_engine_cannot_perform_says_so(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: think, type: pull-request, title: Think hard.}\n")
    _take(room, run)
    room.drive()
    runs.release(room.writer, run, "agent")
    room.drive()
    state = room.state(run)
    assert (state.status, state.reason) == ("blocked", "step")
    assert state.message == snapshot("step 'think' was begun by somebody who let go of the run")


def test_only_the_holder_completes_and_only_what_is_pending_and_only_once(room: Room) -> None:
    run = room.start(LOOP)
    with pytest.raises(UsageError, match="driven by the engine"):
        complete_step(room.writer, run, 2, "x", "agent")
    _take(room, run)
    room.drive()
    step = pending_step(room.log, run)
    assert step is not None
    with pytest.raises(UsageError, match="held by agent"):
        complete_step(room.writer, run, step.seq, "x", "somebody else")
    complete_step(room.writer, run, step.seq, "x", "agent")
    with pytest.raises(UsageError, match="not what is pending"):
        complete_step(room.writer, run, step.seq, "x", "agent")
    assert len(of_kind(room.log, run, StepEnded)) == 1


def test_a_run_that_another_process_drives_cannot_be_completed(room: Room, tmp_path: Path) -> None:
    run = room.start(LOOP)
    _take(room, run)
    room.drive()
    other = open_log(room.data)
    other.acquire(run, "another")
    with pytest.raises(LogConflict, match=r"driven by another \(process"):
        complete_step(room.writer, run, 3, "x", "agent")
    other.close()


def test_an_approval_is_asked_whoever_holds_the_run_and_a_stop_reaches_it_too(room: Room) -> None:
    run = room.start("name: x\nsteps:\n  - {name: ok, type: approval}\n  - {name: b, command: 'true'}\n")
    _take(room, run)
    room.drive()
    assert room.state(run).reason == "approval"
    assert pending_step(room.log, run) is None
    runs.answer(room.writer, run, "approve", "me")
    room.drive()
    step = pending_step(room.log, run)
    assert step is not None
    assert step.address == "b"
    runs.stop(room.writer, run, "me")
    room.drive()
    assert room.state(run).status == "cancelled"


GUIDED = """
{
  "id": "guided-one", "name": "Guided", "description": "One guided step.", "version": "1.0.0",
  "steps": [
    {"id": "first-step", "title": "First", "prompt": "Do {{goal}}."},
    {"id": "second-step", "title": "Second", "prompt": "Then this.", "runCondition": {"var": "size", "equals": "big"}}
  ]
}
"""


def test_a_guided_step_is_refused_without_notes_and_completed_with_them_and_its_context_decides(room: Room) -> None:
    compiled, _, _ = compile_text(GUIDED, main="workflow.json")
    assert compiled.plan is not None
    request = runs.Request(Pinned(compiled.plan, compiled.hash or ""), str(room.folder), task="the work")
    run = runs.start(room.writer, request)
    room.drive()
    _take(room, run)
    room.drive()
    step = pending_step(room.log, run)
    assert step is not None
    assert "Do the work." in str(step.spec["prompt"])
    refused = complete_step(room.writer, run, step.seq, {"context": {"size": "big"}}, "agent")
    assert refused.pending is not None
    again = pending_step(room.log, run)
    assert again is not None
    assert again.address == "first-step"
    complete_step(room.writer, run, again.seq, {"notesMarkdown": "Did it.", "context": {"size": "big"}}, "agent")
    following = pending_step(room.log, run)
    assert following is not None
    assert following.address == "second-step"
    assert complete_step(room.writer, run, following.seq, "Done.", "agent").status == "succeeded"
