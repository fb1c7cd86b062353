"""The real Claude Code and Codex in the middle of a call: silence ends them, a budget does, and a person is heard."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from real_agents import Home, real_agents
from real_room import RealRoom

from handrail.operations import runs
from handrail.operations.telling import tell
from handrail.testing.models.scripts import Action, Hang, Say, Shell
from handrail.testing.models.server import ModelServer

__all__ = ["real_agents"]
Open = Callable[..., RealRoom]
ESCAPES = Shell("setsid sleep 300 >/dev/null 2>&1 & echo away")
CODEX = """\
model = "gpt-5.5"
model_provider = "local"
check_for_update_on_startup = false
[features]
plugins = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


@pytest.fixture
def opened(real_agents: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open a room whose model plays scripts for both agents."""
    with ExitStack() as stack:

        def opening(**scripts: list[Action]) -> RealRoom:
            model = stack.enter_context(ModelServer(scripts))
            monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
            (real_agents.codex / "config.toml").write_text(CODEX.format(url=model.url))
            room = RealRoom(tmp_path, real_agents, model)
            stack.callback(room.close)
            return room

        yield opening


def step(agent: str, more: str, script: str = "a") -> str:
    return f"{{name: one, agent: {agent}, access: full, prompt: 'Go. [[s:{script}]]', {more}}}"


@pytest.mark.parametrize(("agent", "last"), [("claude", "Bash setsid sleep 300"), ("codex", "$ setsid sleep 300")])
def test_an_agent_whose_model_hangs_is_ended_for_its_silence(opened: Open, agent: str, last: str) -> None:
    room = opened(a=[ESCAPES, Hang()])
    run = room.start(step(agent, "idle_timeout: 8s"))
    room.drive()
    ended = room.ending(run)
    assert (room.state(run).status, ended.details["agent_status"]) == ("blocked", "timeout")
    assert re.search(r"it printed nothing for \d+ s and was ended", ended.error), ended.error
    assert last in ended.error
    assert ended.details["session"]
    assert room.marked(run) == {}


def test_a_budget_ends_claude_in_the_middle_and_a_grant_goes_on_in_its_conversation(opened: Open) -> None:
    # Claude Code answers in the place of the model where it was interrupted.
    room = opened(a=[Shell("echo one > one.txt"), Shell("sleep 300"), Say("All done."), Say("All done.")])
    state = room.run(step("claude", "budget: {tokens: 1500}, output: said"))
    assert (state.status, state.reason) == ("blocked", "budget"), state.message
    ended = room.ending(state.run)
    assert ended.details["agent_status"] == "limit"
    assert room.marked(state.run) == {}
    assert (room.tree(state.run) / "one.txt").exists()
    assert room.spent(state.run)["tokens"] > 1500
    assert room.spent(state.run)["usd"] > 0

    runs.resume(room.log, state.run, "ann")
    room.drive()
    state = room.state(state.run)
    assert (state.status, state.names["said"]) == ("succeeded", "All done.")
    assert room.ending(state.run).details["session"] == ended.details["session"]


def test_claude_is_told_what_a_person_says_when_its_answer_is_done(opened: Open) -> None:
    wait = Shell("touch there; while ! test -e go; do sleep 0.05; done")
    room = opened(a=[wait, Say("First."), Say("With tabs.")])
    run = room.start(step("claude", "output: said"))

    def act() -> None:
        tell(room.log, run, "use tabs", "ann")
        (room.tree(run) / "go").touch()

    room.during(act, lambda: room.state(run).tree is not None and (room.tree(run) / "there").exists())
    state = room.state(run)
    assert (state.status, state.names["said"]) == ("succeeded", "With tabs.")
    assert len(room.model.asked("a")) == 3
