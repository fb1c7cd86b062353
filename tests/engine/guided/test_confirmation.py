"""Confirmations: told by an agent that is connected, decided by a person where the engine drives."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.engine.decide.complete_guided import Submission
from handrail.engine.decide.from_outside import Answer, decide_approval
from handrail.engine.guided.repairs import NOTES, example_output
from handrail.engine.guided.texts import confirmation_example, step_text
from handrail.model.history.events import ApprovalRequested, Decision
from handrail.model.workflow.plan import Plan
from support.engine.guided_preferences import gaps_of, walk_with
from support.engine.guided_walking import BY_ARTIFACT, GuidedWalk, control, guided_plan, loop, step, var

NEVER = "full_auto_never_stop"
ON_USER = "full_auto_stop_on_user_deps"
DONE = Submission(by="me", notes="the plan is written")


def plan_asking(asked: Any = True) -> Plan:
    return guided_plan(step("one", requireConfirmation=asked), step("two"))


def saying(said: Any, **keys: Any) -> Submission:
    return Submission(by="me", notes="done", artifacts=({"kind": "wr.confirmation", "confirmed": said, **keys},))


def confirmation_of(walk: GuidedWalk) -> Any:
    output: Any = walk.state.steps["one"].output
    return output.get("confirmation")


def alone(plan: Plan) -> GuidedWalk:
    return GuidedWalk(plan).start_alone().settle()


def decide(walk: GuidedWalk, decision: Decision, feedback: str = "") -> None:
    walk.record(decide_approval(walk.plan, walk.state, Answer(decision, "ann", feedback), walk.now))
    walk.settle()


def test_a_connected_agent_is_told_to_wait_for_a_yes_and_may_say_who_gave_it() -> None:
    walk = walk_with(plan_asking())
    assert "wait for a yes" in step_text(walk.spec)
    assert not walk.give(saying(said=True, by="ann")).is_refused
    assert confirmation_of(walk) == {"asked": "user", "confirmed": True, "by": "ann", "told_by": "me"}


@pytest.mark.parametrize("asked", [True, {"kind": "coordinator_eval"}])
def test_a_step_without_the_yes_that_it_asks_for_is_refused_with_the_artifact_that_says_it(asked: Any) -> None:
    walk = walk_with(plan_asking(asked))
    (short,) = walk.give(DONE).shortfalls
    assert (short.code, short.example) == ("not_confirmed", confirmation_example())
    assert not walk.give(saying(said=True)).is_refused


@pytest.mark.parametrize("given", [DONE, saying(said=True, by="ann")])
def test_a_human_approval_waits_for_a_person_whatever_a_connected_agent_says(given: Submission) -> None:
    walk = walk_with(plan_asking({"kind": "human_approval"}))
    assert "Handrail then asks a person" in step_text(walk.spec)
    assert example_output(walk.spec) == {"notesMarkdown": NOTES}
    assert not walk.give(given).is_refused
    walk.settle()
    assert (walk.state.status, walk.state.reason) == ("waiting", "approval")
    assert confirmation_of(walk) == {"asked": "human_approval", "confirmed": False}
    decide(walk, "approve")
    assert confirmation_of(walk)["confirmed"] is True
    assert walk.performed == ["one", "two"]


def test_a_no_refuses_the_step_whatever_is_preferred() -> None:
    for autonomy in ("guided", ON_USER, NEVER):
        walk = walk_with(plan_asking(), autonomy)
        assert [each.code for each in walk.give(saying(said=False)).shortfalls] == ["not_confirmed"]


def test_a_condition_says_when_a_step_is_to_be_confirmed() -> None:
    walk = walk_with(plan_asking(var("risky", equals=True)))
    walk.give(DONE)
    assert confirmation_of(walk) is None


def test_a_run_that_never_stops_asks_nobody_and_says_so_in_the_end() -> None:
    walk = walk_with(plan_asking(), NEVER)
    assert "confirmation" not in walk.spec
    walk.give(DONE)
    assert gaps_of(walk) == snapshot(
        [("user_only_dependency", "info", "nobody was asked to confirm step 'one' (user)")]
    )


def test_a_run_that_stops_for_its_user_still_asks_the_user_but_no_coordinator() -> None:
    assert walk_with(plan_asking(), ON_USER).spec["confirmation"] == "user"
    walk = walk_with(plan_asking({"kind": "coordinator_eval"}), ON_USER)
    assert "confirmation" not in walk.spec
    walk.give(DONE)
    assert [severity for _, severity, _ in gaps_of(walk)] == ["info"]
    assert walk_with(plan_asking({"kind": "coordinator_eval"})).spec["confirmation"] == "coordinator_eval"


def test_where_the_engine_drives_a_person_confirms_before_the_step_is_over() -> None:
    walk = alone(plan_asking())
    assert "wait for a yes" not in str(walk.spec["call"])
    walk.give(saying(said=True))
    walk.settle()
    asked = walk.events[-1]
    assert isinstance(asked, ApprovalRequested)
    assert (asked.message, asked.show, asked.revise) == ("confirm 'Title of one'", {"notes": "done"}, "one")
    assert (walk.state.status, walk.state.reason, walk.performed) == ("waiting", "approval", ["one"])
    decide(walk, "approve")
    assert walk.performed == ["one", "two"]
    assert confirmation_of(walk) == {"decision": "approve", "feedback": "", "by": "ann", "confirmed": True}
    output: Any = walk.state.steps["one"].output
    assert output["notes"] == "done"


def test_a_step_that_is_sent_back_is_done_again_with_what_the_person_said() -> None:
    walk = alone(plan_asking())
    walk.give(DONE)
    decide(walk.settle(), "revise", "name the files")
    assert walk.performed == ["one", "one"]
    assert "name the files" in walk.spec["call"]["prompt"]
    walk.give(DONE)
    decide(walk.settle(), "approve")
    assert walk.performed == ["one", "one", "two"]
    assert "name the files" not in walk.spec["call"]["prompt"]


def test_a_step_that_is_rejected_stops_the_run() -> None:
    walk = alone(plan_asking())
    walk.give(DONE)
    decide(walk.settle(), "reject", "not this way")
    assert (walk.state.status, walk.state.message) == snapshot(("blocked", "step 'one' failed: not this way"))


def test_a_stop_ends_its_loop_once_it_is_confirmed() -> None:
    look = step("look", requireConfirmation=True)
    plan = guided_plan(loop("again", look, type="while", conditionSource=BY_ARTIFACT), step("then"))
    walk = alone(plan)
    walk.give(Submission(by="", notes="enough", artifacts=(control("stop"),)))
    decide(walk.settle(), "revise", "look once more")
    walk.give(Submission(by="", notes="enough", artifacts=(control("stop"),)))
    decide(walk.settle(), "approve")
    assert [address.rpartition("/")[2] for address in walk.performed] == ["look", "look", "then"]


def test_what_is_to_be_confirmed_goes_on_in_a_copy() -> None:
    walk = alone(plan_asking())
    walk.give(DONE)
    walk.settle()
    copy = walk.fork(len(walk.events))
    copy.go()
    assert isinstance(copy.events[-1], ApprovalRequested)
