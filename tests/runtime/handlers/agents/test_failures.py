"""Agents that fail, ask, hang, die and are told again: what a run makes of each outcome."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from handrail.model.history.events import RetryScheduled, StepBegan
from handrail.operations.runs import lifecycle as runs
from handrail.testing.leaks import processes_within
from support.moved_time import MovedTime
from support.runtime.room import of_kind
from support.runtime.steps_room import Hand, StepsRoom

pytestmark = pytest.mark.system  # takes long


def case(step: str, *more: str) -> str:
    return "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in (step, *more))


ONE = case("{name: one, prompt: Do the thing., output: said}")
DONE = {"say": "Done.", "output": "done"}


def failing(status: str, **more: Any) -> dict[str, Any]:
    return {"fail": {"status": status, "message": f"it is {status}", **more}}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("quota", "the agent has used up its quota"),
        ("rate_limited", "the agent is rate limited"),
        ("overloaded", "the agent's service is overloaded"),
        ("network", "the agent cannot reach its service"),
    ],
)
def test_an_agent_that_cannot_answer_now_is_waited_for_and_no_try_is_used(
    shop: StepsRoom, status: str, said: str
) -> None:
    hand = Hand()
    shop.clock = hand
    state = shop.run(ONE, {"one": [failing(status, retry_after=600), DONE]})
    reason = "quota" if status == "quota" else "timer"
    assert (state.status, state.reason, state.until) == ("waiting", reason, hand.now + 600)
    assert state.message == f"{said}: it is {status}"
    hand.now += 599
    shop.drive()
    assert shop.state(state.run).status == "waiting"
    hand.now += 1
    shop.drive()
    state = shop.state(state.run)
    assert (state.status, state.steps["one"].attempts, state.names["said"]) == ("succeeded", 1, "done")
    first, second = shop.calls(state.run, "one")
    assert second.spec["session"] == shop.endings(state.run, "one")[0].details["session"] != ""
    assert (first.spec["session"], "Do the thing." in str(second.spec["prompt"])) == ("", False)


def test_without_a_time_to_wait_the_pauses_double(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    run = shop.start(ONE, {"one": [failing("overloaded")] * 3 + [DONE]})
    for pause in (5, 10, 20):
        shop.drive()
        assert shop.state(run).until == hand.now + pause
        hand.now += pause
    shop.drive()
    assert shop.state(run).status == "succeeded"
    assert [each.attempt for each in of_kind(shop.log, run, StepBegan)] == [1, 1, 1, 1]


def test_an_agent_that_is_never_there_ends_the_waiting_with_a_person(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    run = shop.start(ONE, {"one": [{**failing("network", retry_after=1), "repeat": True}]})
    while shop.state(run).status != "blocked":
        shop.drive()
        hand.now += 1
    assert len(of_kind(shop.log, run, RetryScheduled)) == 12
    assert shop.state(run).message == "step 'one' cannot continue: the agent cannot reach its service: it is network"


def test_a_role_of_a_review_waits_for_its_agent_too(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    text = case("{name: look, type: agent-loop, reviewer: Look at it., fixer: Repair it.}")
    clean: dict[str, Any] = {"output": {"findings": []}}
    state = shop.run(text, {"look/reviewer": [failing("rate_limited", retry_after=30), clean]})
    assert (state.status, state.reason) == ("waiting", "timer")
    hand.now += 30
    shop.drive()
    assert shop.state(state.run).status == "succeeded"


@pytest.mark.parametrize(
    ("status", "said"), [("auth", "the agent is not logged in"), ("denied", "the agent was denied permission")]
)
def test_what_only_a_person_can_fix_blocks_and_says_what_to_do(shop: StepsRoom, status: str, said: str) -> None:
    text = case("{name: one, prompt: Do the thing., retry: 5, on_fail: continue}")
    state = shop.run(text, {"one": [failing(status), DONE]})
    assert (state.status, state.reason) == ("blocked", "step")
    assert state.message == f"step 'one' cannot continue: {said}: it is {status}"
    assert state.next_step == "fix that, then resume the run: the step starts over"
    assert shop.resume(state.run).status == "succeeded"


@pytest.mark.parametrize("status", ["timeout", "crashed", "no_output", "api_error", "limit", "cancelled"])
def test_a_call_that_went_wrong_uses_a_try(shop: StepsRoom, status: str) -> None:
    text = case("{name: one, prompt: Do the thing., retry: 2}")
    state = shop.run(text, {"one": [failing(status), failing(status), DONE]})
    assert (state.status, state.steps["one"].attempts) == ("succeeded", 3)
    assert "Try 2 of 3" in shop.prompts(state.run, "one")[1]
    assert "Try 3 of 3" in shop.prompts(state.run, "one")[2]


def test_after_the_last_try_the_run_is_blocked_with_the_reason(shop: StepsRoom) -> None:
    state = shop.run(
        case("{name: one, prompt: Do the thing., retry: 1}"), {"one": {**failing("api_error"), "repeat": True}}
    )
    assert (state.status, state.reason) == ("blocked", "step")
    assert state.message == "step 'one' failed: the agent reported an error: it is api_error"


def test_an_agent_that_hangs_is_ended_at_the_timeout(shop: StepsRoom, moved_time: MovedTime) -> None:
    text = case("{name: one, prompt: Do the thing., timeout: 1h, retry: 1}")
    run = shop.start(text, {"one": [{"run": "touch hangs; exec sleep 600"}, DONE]})
    hangs = shop.folder / "data" / "worktrees"
    shop.during(lambda: moved_time.move(3601), lambda: any(hangs.glob("*/*/hangs")))
    state = shop.state(run)
    assert (state.status, state.steps["one"].attempts) == ("succeeded", 2)
    assert "it took longer than 3600 s" in shop.endings(run, "one")[0].error


def test_a_result_of_the_wrong_shape_goes_back_to_the_agent_in_its_conversation(shop: StepsRoom) -> None:
    text = case("{name: one, prompt: Count them., output: found, returns: {count: int}, retry: 1}")
    told = ["Try 2 of 2", "count"]
    state = shop.run(text, {"one": [{"output": {"count": "many"}}, {"expect_prompt": told, "output": {"count": 3}}]})
    assert (state.status, state.names["found"]) == ("succeeded", {"count": 3})
    first, second = shop.calls(state.run, "one")
    assert second.spec["session"] == shop.endings(state.run, "one")[0].details["session"]
    assert not first.spec["session"]


def test_a_question_waits_for_words_and_the_conversation_goes_on_with_them(shop: StepsRoom) -> None:
    ask = {"say": "Hm.", "ask": "Blue or red?", "usage": {"input_tokens": 10, "cost": 0.25}}
    state = shop.run(ONE, {"one": [ask, {"expect_prompt": "blue, please", **DONE}]})
    assert (state.status, state.reason, state.message) == ("waiting", "question", "Blue or red?")
    runs.answer_in_words(shop.writer, state.run, "blue, please", "ann")
    shop.drive()
    state = shop.state(state.run)
    assert (state.status, state.steps["one"].attempts, state.steps["one"].cost) == ("succeeded", 1, 0.25)
    first, second = shop.calls(state.run, "one")
    assert second.spec["session"] == state.steps["one"].session
    assert "Do the thing." in str(first.spec["prompt"])
    assert "Do the thing." not in str(second.spec["prompt"])


def test_an_answer_is_not_lost_when_the_agent_cannot_take_it_at_once(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    last = {"expect_prompt": "blue, please", **DONE}
    state = shop.run(ONE, {"one": [{"ask": "Blue or red?"}, failing("overloaded", retry_after=1), last]})
    runs.answer_in_words(shop.writer, state.run, "blue, please", "ann")
    shop.drive()
    hand.now += 1
    shop.drive()
    assert shop.state(state.run).status == "succeeded"


def test_a_fixer_may_ask_too(shop: StepsRoom) -> None:
    text = case("{name: checks, type: gate, checks: {green: test -e green}, fix: Make it green.}")
    state = shop.run(text, {"checks/fix": [{"ask": "How?"}, {"expect_prompt": "touch it", "files": {"green": ""}}]})
    assert (state.status, state.reason) == ("waiting", "question")
    runs.answer_in_words(shop.writer, state.run, "touch it", "ann")
    shop.drive()
    assert shop.state(state.run).status == "succeeded"


def test_a_step_goes_on_in_the_conversation_of_another_one(shop: StepsRoom) -> None:
    text = case(
        "{name: one, prompt: Look at it.}",
        "{name: other, prompt: Look elsewhere.}",
        "{name: two, prompt: Now do it., session: one}",
        "{name: three, prompt: And more., session: continue}",
        "{name: four, prompt: Begin anew., session: fresh}",
    )
    state = shop.run(text, {"default": {"say": "Yes.", "repeat": True}})
    sessions = {name: state.steps[name].session for name in ("one", "other", "two", "three", "four")}
    assert sessions["one"] == sessions["two"] == sessions["three"]
    assert len(set(sessions.values())) == 3
    assert "# The run so far" not in shop.prompts(state.run, "two")[0]
    assert "# The run so far" in shop.prompts(state.run, "four")[0]


def test_what_a_step_says_about_its_call_reaches_the_agent(shop: StepsRoom) -> None:
    text = case(
        "{name: one, prompt: Do it., single_turn: true, suppress_thoughts: true, disallowed_tools: [Bash],"
        " system_prompt: Be brief.}"
    )
    state = shop.run(text, {"one": {"run": "touch forbidden"}})
    assert (state.status, state.reason) == ("blocked", "step")
    assert "the tool Bash was denied" in state.message
    spec = shop.calls(state.run, "one")[0].spec
    named = {name: spec[name] for name in ("single_turn", "suppress_thoughts", "disallowed_tools", "system_prompt")}
    assert named == {
        "single_turn": True,
        "suppress_thoughts": True,
        "disallowed_tools": ["Bash"],
        "system_prompt": "Be brief.",
    }
    assert not (shop.tree(state.run) / "forbidden").exists()


def test_a_step_that_may_only_read_cannot_write(shop: StepsRoom) -> None:
    state = shop.run(case("{name: one, prompt: Do it., access: read}"), {"one": {"files": {"new.txt": "x"}}})
    assert (state.status, state.reason) == ("blocked", "step")
    assert "the step has access read" in state.message


def test_an_agent_that_was_killed_used_a_try_and_the_next_sees_what_it_left(shop: StepsRoom) -> None:
    text = case("{name: one, prompt: Do it., retry: 1}")
    state = shop.run(text, {"one": [{"files": {"half.txt": "half"}, "run": "kill -9 $PPID"}, DONE]})
    assert (state.status, state.steps["one"].attempts) == ("succeeded", 2)
    assert "killed by SIGKILL" in shop.endings(state.run, "one")[0].error
    assert (shop.tree(state.run) / "half.txt").exists()


WAITS = {
    "files": {"half.txt": "half"},
    "run": [
        "echo called >> ../called.log",
        "test -e ../go.log || touch ../there.log",
        "while ! test -e ../go.log; do sleep 0.01; done",
    ],
    "say": "Done.",
}


def test_an_agent_that_outlives_its_driver_is_adopted_and_awaited(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"one": WAITS})
    driver = shop.drive_elsewhere()
    beside = shop.folder / "data" / "worktrees"
    shop.until(lambda: bool(list(beside.glob("*/there.log"))))
    driver.kill()
    driver.wait()

    def let_go() -> None:
        (next(beside.glob("*/there.log")).with_name("go.log")).touch()

    shop.during(let_go, lambda: shop.log.holder(run) is not None)
    assert shop.state(run).status == "succeeded"
    assert len(shop.calls(run, "one")) == 1
    assert next(beside.glob("*/called.log")).read_text() == "called\n"


def _killed(folder: Path) -> list[str]:
    """Kill what works in a folder; to be asked again, since one look may miss what is forked meanwhile."""
    found = processes_within(folder)
    for each in found:
        # Whoever is killed first may take others along.
        with suppress(ProcessLookupError):
            os.kill(int(each.split()[1].rstrip(":")), signal.SIGKILL)
    return found


def test_an_agent_that_was_lost_with_its_driver_is_called_again_on_the_files_it_was_given(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"one": {**WAITS, "files": {"README.md": None, "half.txt": "half"}}})
    driver = shop.drive_elsewhere()
    beside = shop.folder / "data" / "worktrees"
    shop.until(lambda: bool(list(beside.glob("*/there.log"))))
    driver.kill()
    driver.wait()
    shop.until(lambda: not _killed(shop.folder))
    tree = shop.tree(run)
    (tree / "scribble.txt").write_text("left over")
    (next(beside.glob("*/there.log")).with_name("go.log")).touch()
    shop.drive()
    assert shop.state(run).status == "succeeded"
    assert len(shop.calls(run, "one")) == 1
    assert next(beside.glob("*/called.log")).read_text() == "called\ncalled\n"
    assert not (tree / "scribble.txt").exists()
    assert (tree / "half.txt").exists()
