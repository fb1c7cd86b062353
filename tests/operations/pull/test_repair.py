"""A connected agent that is refused repairs it alone: the same token, the newest one, a later session all go on."""

from collections.abc import Callable

import pytest

from handrail.engine.state.preferences import PreferenceChange
from handrail.errors import UsageError
from handrail.model.history.events import RunResumed, StepEnded
from handrail.operations.driving.resume import list_resumable_runs, resume_family
from handrail.operations.pull.take_over import hand_to_agent, handover
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prefer import prefer
from handrail.operations.views.overview import line_for_run
from handrail.operations.views.run_document import LoggedRuns
from support.pull.room import Json, Pull, Said, definition, step

TIDY = """\
name: NAME
steps:
  - {name: page, prompt: Write the page., done_when: [{exists: page.md}]}
  - {name: last, prompt: Say goodbye.}
"""
GATED = """\
name: NAME
steps:
  - {name: page, prompt: Write the page.}
  - {name: check, CHECK}
  - {name: last, prompt: Say goodbye.}
"""
CHECKS = [
    "type: gate, command: grep -q tidy page.md",
    "type: gate, checks: {words: grep -q tidy page.md}",
    "command: grep -q tidy page.md, on_fail: block",
]
NEEDS: Json = {"capabilities": {"web_browsing": "required"}}
Again = Callable[[Pull, Said, Said], Said]


def with_the_same_token(pull: Pull, first: Said, refused: Said) -> Said:
    assert refused.token != first.token
    return pull.advance(first)


def with_other_words(pull: Pull, first: Said, refused: Said) -> Said:
    del refused
    return pull.advance(first, "Now it is there.")


def with_the_newest_token(pull: Pull, first: Said, refused: Said) -> Said:
    del first
    return pull.advance(refused)


def after_looking_again(pull: Pull, first: Said, refused: Said) -> Said:
    del first
    looked = pull.rehydrate(refused)
    assert looked.data["retryable"]
    return pull.advance(looked)


def in_a_later_session(pull: Pull, first: Said, refused: Said) -> Said:
    del refused
    later = pull.again()
    found = later.call("resume_session", workspacePath=str(pull.workspace), runId=first.run)
    looked = later.rehydrate(found.data["candidates"][0]["resumeToken"])
    said = later.advance(looked)
    later.close()
    return said


def after_a_person_resumed(pull: Pull, first: Said, refused: Said) -> Said:
    resume_family(pull.writer, first.run, "person:ann")
    pull.drive()
    held = pull.state(first.run).held_by
    assert held.startswith("connected:")
    return pull.advance(refused)


WAYS = [
    with_the_same_token,
    with_other_words,
    with_the_newest_token,
    after_looking_again,
    in_a_later_session,
    after_a_person_resumed,
]


@pytest.mark.parametrize("again", WAYS)
def test_work_that_is_handed_in_too_early_is_handed_in_again_once_its_proof_holds(pull: Pull, again: Again) -> None:
    first = pull.start(pull.add(TIDY, "tidy"))
    refused = pull.advance(first)
    assert (refused.codes, refused.data["retryable"], refused.address) == (["NOT_PROVEN"], True, "page")
    assert "page.md exists" in refused.text
    assert refused.data["nextCall"]["params"]["intent"] == "advance"
    (pull.workspace / "page.md").write_text("tidy\n")
    last = again(pull, first, refused)
    assert (last.data["kind"], last.address) == ("ok", "last")
    assert pull.advance(last).complete
    pull.assert_sound()


@pytest.mark.parametrize("again", WAYS)
def test_a_proof_that_is_still_red_refuses_again_as_often_as_it_is_handed_in(pull: Pull, again: Again) -> None:
    first = pull.start(pull.add(TIDY, "tidy"))
    refused = pull.advance(first)
    for _ in range(2):
        refused = again(pull, first, refused)
        assert (refused.codes, refused.data["retryable"], refused.address) == (["NOT_PROVEN"], True, "page")
    ended = [event for event in pull.events(first.run) if isinstance(event, StepEnded)]
    assert [event.status for event in ended] == ["failed"] * 3
    (pull.workspace / "page.md").write_text("tidy\n")
    assert pull.advance(refused).address == "last"
    pull.assert_sound()


