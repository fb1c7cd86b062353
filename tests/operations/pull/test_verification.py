"""The command that verifies a guided step is run by the engine, whoever performs the step."""

import json

from handrail.engine.state.preferences import PreferenceChange
from handrail.model.history.events import GapRecorded, StepEnded, StepRefused
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prefer import prefer
from support.pull.room import Json, Pull, definition, step
from support.runtime.guided_flows import notes
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom

VERIFIED: Json = definition(step("make", verification={"command": "test -e done.txt"}), step("last"))
UNVERIFIED: Json = definition(step("make"), step("last"))


def test_a_connected_agent_completes_the_step_only_once_the_command_passes(pull: Pull) -> None:
    first = pull.start(VERIFIED)
    assert "Handrail runs `test -e done.txt` when you submit this step" in first.pending["prompt"]
    red = pull.advance(first, context={"seen": "yes"})
    assert (red.codes, red.address) == (["NOT_PROVEN"], "make")
    assert pull.advance(red).codes == ["NOT_PROVEN"]
    (pull.workspace / "done.txt").write_text("done\n")
    second = pull.advance(red, context={"seen": "yes"})
    assert second.address == "last"
    assert pull.state(first.run).context["seen"] == "yes"
    assert pull.advance(second).complete
    pull.assert_sound()


def test_without_the_command_the_same_call_completes_the_step(pull: Pull) -> None:
    assert pull.advance(pull.start(UNVERIFIED)).address == "last"


def test_what_else_is_missing_is_told_before_the_command_is_run(pull: Pull) -> None:
    first = pull.start(VERIFIED)
    assert pull.advance(first, notes=None).codes == ["MISSING_REQUIRED_NOTES"]
    assert [each.shortfalls[0].code for each in of_kind(pull.log, first.run, StepRefused)] == ["missing_notes"]


def test_a_called_agent_is_told_that_the_command_fails_and_goes_on(shop: StepsRoom) -> None:
    turns = [
        notes("made nothing"),
        {"expect_prompt": ["done.txt"], "files": {"done.txt": "done\n"}, **notes("made it")},
    ]
    state = shop.run(json.dumps(VERIFIED, indent=1), {"make": turns, "last": notes("over")})
    assert (state.status, state.spent.agent_calls) == ("succeeded", 3)
    assert [each.shortfalls[0].code for each in of_kind(shop.log, state.run, StepRefused)] == ["not_proven"]
    assert of_kind(shop.log, state.run, StepEnded)[0].details["proofs"]


def test_a_run_that_never_stops_goes_on_with_a_gap(pull: Pull) -> None:
    first = pull.start(VERIFIED)
    prefer(pull.writer, first.run, PreferenceChange(by="ann", autonomy="full_auto_never_stop"))
    pull.drive()
    assert pull.advance(first).address == "last"
    assert [each.severity for each in of_kind(pull.log, first.run, GapRecorded)] == ["critical"]


APPROVED = """\
name: NAME
steps:
  - {name: draft, prompt: Write it., requires_approval: true}
  - {name: use, prompt: Use it.}
"""


def test_a_step_that_requires_approval_waits_for_a_person_in_both_drivers(shop: StepsRoom, pull: Pull) -> None:
    state = shop.run(APPROVED.replace("NAME", "case"), {"draft": {"say": "Written."}, "use": {"say": "Used."}})
    assert (state.status, state.reason) == ("waiting", "approval")
    waits = pull.advance(pull.start(pull.add(APPROVED, "case")))
    assert waits.codes == ["USER_ONLY_DEPENDENCY"]
    assert pull.advance(waits).codes == ["USER_ONLY_DEPENDENCY"]
    runs.answer(pull.writer, waits.run, "approve", "ann")
    pull.drive()
    assert pull.rehydrate(waits).address == "use"
