"""A run changes hands: what the engine has under way is finished first, and what it may not perform says so."""

import asyncio
import json
from contextlib import closing
from pathlib import Path

from inline_snapshot import snapshot

from handrail.model.history.events import StepEnded
from handrail.model.workflow.settings import NO_POLICY
from handrail.operations.delivery.export_import import ImportContext, export, import_run
from handrail.operations.delivery.release import ReleaseQuestion, release_imported
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.history import state_of
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import make_writer
from support.runtime.room import Room, of_kind, supervisor_of, until

SLOW = """
name: x
steps:
  - {name: a, command: 'echo up >> trace; until test -e go; do sleep 0.01; done'}
  - {name: b, prompt: Do it.}
"""


def test_the_step_in_the_engines_hands_is_finished_before_the_run_changes_hands(room: Room) -> None:
    run = room.start(SLOW)

    def take() -> None:
        runs.take(room.writer, run, "agent")
        (room.workspace / "go").touch()

    room.during(take, lambda: room.trace() == ["up"])
    kinds = [event.kind for event in room.log.read(run)]
    assert kinds == ["run_started", "step_began", "step_ended", "run_taken", "step_began"]
    assert room.log.inbox(run) == ()


def test_a_step_that_survived_its_driver_is_finished_before_the_run_changes_hands(room: Room) -> None:
    run = room.start(SLOW)

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
    state = room.state(run)
    assert state.pending is not None
    assert (state.pending.address, state.held_by) == ("b", "person:agent")


def test_an_imported_run_that_was_let_go_at_a_step_that_the_engine_cannot_perform_says_so(
    room: Room, tmp_path: Path
) -> None:
    text = (
        "name: x\nsteps:\n  - {name: ok, type: approval}\n  - {name: publish, type: pull-request, title: It is done.}\n"
    )
    run = room.start(text)
    room.drive()
    with closing(open_log(tmp_path / "other")) as log:
        arrival = ImportContext(by="ann", at=0.0, is_taken=lambda _: False)
        import_run(log, json.dumps(export(room.log, run)).encode(), arrival)
        runs.answer(make_writer(log), run, "approve", "ann")
        asyncio.run(supervisor_of(log, tmp_path / "other", {}).run_until_idle())
        question = ReleaseQuestion(
            run=run,
            original=run,
            workflow="x",
            commands=(),
            source=None,
            workspace=str(tmp_path),
            pass_env=(),
            agents=NO_POLICY,
        )
        release_imported(make_writer(log), question, "ann")
        asyncio.run(supervisor_of(log, tmp_path / "other", {}).run_until_idle())
        state = state_of(log, run)
    assert (state.status, state.reason) == ("blocked", "step")
    assert state.message == snapshot("step 'publish' was started by an agent that has released the run")
