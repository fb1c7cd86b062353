"""Sessions without a workflow: notes are kept, found again, and gone on from."""

from support.pull.room import Pull


def test_notes_are_kept_again_and_again_until_the_work_is_over(pull: Pull) -> None:
    said = pull.start("keep-notes", goal="Find out why the tests are slow")
    assert "Find out why the tests are slow" in said.pending["prompt"]
    for number in range(3):
        said = pull.advance(said, notes=f"Looked at part {number}.")
        assert (said.pending["stepId"], said.complete) == ("note", False)
    said = pull.advance(said, notes="It was the disk.", context={"workIsOver": True})
    assert said.complete
    pull.assert_sound()


def test_a_session_of_notes_is_found_in_another_conversation_and_tells_what_was_done(pull: Pull) -> None:
    said = pull.start("keep-notes", goal="Find out why the tests are slow")
    pull.advance(said, notes="The fixture opens a database each time.")
    found = pull.call("resume_session", query="fixture database").data["candidates"][0]
    again = pull.call("continue_workflow", continueToken=found["resumeToken"], intent="rehydrate")
    assert "The fixture opens a database each time." in again.text
    assert pull.advance(again, notes="Going on.").pending["stepId"] == "note"


def test_a_point_of_it_can_be_kept_without_handing_in(pull: Pull) -> None:
    said = pull.start("keep-notes", goal="Try something")
    kept = pull.checkpoint(said)
    assert kept.data["nextCall"]["tool"] == "continue_workflow"
    assert pull.rehydrate(str(kept.data["resumeToken"])).pending["stepId"] == "note"
