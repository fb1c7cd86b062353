"""Which runs may run at the same time, and how long a whole run may take."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.engine.fold.apply import apply
from handrail.engine.state.admission import admission_here
from handrail.errors import UsageError
from handrail.model.history.events import Admission, RunAdmitted, RunEnded, RunImported, RunQueued
from handrail.model.workflow.settings import NO_POLICY
from handrail.operations.delivery.export_import import ImportContext, export, import_run
from handrail.operations.delivery.release import ReleaseQuestion, release_imported
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prepare import pin
from handrail.operations.views.run_document import exit_code, run_document
from handrail.operations.views.run_tree import family
from handrail.runtime.history import plan_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.sources.tiers import here
from support.runtime.room import Room, assert_sound, of_kind, pinned
from support.runtime.steps_room import StepsRoom

KEYED = """
name: deps
input: {{base: string = main}}
concurrency: {{key: 'deps-${{base}}', if_running: {how}}}
steps:
  - {{name: a, command: 'echo ${{run.id}} >> trace'}}
  - {{name: ok, type: approval}}
  - {{name: b, command: 'echo ${{run.id}} again >> trace'}}
"""
QUEUE, SKIP, STOP_OLD = (KEYED.format(how=how) for how in ("queue", "skip", "stop_old"))
PLAIN = "name: plain\nsteps:\n  - {name: a, command: 'echo ${run.id} >> trace'}\n"
ASKS = PLAIN + "  - {name: ok, type: approval}\n  - {name: b, command: 'echo ${run.id} again >> trace'}\n"

FAN = """
name: fan
steps:
  - name: build
    type: parallel-agents
    for_each: [a, b, c]
    key: item
    steps:
      - name: work
        command: |
          cd FOLDER
          echo in >> trace
          until [ -e go ] && [ $(grep -c in trace) -ge 3 ]; do sleep 0.01; done
          echo out >> trace
