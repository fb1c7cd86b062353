"""What a guided workflow that the engine walks asks a person for: confirmations, and capabilities that lack."""

from typing import Any

from handrail.engine.state.preferences import PreferenceChange
from handrail.operations.runs.prefer import prefer
from support.runtime.guided_flows import flow, notes, refusals, step
from support.runtime.steps_room import StepsRoom, Turns

NEVER = "full_auto_never_stop"


def seen(status: str) -> dict[str, Any]:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


def test_a_person_confirms_a_step_or_sends_it_back_before_the_next_one(shop: StepsRoom) -> None:
    script: Turns = {
        "plan": [notes("a plan"), {"expect_prompt": ["name the files"], **notes("a plan with files")}],
        "end": [notes("done")],
    }
    state = shop.run(flow(step("plan", requireConfirmation=True), step("end")), script)
    assert (state.status, state.reason, state.message) == ("waiting", "approval", "confirm 'Plan'")
    state = shop.answer(state.run, "revise", "name the files")
    assert (state.status, state.reason) == ("waiting", "approval")
    state = shop.answer(state.run, "approve")
    assert state.status == "succeeded"
    output: Any = state.steps["plan"].output
    assert (output["notes"], output["confirmation"]["confirmed"]) == ("a plan with files", True)


def test_a_run_that_never_stops_goes_on_with_empty_hands_and_tells_it(shop: StepsRoom) -> None:
    run = shop.start(flow(step("plan", requireConfirmation=True)), {"plan": [notes("")]})
    prefer(shop.writer, run, PreferenceChange(by="ann", autonomy=NEVER))
    shop.drive()
    state = shop.state(run)
    assert state.status == "succeeded"
    assert [gap["severity"] for gap in state.gaps] == ["critical", "info"]


def test_a_capability_that_lacks_is_mended_and_the_same_conversation_goes_on(shop: StepsRoom) -> None:
    text = flow(step("plan"), capabilities={"web_browsing": "required"})
    script: Turns = {"plan": [notes(artifacts=[seen("unavailable")]), notes(artifacts=[seen("available")])]}
    state = shop.run(text, script)
    assert (state.status, state.reason) == ("blocked", "capability")
    state = shop.resume(state.run)
    assert state.status == "succeeded"
    assert refusals(shop, state.run) == [("plan", ["capability_unavailable"])]


def test_an_agent_reports_on_all_work_that_it_was_to_hand_on(shop: StepsRoom) -> None:
    split = {"id": "split", "type": "parallel", "title": "Split", "parallelDelegations": [{"workflowId": "audit"}] * 2}

    def result(number: int) -> dict[str, Any]:
        return {"kind": "wr.delegation_result", "delegation": number, "status": "done", "summary": "fine"}

    script: Turns = {
        "split": [
            notes("one", artifacts=[result(1)]),
            {"expect_prompt": ["nothing was reported on 2"], **notes("both", artifacts=[result(2)])},
        ]
    }
    state = shop.run(flow(split), script)
    assert state.status == "succeeded"
    output: Any = state.steps["split"].output
    assert list(output["delegations"]) == ["1", "2"]
