"""An issue becomes a merged pull request with the real Claude Code, which the scripted model tells what to do."""

import os
from pathlib import Path
from shlex import quote

import pytest

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Say, Shell, Structured
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import Home, real_agents
from support.cli.languages import PYTHON
from support.github.double import GitHubDouble
from support.issue_to_merge.host_room import open_room
from support.issue_to_merge.prepare import prepare

__all__ = ["real_agents"]
pytestmark = [pytest.mark.system("claude", "codex"), pytest.mark.timeout(600)]
RUN = "work-1-a1"
FOUND: JsonValue = {"test": PYTHON.test, "cause": "it takes the absolute value", "confidence": "medium"}
PASSED = ("TMPDIR", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "NO_PROXY", "no_proxy", "PATH")


def write(path: str, text: str) -> Action:
    """Let the agent write a file with its shell."""
    return Shell(f"printf %s {quote(text)} > {quote(path)}")


def test_claude_code_fixes_an_issue_up_to_the_merge(tmp_path: Path, github: GitHubDouble, real_agents: Home) -> None:
    assert real_agents.claude.is_dir()
    (product,) = PYTHON.repaired
    script: list[Action] = [
        write(PYTHON.test, PYTHON.failing),
        Structured(FOUND),
        Say("Found."),
        write(product, PYTHON.repaired[product]),
        Say("It adds now."),
    ]
    with ModelServer({"way": script}) as model:
        environ = {name: os.environ[name] for name in PASSED if name in os.environ}
        environ["ANTHROPIC_BASE_URL"] = model.url
        with open_room(tmp_path, github, environ) as room:
            prepare(room, PYTHON)
            ann = github.person("ann", "write")
            number = ann.open_issue("adding -2 adds 2", "It adds the absolute value. [[s:way]]")
            said = room.call("run", "fix-bug", "--issue", str(number), code=3).text
            assert f"{RUN} needs you" in said, said
            (progress,) = room.progress(number)
            assert "Approval is needed" in progress["body"], progress["body"]
            ann.comment(number, "/approve")
            room.call("status", "--refresh")
            room.reach(RUN, "succeeded", "failed", "blocked")
            assert room.status(RUN) == "succeeded", room.call("show", RUN).text
            (pull,) = github.pulls()
            assert pull["draft"] is True
            assert "### Proof" in pull["body"]
            assert f"Closes #{number}" in pull["body"]
            room.call("pr", RUN, "--ready")
            ann.merge(pull["number"])
            assert github.read(f"/issues/{number}")["state"] == "closed"
            assert "merged" in room.call("status", "--refresh", RUN).text
