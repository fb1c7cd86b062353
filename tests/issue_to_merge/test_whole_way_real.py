"""An issue becomes a merged pull request with the real Claude Code, whose model is scripted and on loopback."""

import os
from pathlib import Path
from shlex import quote

import pytest

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Mcp, Say, Shell, Structured
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import Home, real_agents
from support.cli.languages import PYTHON
from support.github.double import GitHubDouble
from support.issue_to_merge.ends import RUN, check_merged, check_open, merge
from support.issue_to_merge.host_room import HostRoom, open_room
from support.issue_to_merge.prepare import prepare
from support.places import LIBRARY

__all__ = ["real_agents"]
pytestmark = [pytest.mark.system("claude", "codex"), pytest.mark.timeout(600)]
PROXIES = ("NO_PROXY", "no_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy")
PASSED = ("PATH", "TMPDIR", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", *PROXIES)
DELIVERED = LIBRARY / "workflows" / "fix-bug"
ASKS_NOBODY, MAY_ASK = "access: edit,", "access: edit, handrail_tools: [ask_person],"
FOUND: JsonValue = {"test": PYTHON.test, "cause": "it takes the absolute value", "confidence": "medium"}


def write(path: str, text: str) -> Action:
    """Let the agent write a file with its shell."""
    return Shell(f"printf %s {quote(text)} > {quote(path)}")


GAP = Say("No response requested.")
"""What Claude Code itself adds to a conversation that ended with a result, before it continues it."""
SCRIPT: list[Action] = [
    Mcp("handrail", "ask_person", {"question": "Which sign is right?"}),
    # Claude Code lets no turn of a step with `returns` end without a result, and ends it with one.
    Structured({"test": PYTHON.test, "cause": "I wait for the answer", "confidence": "low"}),
    GAP,
    write(PYTHON.test, PYTHON.failing),
    Structured(FOUND),
    GAP,
    # The step `fix` continues the conversation.
    write(PYTHON.product, PYTHON.repaired[PYTHON.product]),
    Say("It adds now."),
]


def let_agents_ask(room: HostRoom) -> None:
    """Let the person have a `fix-bug` of their own, whose agents may ask questions."""
    for path in DELIVERED.rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8")
            own = text.replace(ASKS_NOBODY, MAY_ASK, 1) if path.name == "workflow.yaml" else text
            room.box.write_own(f"workflows/fix-bug/{path.relative_to(DELIVERED)}", own)
            assert path.name != "workflow.yaml" or MAY_ASK in own


def test_claude_code_takes_an_issue_to_its_merge(tmp_path: Path, github: GitHubDouble, real_agents: Home) -> None:
    assert real_agents.claude.is_dir()
    environ = {name: os.environ[name] for name in PASSED if name in os.environ}
    with (
        ModelServer({"way": SCRIPT}) as model,
        open_room(tmp_path, github, {**environ, "ANTHROPIC_BASE_URL": model.url}) as room,
    ):
        prepare(room, PYTHON)
        let_agents_ask(room)
        ann = github.person("ann", "write")
        number = ann.open_issue("adding -2 adds 2", "It adds the absolute value. [[s:way]]", ["bug"])
        asked = room.call("run", "fix-bug", "--issue", str(number), code=3)
        assert f"{RUN} needs you: Which sign is right?" in asked.text
        (progress,) = room.progress(number)
        assert "Which sign is right?" in progress["body"]
        ann.comment(number, "/answer The minus stays.")
        room.refresh_until(lambda: "Approval is needed" in room.progress(number)[0]["body"])
        assert "it takes the absolute value" in room.progress(number)[0]["body"]
        assert github.pulls() == []
        ann.comment(number, "Good.\n\n/approve")
        room.call("status", "--refresh")
        room.reach(RUN, "succeeded", "failed", "blocked")
        check_open(room, number, progress["id"], r"3 agent calls, \$0\.\d*[1-9]")
        merge(room, number)
        check_merged(room, number, progress["id"])
        assert "The minus stays." in str(model.asked("way")[-1]["messages"])