@pytest.mark.parametrize(("again", "check"), [*((way, CHECKS[0]) for way in WAYS), *((WAYS[0], c) for c in CHECKS[1:])])
def test_a_check_of_handrails_own_that_is_red_is_looked_at_again(pull: Pull, again: Again, check: str) -> None:
    (pull.workspace / "page.md").write_text("wild\n")
    first = pull.start(pull.add(GATED.replace("CHECK", check), "gated"))
    refused = pull.advance(first)
    assert (refused.codes, refused.data["retryable"], refused.address) == (["RUN_BLOCKED"], True, None)
    assert refused.data["nextCall"]["params"]["intent"] == "advance"
    still = pull.advance(refused)
    assert (still.codes, still.data["retryable"]) == (["RUN_BLOCKED"], True)
    (pull.workspace / "page.md").write_text("tidy\n")
    last = again(pull, first, still)
    assert (last.data["kind"], last.address) == ("ok", "last")
    assert pull.advance(first).address == "last", "a call that got lost is answered by where it led"
    assert pull.advance(last).complete
    pull.assert_sound()


def test_a_person_who_repairs_what_a_gate_found_resumes_the_walk(pull: Pull) -> None:
    (pull.workspace / "page.md").write_text("wild\n")
    first = pull.start(pull.add(GATED.replace("CHECK", CHECKS[0]), "gated"))
    refused = pull.advance(first)
    assert (refused.codes, pull.state(first.run).status) == (["RUN_BLOCKED"], "blocked")
    (pull.workspace / "page.md").write_text("tidy\n")
    runs.resume(pull.writer, first.run, "person:ann")
    pull.drive()
    assert pull.rehydrate(refused).address == "last"
    pull.assert_sound()


def test_what_an_agent_resumes_is_recorded_as_its_own_doing(pull: Pull) -> None:
    first = pull.start(pull.add(TIDY, "tidy"))
    pull.advance(pull.advance(first))
    resumed = [event.by for event in pull.events(first.run) if isinstance(event, RunResumed)]
    assert resumed == [pull.state(first.run).held_by]


def test_the_tries_that_a_step_has_come_first_and_any_token_of_them_goes_on(pull: Pull) -> None:
    first = pull.start(pull.add(TIDY.replace("}]}", "}], retry: 1}"), "tidy"))
    second = pull.advance(first)
    assert (second.codes, pull.state(first.run).status) == (["NOT_PROVEN"], "running")
    third = pull.advance(first)
    assert (third.codes, pull.state(first.run).status) == (["NOT_PROVEN"], "blocked")
    (pull.workspace / "page.md").write_text("tidy\n")
    assert pull.advance(second).address == "last"


def seen(status: str) -> Json:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


@pytest.mark.parametrize("newest", [True, False])
def test_a_capability_that_is_there_after_all_lets_the_agent_go_on(pull: Pull, newest: bool) -> None:
    first = pull.start(definition(step("one"), step("two"), **NEEDS))
    blocked = pull.advance(first, artifacts=[seen("unavailable")])
    assert (blocked.codes, blocked.address) == (["REQUIRED_CAPABILITY_UNAVAILABLE"], "one")
    assert pull.state(first.run).status == "blocked"
    size = pull.size()
    assert pull.rehydrate(blocked).codes == blocked.codes
    assert pull.size() == size
    again = pull.advance(blocked)
    assert (again.codes, again.data["retryable"]) == (["REQUIRED_CAPABILITY_UNAVAILABLE"], True)
    at = pull.advance(again if newest else first, artifacts=[seen("available")])
    assert (at.address, at.warnings) == ("two", [])
    assert pull.advance(at).complete
    pull.assert_sound()


