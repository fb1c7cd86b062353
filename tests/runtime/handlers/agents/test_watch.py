"""What happens to a call of an agent while it runs: silence ends it, and so does a budget that is used up."""

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from handrail.model.history.events import StepSkipped
from handrail.model.workflow.settings import AgentPolicy
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.handlers.agents.watch import IDLE_SECONDS, CallTermination, CallWatch
from handrail.testing.leaks import lasting_within
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom


def case(*steps: str, budget: str = "") -> str:
    around = f"budget: {budget}\n" if budget else ""
    return f"name: case\ndescription: a case\n{around}steps:\n" + "".join(f"  - {each}\n" for each in steps)


HANGS: dict[str, Any] = {"call_tool": {"name": "Read", "input": {"path": "a.py"}}, "run": "sleep 600 & exec sleep 600"}
LOOKS = 2
"""How often a call is looked at before it counts as old."""
SILENT: dict[str, Any] = {"delay": 600}
DONE: dict[str, Any] = {"say": "Done.", "output": "done"}
COSTLY: dict[str, Any] = {
    "files": {"half.txt": "half\n"},
    "usage": {"input_tokens": 600, "output_tokens": 400, "cost": 0.5},
    "run": "sleep 600",
}


def printed(shop: StepsRoom, run: str) -> list[Path]:
    """What the first call of a step has printed, once it has printed something."""
    return [each for each in (shop.folder / "data" / "runs" / run).glob("*/agent.0/stdout") if each.stat().st_size]


def age(stdout: Path, seconds: float) -> None:
    """Let it be longer ago that a call printed something: silence is measured by the times of its files."""
    for each in (stdout, stdout.with_name("stderr")):
        os.utime(each, (each.stat().st_atime, each.stat().st_mtime - seconds))


