"""What a person says to an agent that does not listen while it works: told with its next call, and never lost."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.agents.registry import BuiltInCatalog
from handrail.errors import UsageError
from handrail.model.history.events import MessageGiven, StepPassedOver
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.tell import tell
from handrail.operations.views.event_sentences import event_sentence
from handrail.operations.views.explain import explain
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom

CATALOG = BuiltInCatalog()
WAIT = "touch there.log; while ! test -e go.log; do sleep 0.01; done"
WORKS: dict[str, Any] = {"say": "First.", "output": "first", "run": WAIT}
MORE: dict[str, Any] = {"say": "Second.", "output": "second"}


def case(*steps: str) -> str:
    return "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)


ONE = case("{name: one, prompt: Do it., output: said}")


def there(shop: StepsRoom) -> list[Path]:
    return list((shop.folder / "data" / "worktrees").rglob("there.log"))


def told_during(shop: StepsRoom, run: str, *texts: str) -> None:
    """Drive, tell the agent something while it works, and let it end when that is recorded."""

    def act() -> None:
        for text in texts:
            tell(shop.writer, run, text, "ann", CATALOG)
        there(shop)[0].with_name("go.log").touch()

    shop.during(act, lambda: bool(there(shop)))


def test_an_agent_is_told_in_its_conversation_when_its_answer_is_done(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"one": [WORKS, MORE]})
    told_during(shop, run, "use tabs")
    state = shop.state(run)
    assert (state.status, state.names["said"], state.messages) == ("succeeded", "second", ())
    first, second = shop.calls(run, "one")
    assert second.spec["session"] == shop.endings(run, "one")[0].details["session"]
    assert "use tabs" not in str(first.spec["prompt"])
    assert 'of="message">\nuse tabs\n</message-' in str(second.spec["prompt"])
    assert str(second.spec["prompt"]).startswith(
        "# A message for you\n\nA person following the run sent you this message"
    )
    (given,) = of_kind(shop.log, run, MessageGiven)
    assert (given.text, given.by, given.address) == ("use tabs", "person:ann", "one")


def test_several_messages_are_told_together_in_their_order(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"one": [WORKS, MORE]})
    told_during(shop, run, "use tabs", "no, spaces")
    (_, prompt) = shop.prompts(run, "one")
    assert prompt.index("use tabs") < prompt.index("no, spaces")
    assert len(shop.calls(run, "one")) == 2


def test_a_message_while_no_agent_works_is_told_to_the_next_one_once(shop: StepsRoom) -> None:
    text = case(
        "{name: ok, type: approval, message: Go on?}", "{name: one, prompt: Do it.}", "{name: two, prompt: Do more.}"
    )
    state = shop.run(text, {"default": {**MORE, "repeat": True}})
    said = tell(shop.writer, state.run, "use tabs", "ann", CATALOG)
    assert (said.step, said.words) == ("", "the next agent gets the message once the run continues")
    state = shop.answer(state.run, "approve")
    assert state.status == "succeeded"
    assert ["use tabs" in shop.prompts(state.run, name)[0] for name in ("one", "two")] == [True, False]


def test_what_no_agent_came_for_is_named_at_the_end(shop: StepsRoom) -> None:
    text = case("{name: ok, type: approval, message: Go on?}", "{name: tidy, command: 'true'}")
    state = shop.run(text, {})
    tell(shop.writer, state.run, "use tabs", "ann", CATALOG)
    state = shop.answer(state.run, "approve")
    assert (state.status, state.message) == ("succeeded", "not delivered, since no further agent was called: use tabs")


def test_a_call_that_failed_has_not_heard_it(shop: StepsRoom) -> None:
    text = case("{name: ok, type: approval, message: Go on?}", "{name: one, prompt: Do it., retry: 1}")
    state = shop.run(text, {"one": [{"fail": {"status": "crashed"}}, MORE]})
    tell(shop.writer, state.run, "use tabs", "ann", CATALOG)
    state = shop.answer(state.run, "approve")
    assert (state.status, ["use tabs" in each for each in shop.prompts(state.run, "one")]) == ("succeeded", [True] * 2)


def test_those_who_judge_are_not_told_and_those_who_fix_are(shop: StepsRoom) -> None:
    finding = {"severity": "high", "title": "a bug", "file": "README.md", "line": 1, "detail": "it is wrong"}
    turns: dict[str, Any] = {
        "look/reviewer": [{"output": {"findings": [finding]}}, {"output": {"findings": []}}],
        "look/fixer": {"say": "Fixed.", "files": {"README.md": "mended\n"}},
    }
    look = "{name: look, type: agent-loop, reviewer: Look at it., fixer: Repair it., max_iterations: 2}"
    state = shop.run(case("{name: ok, type: approval, message: Go on?}", look), turns)
    tell(shop.writer, state.run, "use tabs", "ann", CATALOG)
    assert shop.answer(state.run, "approve").status == "succeeded"
    calls = ("look@1/reviewer", "look@1/fixer", "look@2/reviewer")
    assert ["use tabs" in shop.prompts(state.run, each)[0] for each in calls] == [False, True, False]


def test_a_message_outlives_whoever_drives(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"one": [WORKS, MORE]})
    driver = shop.drive_elsewhere()
    shop.until(lambda: bool(there(shop)))
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    said = tell(shop.writer, run, "use tabs", "ann", CATALOG)
    assert (said.step, said.words) == ("one", "the agent of 'one' gets the message when it has finished its answer")
    there(shop)[0].with_name("go.log").touch()
    shop.drive()
    assert shop.state(run).names["said"] == "second"
    assert ["use tabs" in each for each in shop.prompts(run, "one")] == [False, True]


def test_a_rewind_tells_it_again_and_a_copy_hears_it_once(shop: StepsRoom) -> None:
    text = case(
        "{name: one, prompt: Do it.}", "{name: ok, type: approval, message: Go on?}", "{name: two, prompt: Do more.}"
    )
    state = shop.run(text, {"default": {**MORE, "repeat": True}})
    tell(shop.writer, state.run, "use tabs", "ann", CATALOG)
    runs.rewind(shop.writer, state.run, "one", "ann")
    shop.drive()
    assert "use tabs" in shop.prompts(state.run, "one")[1]
    tell(shop.writer, state.run, "be brief", "ann", CATALOG)
    shop.drive()
    copy = runs.fork(shop.writer, state.run, None, "ann")
    shop.drive()
    assert shop.answer(copy, "approve").status == "succeeded"
    (prompt,) = shop.prompts(copy, "two")
    assert ("be brief" in prompt, "use tabs" in prompt) == (True, False)
    assert shop.state(copy).messages == ()


def test_what_cannot_be_told_is_refused_with_what_helps(shop: StepsRoom) -> None:
    state = shop.run(ONE, {"one": {"ask": "Tabs or spaces?"}})
    with pytest.raises(UsageError, match="is waiting for an answer") as refused:
        tell(shop.writer, state.run, "tabs", "ann", CATALOG)
    assert refused.value.next_step == f'handrail answer {state.run} "..."'
    runs.stop(shop.writer, state.run, "ann")
    shop.drive()
    for text, why in (
        ("too late", "has already ended"),
        (" ", "the message is empty"),
        ("x" * 20_001, "more than 20000"),
    ):
        with pytest.raises(UsageError, match=why):
            tell(shop.writer, state.run, text, "ann", CATALOG)


def test_an_answer_stands_where_the_budget_allows_no_call_to_tell_its_agent_more(shop: StepsRoom) -> None:
    priced = {**WORKS, "usage": {"input_tokens": 600, "output_tokens": 400, "cost": 1.0}}
    steps = ("{name: one, prompt: Do it., output: said}", "{name: two, command: 'echo ${said}', output: read}")
    text = case(*steps).replace("steps:", "budget: {usd: 1, at_limit: finish}\nsteps:", 1)
    run = shop.start(text, {"one": [priced, MORE]})
    told_during(shop, run, "use tabs")
    state = shop.state(run)
    assert (state.status, state.steps["one"].status) == ("succeeded", "succeeded")
    assert (state.names["said"], state.names["read"]) == ("first", "first")
    assert (len(shop.calls(run, "one")), state.message) == (
        1,
        "not delivered, since no further agent was called: use tabs",
    )
    (kept,) = of_kind(shop.log, run, StepPassedOver)
    assert event_sentence(kept) == snapshot(
        "its answer is used: the budget is used up: $1.00 of $1.00; not delivered to its agent: use tabs"
    )
    assert event_sentence(kept) in [reason.what for reason in explain(shop.log, run, "one")]
