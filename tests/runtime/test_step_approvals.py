"""A person looks at an agent's work: approves it, sends it back with words, or rejects it."""

from typing import Any

import pytest

from handrail.model.workflow.actions import ApprovalAction
from support.compiler.native_case import compile_text, shown
from support.runtime.steps_room import Hand, StepsRoom


def case(*steps: str) -> str:
    return "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)


REQUIRES = case(
    "{name: draft-it, prompt: Write the text., output: text, requires_approval: true}",
    "{name: last, command: 'echo \"${text}\"', output: echoed}",
)
DRAFTS: dict[str, Any] = {
    "draft-it": [
        {"say": "First draft.", "files": {"text.md": "one\n"}, "output": "one"},
        {"expect_prompt": "make it longer", "say": "Second.", "files": {"text.md": "two\n"}, "output": "two"},
    ]
}


def test_work_that_requires_approval_waits_for_a_person(shop: StepsRoom) -> None:
    state = shop.run(REQUIRES, DRAFTS)
    assert (state.status, state.reason) == ("waiting", "approval")
    assert state.message == "Step 'draft-it' is done: First draft."
    state = shop.answer(state.run, "approve")
    assert (state.status, state.names["echoed"]) == ("succeeded", "one")


def test_work_that_is_sent_back_is_done_again_in_the_same_conversation_with_the_words(shop: StepsRoom) -> None:
    run = shop.run(REQUIRES, DRAFTS).run
    state = shop.answer(run, "revise", "make it longer")
    assert (state.status, state.message) == ("waiting", "Step 'draft-it' is done: Second.")
    first, second = shop.calls(run, "draft-it")
    assert second.spec["session"] == shop.endings(run, "draft-it")[0].details["session"]
    assert "Write the text." in str(first.spec["prompt"])
    assert "Write the text." not in str(second.spec["prompt"])
    state = shop.answer(run, "approve")
    assert (state.status, state.names["echoed"]) == ("succeeded", "two")


def test_work_that_is_rejected_ends_the_run(shop: StepsRoom) -> None:
    run = shop.run(REQUIRES, DRAFTS).run
    state = shop.answer(run, "reject", "not at all")
    assert (state.status, state.message) == ("failed", "rejected at 'draft-it-approval': not at all")


def test_work_that_failed_or_was_left_out_needs_no_approval(shop: StepsRoom) -> None:
    text = case(
        "{name: one, prompt: Do it., requires_approval: true, on_fail: continue}",
        "{name: two, prompt: Do it., requires_approval: true, when: 1 == 2}",
        "{name: last, command: echo done}",
    )
    state = shop.run(text, {"one": {"fail": "api_error"}})
    assert state.status == "succeeded"
    assert [state.steps[f"{name}-approval"].status for name in ("one", "two")] == ["skipped", "skipped"]


def test_work_in_a_loop_is_approved_round_by_round(shop: StepsRoom) -> None:
    text = (
        "name: case\ndescription: a case\nsteps:\n  - name: all\n    type: loop\n    for: 2\n    max_iterations: 2\n"
        "    steps: [{name: one, prompt: Do it., requires_approval: true}]\n"
    )
    run = shop.run(text, {"all/one": [{"say": f"Turn {number}."} for number in (1, 2, 3)]}).run
    shop.answer(run, "approve")
    state = shop.answer(run, "revise", "once more")
    assert state.message == "Step 'one' is done: Turn 3."
    assert shop.answer(run, "approve").status == "succeeded"
    assert shop.path(run) == ["all@1/one", "all@2/one", "all@2/one"]


def test_the_step_that_asks_stands_in_the_plan_and_no_other_may_have_its_name() -> None:
    plan = compile_text(REQUIRES)[0].plan
    assert plan is not None
    asks = plan.steps[1]
    assert (asks.name, asks.description) == ("draft-it-approval", "step 'draft-it' requires approval")
    assert isinstance(asks.action, ApprovalAction)
    assert (asks.action.revise, asks.action.max_revisions) == ("draft-it", 3)
    for name in ("draft-it-approval", "draft_it_approval"):
        clash = compile_text(REQUIRES + f"  - {{name: {name}, command: echo hi}}\n")[0]
        assert not clash.ok
        assert "'draft-it-approval' is the name of the step that approves 'draft-it'" in shown(clash.diagnostics)


