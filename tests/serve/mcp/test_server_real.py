"""The real Claude Code and Codex walk workflows over MCP: they are blocked once, repair it, and come to the end."""

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from handrail.agents.registry import KnownAgents
from handrail.operations.pull.call_context import CallContext
from handrail.runtime.history import state_of
from handrail.serve.mcp.calls import Calls
from handrail.sources.tiers import Location
from handrail.store.signing_keys import keys_in
from handrail.testing.models.anthropic import Anthropic
from handrail.testing.models.responses import Responses
from handrail.testing.models.scripts import Action, Say
from handrail.testing.models.server import ModelServer
from handrail.wiring.machine import this_machine
from handrail.wiring.system import make_writer
from support.agents.connected_room import HANDRAIL, LONG, LOOP, Connected, Json, control, go_on, notes, step
from support.agents.real_agents import Home, real_agents

__all__ = ["real_agents"]
pytestmark = pytest.mark.system("claude", "codex")


@pytest.fixture
def connected(real_agents: Home, tmp_path: Path) -> Iterator[Connected]:
    with ExitStack() as stack:
        made = Connected(tmp_path, real_agents, stack.enter_context(ModelServer({})))
        made.work.mkdir()
        yield made


STDIO: Json = {"type": "stdio", "command": HANDRAIL, "args": ["mcp"]}
WALKED = ["run_taken", "step_refused first", "step_ended first", "step_ended second", "run_ended"]

TAKEN = [
    *("step_ended plan", "step_ended again@1/work", "step_ended again@1/decide", "step_ended again@2/work"),
    *("run_taken", "step_refused again@2/decide", "step_ended again@2/decide"),
    *("step_ended again@3/work", "step_ended again@3/decide", "run_released"),
    *("step_ended again@4/work", "step_ended again@4/decide", "step_ended end", "run_ended"),
]
GIT = "git init -q -b main && git config user.name A && git config user.email a@b && git commit -q --allow-empty -m x"


def until(ready: Callable[[], bool]) -> None:
    """Wait until something is so, for a bounded time."""
    end = time.monotonic() + LONG
    while not ready():
        assert time.monotonic() < end, "it never became so"
        time.sleep(0.02)


def _nowhere(_: Path) -> Location:
    raise AssertionError("no workflow is looked for")


def _nothing(_: str) -> None:
    pass


def walk(connected: Connected) -> list[Action]:
    """Begin, forget the notes, repair that, go on to the end."""
    connected.add(step("first"), step("second"))
    return [connected.start(), go_on({}), notes("Did the first."), notes("Did the second."), Say("All done.")]


def _assert_heard(results: list[str]) -> None:
    """What the agent's model got for each of its calls."""
    started, blocked, repaired, over = results
    assert "Do first." in started
    assert "the step needs notes" in blocked
    assert "Do second." in repaired
    assert "complete" in over


def test_claude_code_walks_a_workflow_over_stdio(connected: Connected) -> None:
    connected.model.scripts["walk"] = walk(connected)
    said = connected.claude("walk", STDIO)
    assert said[0]["mcp_servers"][0]["status"] == "connected"
    assert connected.story("flow-1") == WALKED
    _assert_heard(Anthropic().results(connected.model.asked("walk")[-1]))


def test_codex_walks_a_workflow_over_stdio(connected: Connected) -> None:
    connected.model.scripts["walk"] = walk(connected)
    said = connected.codex("walk")
    calls = [each["item"] for each in said if each["type"] == "item.completed" and "tool" in each["item"]]
    assert [each["tool"] for each in calls] == ["start_workflow", *["continue_workflow"] * 3]
    assert connected.story("flow-1") == WALKED
    _assert_heard(Responses().results(connected.model.asked("walk")[-1]))


def test_claude_code_walks_a_workflow_over_http(connected: Connected) -> None:
    connected.model.scripts["walk"] = walk(connected)
    command = [HANDRAIL, "mcp", "--http", "0"]
    server = subprocess.Popen(command, cwd=connected.work, env=connected.environ, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = re.findall(r"http://\S+", server.stdout.readline())[0]
        token = (connected.home / "data" / "mcp-token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        connected.claude("walk", {"type": "http", "url": url, "headers": headers})
        assert connected.story("flow-1") == WALKED
    finally:
        server.terminate()
        assert server.wait(LONG) == 0
        server.stdout.close()


def test_a_run_of_the_engine_is_taken_by_claude_code_in_a_loop_and_given_back(connected: Connected) -> None:
    connected.add(step("plan"), LOOP, step("end"))
    subprocess.run(GIT, shell=True, cwd=connected.work, check=True, timeout=LONG)
    slow = "touch ../up; until test -e ../go; do sleep 0.02; done"
    script: Json = {
        "again@1/decide": [{"output": control("continue")}],
        "again@2/work": [{"run": slow, "output": {"notesMarkdown": "by the engine"}}],
        "again@4/decide": [{"output": control("stop")}],
        "default": {"output": {"notesMarkdown": "by the engine"}, "repeat": True},
    }
    (connected.root / "script.json").write_text(json.dumps(script))
    run = connected.begin(
        "run", "flow", "Make it.", "--agent", "scripted", "--script", str(connected.root / "script.json")
    )
    trees = connected.home / "data" / "worktrees"
    until(lambda: bool(list(trees.glob("*/up"))))
    taking = connected.begin("take", "flow-1", "--json")
    with connected.log() as log:
        until(lambda: bool(log.inbox("flow-1", limit=1)))
    (next(trees.glob("*/up")).parent / "go").touch()
    token = json.loads(taking.communicate(timeout=LONG)[0])["continue_token"]
    run.communicate(timeout=LONG)
    connected.model.scripts["taken"] = [
        go_on(token=token),
        go_on({"notesMarkdown": "no artifact"}),
        go_on(control("continue")),
        notes("by Claude"),
        go_on(control("continue")),
        Say("My part is done."),
    ]
    connected.claude("taken", STDIO)
    assert connected.handrail("release", "flow-1").splitlines()[-2].startswith("flow-1 succeeded")
    assert connected.story("flow-1") == TAKEN
    with connected.log() as log:
        state = state_of(log, "flow-1")
        keys = keys_in(connected.home / "data")
        calls = Calls(CallContext(make_writer(log), keys, _nowhere, _nothing, this_machine(), agents=KnownAgents()))
        said = asyncio.run(calls.call("continue_workflow", {"continueToken": token, "intent": "rehydrate"}))
    assert (state.steps["again@3/work"].stdout, state.steps["again@4/work"].stdout) == ("by Claude", "by the engine")
    assert state.steps["again"].calls == 5
    assert said.data["code"] == "HELD_BY_ANOTHER"