"""
HOLDS = "name: holds\nsteps:\n  - {name: a, command: 'echo held >> trace; until [ -e go ]; do sleep 0.01; done'}\n"


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def limited(room: Room, text: str, most: int) -> str:
    request = runs.Request(pinned(text), str(room.workspace), admission=Admission("r", places=(("", most),)))
    return runs.start(room.writer, request)


def approve(room: Room, run: str) -> None:
    runs.answer(room.writer, run, "approve", "person:me")
    room.drive()


def test_a_run_waits_until_the_one_with_its_key_is_over(room: Room) -> None:
    first, second = room.start(QUEUE, base="main"), room.start(QUEUE, base="main")
    room.drive()
    assert room.state(first).reason == "approval"
    assert room.state(second).status == "queued"
    assert room.state(second).message == f"queued behind {first}: same concurrency key 'deps-main'"
    assert room.trace() == [first]
    approve(room, first)
    assert room.state(first).status == "succeeded"
    assert room.state(second).reason == "approval"
    assert room.trace() == [first, f"{first} again", second]
    assert_sound(room.log)


def test_a_key_of_other_inputs_is_another_key(room: Room) -> None:
    first, second = room.start(QUEUE, base="main"), room.start(QUEUE, base="next")
    room.drive()
    assert {room.state(first).reason, room.state(second).reason} == {"approval"}


def test_a_second_run_with_skip_ends_without_having_begun(room: Room) -> None:
    first = room.start(SKIP, base="main")
    room.drive()
    second = room.start(SKIP, base="main")
    room.drive()
    (ended,) = of_kind(room.log, second, RunEnded)
    assert (ended.status, ended.reason) == ("cancelled", "skipped")
    assert (
        ended.message
        == f"skipped: {first} has the same concurrency key 'deps-main' and is still running (if_running: skip)"
    )
    assert exit_code(run_document(room.log, second)) == 0
    assert room.trace() == [first]


def test_a_newer_run_with_stop_old_takes_over(room: Room) -> None:
    first = room.start(STOP_OLD, base="main")
    room.drive()
    second = room.start(STOP_OLD, base="main")
    room.drive()
    (ended,) = of_kind(room.log, first, RunEnded)
    assert (ended.status, ended.reason) == ("cancelled", "replaced")
    said = f"stopped: {second} took over its concurrency key 'deps-main' (if_running: stop_old)"
    assert ended.message == said
    assert room.state(second).reason == "approval"
    assert room.trace() == [first, second]


def test_runs_are_admitted_in_the_order_in_which_they_came(room: Room) -> None:
    made = [room.start(QUEUE, base="main") for _ in range(4)]
    room.drive()
    for run in made:
        assert room.state(run).reason == "approval"
        approve(room, run)
    assert [line for line in room.trace() if "again" not in line] == made


def test_only_so_many_runs_are_driven_at_once(room: Room) -> None:
    text = (
        "name: plain\nsteps:\n  - name: a\n    command: |\n"
        "      echo in >> trace\n"
        "      while [ $(grep -c in trace) -lt 3 ] && [ ! -e go ]; do sleep 0.01; done\n"
        "      echo out >> trace\n"
    )
    made = [limited(room, text, 2) for _ in range(6)]

    def two_in() -> bool:
        return room.trace().count("in") == 2 and all(room.state(run).message for run in made[2:])

    room.during((room.workspace / "go").touch, two_in)
    room.drive()
    assert {room.state(run).status for run in made} == {"succeeded"}
    width = most = 0
    for line in room.trace():
        width += 1 if line == "in" else -1
        most = max(most, width)
    assert most == 2
    assert_sound(room.log)


def test_a_run_that_waits_for_a_person_leaves_its_place_to_another(room: Room) -> None:
    first, second = limited(room, ASKS, 1), limited(room, ASKS, 1)
    room.drive()
    assert room.state(first).reason == room.state(second).reason == "approval"
    approve(room, first)
    assert room.state(first).status == "succeeded"


def test_a_run_without_key_and_limit_records_nothing_of_a_queue(room: Room) -> None:
    run = room.start(PLAIN)
    room.drive()
    assert not of_kind(room.log, run, RunQueued)
    assert not of_kind(room.log, run, RunAdmitted)
    assert room.log.last(run).seq == 4


def test_a_paused_run_leaves_the_queue_and_comes_back_at_its_end(room: Room) -> None:
    first, second, third = (room.start(QUEUE, base="main") for _ in range(3))
    room.drive()
    room.writer.send(second, "pause:1", "pause")
    room.drive()
    assert room.state(second).reason == "pause"
    runs.resume(room.writer, second, "person:me")
    room.drive()
    assert room.state(second).status == "queued"
    approve(room, first)
    assert room.state(third).reason == "approval"
    approve(room, third)
    assert room.state(second).reason == "approval"


def test_a_failed_run_that_is_resumed_needs_its_key_again(room: Room) -> None:
    text = "name: f\nconcurrency: {key: k}\nsteps:\n  - {name: a, command: 'test -e good', on_fail: fail}\n"
    first = room.start(text)
    room.drive()
    assert room.state(first).status == "failed"
    second = room.start(QUEUE.replace("'deps-${base}'", "k"), base="main")
    room.drive()
    assert room.state(second).reason == "approval"
    (room.workspace / "good").touch()
    runs.resume(room.writer, first, "person:me")
    room.drive()
    assert room.state(first).status == "queued"
    approve(room, second)
    assert room.state(first).status == "succeeded"


def test_a_called_workflow_shares_the_key_of_its_caller(room: Room) -> None:
    room.workflows["inner"] = "name: inner\nconcurrency: {key: k}\nsteps:\n  - {name: a, command: 'echo in >> trace'}\n"
    outer = "name: outer\nconcurrency: {key: k}\nsteps:\n  - {name: call, type: workflow, workflow: inner}\n"
    run = room.start(outer)
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.trace() == ["in"]


def test_two_runs_that_would_wait_for_each_other_for_ever_are_not_left_waiting(room: Room) -> None:
    def inner(name: str) -> str:
        return f"name: {name}\nconcurrency: {{key: {name}}}\nsteps:\n  - {{name: a, command: 'true'}}\n"

    def outer(key: str, other: str) -> str:
        call = f"  - {{name: call, type: workflow, workflow: {other}, on_fail: fail}}\n"
        ask = "  - {name: ok, type: approval}\n"
        return f"name: has-{key}\nconcurrency: {{key: {key}}}\nsteps:\n{ask}{call}"

    room.workflows |= {"x": inner("x"), "y": inner("y")}
    made = [room.start(outer("x", "y")), room.start(outer("y", "x"))]
    room.drive()
    for run in made:
        runs.answer(room.writer, run, "approve", "person:me")
    room.drive()
    assert sorted(room.state(run).status for run in made) == ["failed", "succeeded"]
    bad = next(run for run in made if room.state(run).status == "failed")
    assert "deadlock: " in room.state(bad).message


def test_the_nightly_update_of_the_library_is_skipped_while_the_last_one_is_not_over(room: Room) -> None:
    nightly = pin(here(room.workspace, {"HANDRAIL_HOME": str(room.folder / "home")}), "deps-nightly")
    asks = pinned(ASKS).plan.steps
    made = [
        runs.start(
            room.writer,
            runs.Request(
                PinnedWorkflow(replace(nightly.plan, steps=asks, inputs=()), nightly.definition), str(room.workspace)
            ),
        )
        for _ in range(2)
    ]
    room.drive()
    assert [room.state(run).status for run in made] == ["waiting", "cancelled"]
    assert room.state(made[1]).reason == "skipped"


def test_every_item_and_called_workflow_counts_with_its_root_as_one(room: Room) -> None:
    room.workflows["inner"] = ASKS.replace("plain", "inner")
    outer = "name: outer\nsteps:\n  - {name: call, type: workflow, workflow: inner}\n"
    request = runs.Request(
        pinned(outer, room.workflows), str(room.workspace), admission=Admission("r", places=(("", 1),))
    )
    run = runs.start(room.writer, request)
    room.drive()
    assert room.state(f"{run}.3").reason == "approval"
    other = limited(room, PLAIN, 1)
    room.drive()
    assert room.state(other).status == "succeeded"
    approve(room, f"{run}.3")
    assert room.state(run).status == "succeeded"
    assert_sound(room.log)


def test_a_stop_ends_a_run_in_the_queue(room: Room) -> None:
    first, second = room.start(QUEUE, base="main"), room.start(QUEUE, base="main")
    room.drive()
    runs.stop(room.writer, second, "person:me")
    room.drive()
    assert room.state(second).status == "cancelled"
    assert room.state(first).reason == "approval"


def test_a_key_that_comes_to_nothing_is_refused_before_anything_begins(room: Room) -> None:
    with pytest.raises(UsageError, match="the concurrency key of 'deps' is empty"):
        room.start(QUEUE.replace("'deps-${base}'", "'${base}'"), base=" ")


def test_an_import_is_queued_behind_nobody(room: Room) -> None:
    first, second = room.start(QUEUE, base="main"), room.start(QUEUE, base="main")
    room.drive()
    state = room.state(second)
    assert state.status == "queued"
    imported = apply(state, RunImported(original=second, by="person:me", at=1.0), state.seq + 1, room.log.get_blob)
    assert (imported.status, imported.admission, imported.queued) == ("running", None, 0)
    assert room.state(first).reason == "approval"


def take_in(room: Room, run: str) -> str:
    """Take the run in once more, as from another log."""
    arrival = ImportContext(by="person:me", at=0.0, is_taken=lambda _: False)
    return import_run(room.log, json.dumps(export(room.log, run)).encode(), arrival).run


def release(room: Room, run: str) -> None:
    """Release an import in the folder of the room, where at most one run may run at once."""
    state = room.state(run)
    needs = admission_here(plan_of(room.log, state.plan), state, Admission("r", places=(("", 1),)))
    asked = ReleaseQuestion(
        run=run, original=run, workflow=state.workflow, commands=(), source=None,
        workspace=str(room.workspace), pass_env=(), agents=NO_POLICY, admission=needs,
    )  # fmt: skip
    release_imported(room.writer, asked, "person:me")


def keyed_in_r(room: Room) -> str:
    request = runs.Request(pinned(QUEUE), str(room.workspace), {"base": "main"}, admission=Admission("r"))
    return runs.start(room.writer, request)


def test_an_import_that_is_released_waits_for_its_key(room: Room) -> None:
    first = keyed_in_r(room)
    copy = take_in(room, first)
    room.drive()
    release(room, copy)
    room.drive()
    assert room.state(first).reason == "approval"
    assert room.state(copy).status == "queued"
    assert room.state(copy).message == f"queued behind {first}: same concurrency key 'deps-main'"
    approve(room, first)
    assert room.state(copy).reason == "approval"
    approve(room, copy)
    assert room.trace() == [first, f"{first} again", copy, f"{copy} again"]
    assert_sound(room.log)


def test_an_import_that_is_released_in_a_called_workflow_waits_for_a_place(room: Room) -> None:
    room.workflows["inner"] = ASKS.replace("plain", "inner")
    outer = "name: outer\nsteps:\n  - {name: call, type: workflow, workflow: inner}\n"
    copy = take_in(room, _driven(room, outer))
    room.drive()
    release(room, copy)
    other = limited(room, HOLDS, 1)

    def holds() -> bool:
        return "held" in room.trace() and room.state(copy).status == "queued"

    room.during((room.workspace / "go").touch, holds)
    room.drive()
    assert room.state(other).status == "succeeded"
    (inner,) = [each for each in family(room.log, copy) if each != copy]
    assert room.state(inner).admission == Admission("r", places=(("", 1),))
    approve(room, inner)
    assert room.state(copy).status == "succeeded"
    assert_sound(room.log)


def _driven(room: Room, text: str) -> str:
    run = runs.start(room.writer, runs.Request(pinned(text, room.workflows), str(room.workspace)))
    room.drive()
    return run


def test_items_of_a_fan_out_share_the_place_of_their_run_and_hold_off_all_others(shop: StepsRoom) -> None:
    trace = shop.folder / "trace"
    shop.admission = Admission("r", places=(("", 1),))
    fan = FAN.replace("FOLDER", str(shop.folder))
    made = [shop.start(fan, {}), shop.start(fan, {})]

    def all_in() -> bool:
        return trace.exists() and trace.read_text().split() == ["in"] * 3 and bool(shop.state(made[1]).message)

    shop.during((shop.folder / "go").touch, all_in)
    shop.drive()
    assert [shop.state(run).status for run in made] == ["succeeded", "succeeded"]
    # Nothing of the second began before all of the first was over.
    lines = trace.read_text().split()
    assert (lines[:6], len(lines)) == ([*["in"] * 3, *["out"] * 3], 12)
    (queued,) = of_kind(shop.log, made[1], RunQueued)
    assert queued.behind == (made[0],)
    children = [each for run in made for each in family(shop.log, run)[1:]]
    assert len(children) == 6
    assert all(not of_kind(shop.log, each, RunQueued) for each in children)
    assert_sound(shop.log)