REVISES = case(
    "{name: plan, prompt: Make a plan.}",
    "{name: draft, prompt: Write the text.}",
    "{name: ok, type: approval, message: Is it good?, revise: plan}",
    "{name: last, prompt: Go on.}",
)


def test_words_of_a_revision_reach_the_next_prompt_of_the_step_they_are_for_and_no_other(shop: StepsRoom) -> None:
    run = shop.run(REVISES, {"default": {"say": "Yes.", "repeat": True}}).run
    shop.answer(run, "revise", "think of the costs")
    assert shop.answer(run, "approve").status == "succeeded"
    assert shop.path(run) == ["plan", "draft", "plan", "draft", "last"]
    said = [
        name for name in ("plan", "draft", "last") for text in shop.prompts(run, name) if "# What to change" in text
    ]
    assert said == ["plan"]
    assert "think of the costs" in shop.prompts(run, "plan")[1]
    assert shop.state(run).steps["plan"].feedback == "think of the costs"


def test_words_of_a_revision_are_not_lost_when_the_agent_cannot_take_them_at_once(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    fails = [{"fail": {"status": "overloaded", "retry_after": 1}}, {"fail": "crashed"}]
    last = {"expect_prompt": ["think of the costs"], "say": "Yes."}
    text = REVISES.replace("Make a plan.", "Make a plan., retry: 1")
    run = shop.run(text, {"plan": [{"say": "Yes."}, *fails, last], "default": {"repeat": True}}).run
    shop.answer(run, "revise", "think of the costs")
    hand.now += 1
    shop.drive()
    assert shop.answer(run, "approve").status == "succeeded"


def test_a_review_that_is_sent_back_begins_anew_and_is_told_why(shop: StepsRoom) -> None:
    text = case(
        "{name: look, type: agent-loop, reviewer: Look at it., fixer: Repair it.}",
        "{name: ok, type: approval, message: Is it good?, revise: look}",
    )
    clean: dict[str, Any] = {"output": {"findings": []}}
    run = shop.run(text, {"look/reviewer": [clean, {"expect_prompt": "look at the names", **clean}]}).run
    shop.answer(run, "revise", "look at the names")
    assert shop.answer(run, "approve").status == "succeeded"


def test_a_step_may_be_sent_back_only_as_often_as_its_approval_says(shop: StepsRoom) -> None:
    text = case("{name: one, prompt: Do it.}", "{name: ok, type: approval, message: Good?, revise: one, max: 1}")
    run = shop.run(text, {"one": {"say": "Yes.", "repeat": True}}).run
    shop.answer(run, "revise", "again")
    assert shop.state(run).reason == "approval"
    assert shop.path(run) == ["one", "one"]
    assert shop.answer(run, "approve").status == "succeeded"


TIMED = "{name: ok, type: approval, message: Is it good?, timeout: 1m, KEYS}", "{name: last, command: echo done}"


def timed_out(shop: StepsRoom, keys: str) -> str:
    """Run an approval that nobody answers in time."""
    hand = Hand()
    shop.clock = hand
    run = shop.run(case(*TIMED).replace("KEYS", keys), {}).run
    hand.now += 61
    shop.drive()
    return run


def test_an_answer_after_the_timeout_counts(shop: StepsRoom) -> None:
    run = timed_out(shop, "max: 1")
    state = shop.state(run)
    assert (state.status, state.message) == ("blocked", "nobody answered 'ok' in time")
    assert shop.answer(run, "approve").status == "succeeded"


def test_an_approval_that_is_resumed_after_its_timeout_is_asked_for_in_the_same_words(shop: StepsRoom) -> None:
    run = timed_out(shop, "max: 1")
    state = shop.resume(run)
    assert (state.status, state.reason, state.message) == ("waiting", "approval", "Is it good?")
    assert shop.answer(run, "approve").status == "succeeded"


@pytest.mark.parametrize(
    ("on_fail", "status", "ran"),
    [("continue", "succeeded", True), ("warn", "succeeded", True), ("fail", "failed", False)],
)
def test_what_an_approval_says_of_failure_holds_after_its_timeout(
    shop: StepsRoom, on_fail: str, status: str, *, ran: bool
) -> None:
    run = timed_out(shop, f"on_fail: {on_fail}")
    assert (shop.state(run).status, "last" in shop.path(run)) == (status, ran)