@pytest.fixture
def long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls have begun long ago: no call is silent for longer than it has been there."""
    inner = CallWatch.__post_init__

    def begin_long_ago(self: CallWatch) -> None:
        inner(self)
        self.oldest = float("inf")

    monkeypatch.setattr(CallWatch, "__post_init__", begin_long_ago)


@pytest.mark.usefixtures("long_ago")
def test_an_agent_that_prints_nothing_is_ended_and_the_try_counts(shop: StepsRoom) -> None:
    step = "{name: one, prompt: Do it., idle_timeout: 1h, retry: 1}"
    run = shop.start(case(step), {"one": [SILENT, DONE]})
    shop.during(lambda: age(printed(shop, run)[0], 3605), lambda: bool(printed(shop, run)))
    state, ended = shop.state(run), shop.endings(run, "one")[0]
    assert (ended.status, ended.details["agent_status"]) == ("failed", "timeout")
    assert re.fullmatch(r"the agent timed out: it printed nothing for 36\d\d s and was stopped", ended.error)
    assert (state.status, state.steps["one"].attempts) == ("succeeded", 2)
    assert shop.calls(state.run, "one")[1].spec["session"] == ended.details["session"]
    assert not lasting_within(shop.folder)


@pytest.mark.usefixtures("long_ago")
def test_the_configuration_sets_the_silence_of_steps_that_do_not(shop: StepsRoom) -> None:
    shop.agents = AgentPolicy(idle_timeout=120)
    run = shop.start(case("{name: one, prompt: Do it.}"), {"one": SILENT})
    # Long enough for what is configured, and not for what counts otherwise.
    shop.during(lambda: age(printed(shop, run)[0], 125), lambda: bool(printed(shop, run)))
    assert shop.state(run).status == "blocked"
    found = re.search(r"it printed nothing for (\d+) s", shop.state(run).message)
    assert found is not None
    assert 125 <= int(found[1]) < IDLE_SECONDS


@pytest.mark.usefixtures("long_ago")
def test_a_tool_that_runs_is_no_silence(shop: StepsRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    run = shop.start(case("{name: one, prompt: Do it., idle_timeout: 1h}"), {"one": HANGS})
    found: list[CallTermination | None] = []
    inner = CallWatch.look

    def look(self: CallWatch) -> CallTermination | None:
        """Look at a call whose tool was called long ago."""
        at_work = "a.py" in (self.place / "stdout").read_text("utf-8")
        if at_work:
            age(self.place / "stdout", 3605)
        cut = inner(self)
        found.extend([cut] if at_work else [])
        return cut

    monkeypatch.setattr(CallWatch, "look", look)
    shop.during(lambda: runs.stop(shop.writer, run, "ann"), lambda: len(found) > 1)
    assert set(found) == {None}
    assert shop.state(run).status == "cancelled"
    assert not lasting_within(shop.folder)


def test_no_call_is_silent_for_longer_than_it_has_been_there(shop: StepsRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    run = shop.start(case("{name: one, prompt: Do it., idle_timeout: 1h}"), {"one": SILENT})
    found: list[CallTermination | None] = []
    inner = CallWatch.look

    def look(self: CallWatch) -> CallTermination | None:
        """Look at a call whose output is older than itself, as it is where the clock was set."""
        there = printed(shop, run)
        if there and len(found) in (0, LOOKS):
            age(there[0], 3605)
        if len(found) == LOOKS:
            # It may well be as old as its output.
            self.oldest = float("inf")
        cut = inner(self)
        found.extend([cut] if there else [])
        return cut

    monkeypatch.setattr(CallWatch, "look", look)
    shop.drive()
    assert found[:LOOKS] == [None] * LOOKS
    assert [cut is not None and cut.status for cut in found[LOOKS:]] == ["timeout"]
    assert shop.state(run).status == "blocked"
    assert not lasting_within(shop.folder)


@pytest.mark.usefixtures("long_ago")
def test_silence_counts_on_after_a_crash_from_what_was_printed_last(shop: StepsRoom) -> None:
    run = shop.start(case("{name: one, prompt: Do it., idle_timeout: 1h}"), {"one": SILENT})
    driver = shop.drive_elsewhere()
    shop.until(lambda: bool(printed(shop, run)))
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    age(printed(shop, run)[0], 3605)
    shop.drive()
    (ended,) = shop.endings(run, "one")
    assert "it printed nothing for 36" in ended.error


def test_a_budget_ends_an_agent_in_the_middle_and_a_grant_goes_on_in_its_conversation(shop: StepsRoom) -> None:
    text = case("{name: one, prompt: Do it., output: said, retry: 2}", budget="{usd: 0.4}")
    state = shop.run(text, {"one": [COSTLY, DONE]})
    assert (state.status, state.reason) == ("blocked", "budget")
    assert state.message == "the budget is used up: $0.50 of $0.40"
    (ended,) = shop.endings(state.run, "one")
    assert ended.details["agent_status"] == "limit"
    assert "it has used $0.50, but only $0.40 were left" in ended.error
    assert (state.spent.usd, state.spent.tokens, state.spent.agent_calls) == (0.5, 1000, 1)
    assert state.files == ended.details["files"]
    assert (shop.tree(state.run) / "half.txt").exists()
    assert not lasting_within(shop.folder)

    state = shop.resume(state.run)
    assert (state.status, state.names["said"], state.steps["one"].attempts) == ("succeeded", "done", 1)
    again = shop.calls(state.run, "one")[1]
    assert again.spec["session"] == ended.details["session"]
    assert "You were interrupted." in str(again.spec["prompt"])


@pytest.mark.parametrize("budget", ["{tokens: 900}", "{usd: 0.4}"])
def test_the_budget_of_a_step_ends_it_too(shop: StepsRoom, budget: str) -> None:
    state = shop.run(case(f"{{name: one, prompt: Do it., budget: {budget}}}"), {"one": COSTLY})
    assert (state.status, state.reason) == ("blocked", "budget")
    assert state.message.startswith("step 'one': the budget is used up:")


def test_finish_goes_on_without_the_step_that_was_ended(shop: StepsRoom) -> None:
    steps = (
        "{name: one, prompt: Do it.}",
        "{name: two, prompt: Do more of it.}",
        "{name: tidy, command: test -e half.txt}",
    )
    state = shop.run(case(*steps, budget="{usd: 0.4, at_limit: finish}"), {"one": COSTLY})
    assert state.status == "succeeded"
    assert [state.steps[name].status for name in ("one", "two", "tidy")] == ["failed", "skipped", "succeeded"]
    assert state.steps["one"].cost == 0.5
    assert [each.address for each in of_kind(shop.log, state.run, StepSkipped)] == ["two"]


def test_the_budget_of_a_fix_ends_the_fix_and_not_the_run(shop: StepsRoom) -> None:
    gate = "{name: checks, type: gate, checks: {green: test -e green}, fix: {prompt: Mend it., budget: {usd: 0.4}}}"
    state = shop.run(case(gate), {"checks/fix": COSTLY})
    assert (state.status, state.reason) == ("blocked", "budget")
    assert "no further fix was tried: the budget is used up: $0.50 of $0.40" in state.message
