"""The real Claude Code and Codex, connected by `handrail connect`: they start a workflow, and see the skill."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.testing.models.scripts import Action, Say
from handrail.testing.models.server import ModelServer
from support.agents.connected_room import LONG, Connected, Json, notes, step
from support.agents.real_agents import Home, real_agents

__all__ = ["real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
WALKED = ["run_taken", "step_ended first", "step_ended second", "run_ended"]
STARTS = "Your user wants you to carry out the Handrail workflow"
SKILL = "Walk a Handrail workflow with its MCP tools"
AWAITS = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "60000"}
"""Lets Claude Code wait for its servers before it takes up a single prompt."""
PRINTS = ("--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions")
EXECUTES = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


@pytest.fixture
def connected(real_agents: Home, tmp_path: Path) -> Iterator[Connected]:
    with ModelServer({}) as model:
        made = Connected(tmp_path, real_agents, model)
        made.work.mkdir()
        subprocess.run(["git", "init", "-q", str(made.work)], check=True, timeout=LONG)
        made.add(step("first"), step("second"))
        yield made


def run(connected: Connected, *words: str) -> str:
    """Let an agent work in the folder, with nothing but its own configuration."""
    done = subprocess.run(
        words,
        cwd=connected.work,
        env={**connected.environ, **AWAITS},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def lines(text: str) -> list[Json]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def walk(connected: Connected) -> list[Action]:
    return [connected.start(), notes("Did the first."), notes("Did the second."), Say("All done.")]


def test_claude_code_starts_a_workflow_by_its_command(connected: Connected) -> None:
    connected.handrail("connect", "claude", "--yes")
    connected.model.scripts["walk"] = walk(connected)
    said = lines(run(connected, "claude", "-p", "/mcp__handrail__flow Make it better. [[s:walk]]", *PRINTS))
    assert "mcp__handrail__flow" in said[0]["slash_commands"]
    assert connected.story("flow-1") == WALKED
    asked = json.dumps(connected.model.asked("walk")[0])
    assert STARTS in asked
    assert "Make it better." in asked, "the command's own text is there, since Claude Code cuts arguments at spaces"
    # Claude Code has written its file anew meanwhile.
    path = connected.agents.claude / ".claude.json"
    before = json.loads(path.read_text("utf-8"))
    connected.handrail("connect", "claude", "--undo")
    after = json.loads(path.read_text("utf-8"))
    assert {**before, "mcpServers": after.get("mcpServers", {})} == {**after, "mcpServers": after.get("mcpServers", {})}
    assert "handrail" not in after.get("mcpServers", {})


def test_codex_starts_a_workflow_by_the_tool_since_it_has_no_commands_of_servers(connected: Connected) -> None:
    connected.agents.point_codex(connected.model.url)
    before = (connected.agents.codex / "config.toml").read_bytes()
    connected.handrail("connect", "codex", "--yes")
    assert json.loads(run(connected, "codex", "mcp", "list", "--json"))[0]["name"] == "handrail"
    connected.model.scripts["walk"] = walk(connected)
    run(connected, "codex", *EXECUTES, "/mcp__handrail__flow Make it better. [[s:walk]]")
    assert connected.story("flow-1") == WALKED
    asked = json.dumps(connected.model.asked("walk")[0])
    assert STARTS not in asked, "Codex expands prompts of servers now: say so in docs/connect.md"
    assert "start_workflow" in asked
    connected.handrail("connect", "codex", "--undo")
    left = (connected.agents.codex / "config.toml").read_bytes()
    assert left.startswith(before)
    assert b"handrail" not in left.replace(str(connected.work).encode(), b"")


def test_claude_code_finds_the_skill(connected: Connected) -> None:
    run(connected, "claude", "-p", "Go. [[s:none]]", *PRINTS)
    assert SKILL not in json.dumps(connected.model.asked("none"))
    connected.handrail("connect", "claude", "--skill", "--yes")
    run(connected, "claude", "-p", "Go. [[s:skill]]", *PRINTS)
    assert SKILL in json.dumps(connected.model.asked("skill"))


@pytest.mark.parametrize("scope", [(), ("--project",)])
def test_codex_finds_the_skill(connected: Connected, scope: tuple[str, ...]) -> None:
    connected.agents.point_codex(connected.model.url)
    run(connected, "codex", *EXECUTES, "Go. [[s:none]]")
    assert SKILL not in json.dumps(connected.model.asked("none"))
    connected.handrail("connect", "codex", "--skill", *scope, "--yes")
    run(connected, "codex", *EXECUTES, "Go. [[s:skill]]")
    assert SKILL in json.dumps(connected.model.asked("skill"))


def test_a_repositorys_configuration_is_enough_for_claude_code(connected: Connected) -> None:
    connected.handrail("connect", "claude", "--project", "--yes")
    listed = run(connected, "claude", "mcp", "get", "handrail")
    assert "Project config" in listed