@pytest.mark.parametrize("resumed", [True, False])
def test_a_capability_that_a_person_lets_be_missing_lets_the_same_call_go_on(pull: Pull, resumed: bool) -> None:
    first = pull.start(definition(step("one"), step("two"), **NEEDS))
    pull.advance(first, artifacts=[seen("unavailable")])
    prefer(pull.writer, first.run, PreferenceChange(by="person:ann", risk="aggressive"))
    pull.drive()
    if resumed:
        resume_family(pull.writer, first.run, "person:ann")
        pull.drive()
    assert pull.advance(first, artifacts=[seen("unavailable")]).address == "two"


def test_a_step_that_was_refused_too_often_waits_for_a_person_whose_resume_starts_it_over(pull: Pull) -> None:
    said = first = pull.start(definition(step("one"), step("two")))
    for number in range(10):
        said = pull.advance(said, notes=None, context={"try": number})
    assert (said.codes, said.data["retryable"]) == (["RUN_BLOCKED"], False)
    assert f"handrail resume {first.run}" in said.text
    assert pull.advance(said).codes == ["RUN_BLOCKED"], "it is for a person now"
    resume_family(pull.writer, first.run, "person:ann")
    pull.drive()
    assert pull.rehydrate(said).address == "one"
    assert pull.advance(said).address == "two"
    pull.assert_sound()


def test_what_a_person_is_asked_is_not_called_retryable_and_a_call_of_the_agent_answers_nothing(pull: Pull) -> None:
    first = pull.start(pull.add("name: NAME\nsteps:\n  - {name: ok, type: approval}\n", "asks"))
    assert (first.codes, first.data["retryable"]) == (["USER_ONLY_DEPENDENCY"], False)
    size = pull.size()
    assert pull.advance(first).codes == ["USER_ONLY_DEPENDENCY"]
    assert pull.size() == size


def test_a_person_takes_a_run_over_from_the_agent_that_holds_it(pull: Pull) -> None:
    first = pull.start(pull.add(TIDY, "tidy"))
    refused = pull.advance(first)
    holder = hand_to_agent(pull.writer, first.run, "person:ann")
    pull.drive()
    assert pull.advance(refused).code == "HELD_BY_ANOTHER"
    looked = pull.rehydrate(handover(pull.calls.ctx, first.run, holder).continue_token)
    assert (looked.address, looked.codes) == ("page", ["NOT_PROVEN"])
    (pull.workspace / "page.md").write_text("tidy\n")
    assert pull.advance(looked).address == "last"
    pull.assert_sound()


def test_the_release_of_a_blocked_run_gives_it_to_handrails_own_agents(pull: Pull) -> None:
    first = pull.start(pull.add(TIDY, "tidy"))
    refused = pull.advance(first)
    runs.release(pull.writer, first.run, "person:ann")
    pull.drive()
    assert (pull.state(first.run).held_by, pull.state(first.run).status) == ("", "blocked")
    assert pull.advance(refused).code == "HELD_BY_ANOTHER"


def test_the_list_of_runs_names_the_command_that_works_on_a_held_run(pull: Pull) -> None:
    blocked = pull.advance(pull.start(pull.add(TIDY, "tidy")))
    asks = pull.start(pull.add("name: NAME\nsteps:\n  - {name: ok, type: approval}\n", "asks"))
    walks = pull.start(definition(step("one")))
    lines = {each.run: line_for_run(LoggedRuns(pull.log), each.run).next_step for each in (blocked, asks, walks)}
    assert lines == {
        blocked.run: f"handrail resume {blocked.run}",
        asks.run: f"handrail approve {asks.run}",
        walks.run: f"handrail release {walks.run}",
    }
    assert blocked.run in list_resumable_runs(pull.log)
    with pytest.raises(UsageError, match="is held by connected agent"):
        resume_family(pull.writer, walks.run, "person:ann")


def test_an_agent_takes_nothing_over_from_another(pull: Pull) -> None:
    first = pull.start(definition(step("one")))
    for asker in ("", "connected:claude", "agent:fix-1/a"):
        with pytest.raises(UsageError, match="is held by connected agent"):
            hand_to_agent(pull.writer, first.run, asker)
