"""The real Claude Code and Codex in the middle of a call: silence ends them, a budget does, and a person is heard."""

import asyncio
import os
import re
import time
from typing import cast

import pytest

from handrail.agents.registry import BuiltInCatalog
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.tell import tell
from handrail.runtime.handlers.agents.watch import CallTermination, CallWatch
from handrail.testing.models.scripts import Hang, Say, Shell, Structured
from support.agents.opened_rooms import Open, opened, real_agents
from support.agents.real_room import RealRoom, until

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
CATALOG = BuiltInCatalog()
ESCAPES = Shell("setsid sleep 300 >/dev/null 2>&1 & echo away")


def step(agent: str, more: str, script: str = "a") -> str:
    return f"{{name: one, agent: {agent}, access: full, prompt: 'Go. [[s:{script}]]', {more}}}"


@pytest.mark.parametrize(("agent", "last"), [("claude", "Bash setsid sleep 300"), ("codex", "$ setsid sleep 300")])
def test_an_agent_whose_model_hangs_is_ended_for_its_silence(
    opened: Open, agent: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = opened(a=[ESCAPES, Hang()])
    run = room.start(step(agent, "idle_timeout: 1h"))
    inner = CallWatch.look

    def look(self: CallWatch) -> CallTermination | None:
        """Look at a call that has printed nothing for long, once its model hangs."""
        # An agent may ask a model that hangs once more.
        hangs = len(room.model.asked("a")) >= 2 and any(last.encode()[-9:] in line for line in room.transcript(run))
        for each in (self.place / "stdout", self.place / "stderr") if hangs else ():
            os.utime(each, (0, time.time() - 3605))
        # No call is silent for longer than it has been there.
        self.oldest = float("inf")
        return inner(self)

    monkeypatch.setattr(CallWatch, "look", look)
    room.drive()
    ended = room.ending(run)
    assert (room.state(run).status, ended.details["agent_status"]) == ("blocked", "timeout")
    assert re.search(r"it printed nothing for \d+ s and was stopped", ended.error), ended.error
    assert last in ended.error
    assert ended.details["session"]
    assert room.marked(run) == {}


def test_a_budget_ends_claude_in_the_middle_and_a_grant_goes_on_in_its_conversation(opened: Open) -> None:
    # It is ended before or after it has taken in its fifth answer. That is asked for again, or Claude Code answers in
    # the place of the model where it was interrupted: both fit into what is granted.
    works = [Shell("echo one > one.txt"), *[Shell("true")] * 3, Shell("test -e granted || sleep 300")]
    room = opened(a=[*works, *[Say("All done.")] * 3])
    state = room.run(step("claude", "budget: {tokens: 4500}, output: said"))
    assert (state.status, state.reason) == ("blocked", "budget"), state.message
    ended = room.ending(state.run)
    assert ended.details["agent_status"] == "limit"
    assert room.marked(state.run) == {}
    assert (room.tree(state.run) / "one.txt").exists()
    assert room.spent(state.run)["tokens"] > 4500
    assert room.spent(state.run)["usd"] > 0

    (room.tree(state.run) / "granted").touch()
    runs.resume(room.writer, state.run, "ann")
    room.drive()
    state = room.state(state.run)
    assert (state.status, state.names.get("said")) == ("succeeded", "All done."), state.message
    assert room.ending(state.run).details["session"] == ended.details["session"]


WAITS = Shell("touch there; while ! test -e go; do sleep 0.05; done")


def queued(room: RealRoom, run: str) -> int:
    """How many messages Claude Code has taken in, to be told when its tool has ended."""
    return sum(b'"state":"queued"' in line for line in room.transcript(run))


def waits(room: RealRoom, run: str) -> bool:
    return room.state(run).tree is not None and (room.tree(run) / "there").exists()


def goes_on(room: RealRoom, run: str) -> None:
    (room.tree(run) / "go").touch()


def heard(room: RealRoom, run: str) -> int:
    """How many messages the call has taken up."""
    return len(cast("list[int]", room.ending(run).details["heard"]))


def told_in(room: RealRoom, text: str) -> list[bool]:
    return [text in str(each) for each in room.model.asked("a")]


def test_claude_hears_in_the_middle_of_its_work_what_a_person_says(opened: Open) -> None:
    room = opened(a=[WAITS, Structured({"n": 1})])
    run = room.start(step("claude", "output: said, returns: {n: int}"))
    words: list[str] = []
    said = (lambda: words.append(tell(room.writer, run, "use tabs", "ann", CATALOG).words), lambda: waits(room, run))
    room.during(*said, (lambda: goes_on(room, run), lambda: queued(room, run) == 1))
    state = room.state(run)
    assert (state.status, state.names["said"], state.messages) == ("succeeded", {"n": 1}, ()), state.message
    assert words == ["the agent of 'one' gets the message while it works"]
    assert told_in(room, "use tabs") == [False, True]
    assert (heard(room, run), state.spent.agent_calls) == (1, 1)


def test_what_is_said_before_and_after_a_crash_of_ours_is_heard_once(opened: Open) -> None:
    room = opened(a=[WAITS, Say("With tabs, in short.")])
    run = room.start(step("claude", "output: said"))
    said = (lambda: tell(room.writer, run, "use tabs", "ann", CATALOG), lambda: waits(room, run))
    room.dying(said, (lambda: None, lambda: queued(room, run) == 1))
    tell(room.writer, run, "be brief", "ann", CATALOG)
    room.during(lambda: goes_on(room, run), lambda: queued(room, run) == 2)
    state = room.state(run)
    assert (state.status, state.names["said"], state.messages) == ("succeeded", "With tabs, in short.", ())
    assert heard(room, run) == 2
    assert (told_in(room, "use tabs"), told_in(room, "be brief")) == ([False, True], [False, True])
    assert all(str(room.model.asked("a")[1]).count(text) == 1 for text in ("use tabs", "be brief"))


def test_an_answer_that_came_while_nobody_drove_ends_the_call_of_claude(opened: Open) -> None:
    room = opened(a=[WAITS, Say("All done.")])
    run = room.start(step("claude", "output: said"))
    room.dying((lambda: None, lambda: waits(room, run)))
    goes_on(room, run)
    asyncio.run(until(lambda: room.marked(run) == {}))
    room.drive()
    assert room.state(run).names["said"] == "All done."


def test_codex_is_told_when_its_answer_is_done(opened: Open) -> None:
    room = opened(a=[WAITS, Say("First."), Say("With tabs.")])
    run = room.start(step("codex", "output: said"))

    def act() -> None:
        tell(room.writer, run, "use tabs", "ann", CATALOG)
        goes_on(room, run)

    room.during(act, lambda: waits(room, run))
    state = room.state(run)
    assert (state.status, state.names["said"]) == ("succeeded", "With tabs.")
    assert told_in(room, "use tabs") == [False, False, True]
