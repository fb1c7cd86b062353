"""One native workflow with proof, budget, references, a required capability and a judgment, in both drivers.

An agent that Handrail calls and one that is connected over MCP are held to the same: the scripted agent, and the real
Claude Code on the scripted model.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from handrail.runtime.history import events_of, state_of
from handrail.testing.models.anthropic import Anthropic
from handrail.testing.models.scripts import Mcp, Say, Shell, Structured
from handrail.testing.models.server import ModelServer
from support.agents.connected_room import HANDRAIL, LONG, Connected, Json, go_on
from support.agents.real_agents import Home, real_agents

__all__ = ["real_agents"]
pytestmark = pytest.mark.system("claude")

AUDIT = """\
name: audit
description: Audit the change against its contract.
guidance: [Prefer evidence over opinion.]
references: [{id: api, title: The API, source: README.md, purpose: The contract.}]
capabilities: {web_browsing: required, delegation: preferred}
budget: {agent_calls: 5}
assessments:
  ready: {dimensions: {evidence: {levels: [low, high]}}, follow_up_when: [low], guidance: Anchor it to a line.}
steps:
  - {name: audit, prompt: "Audit it. [[s:audit]]", assess: ready, retry: 3, done_when: [{exists: audit.md}]}
"""
GIT = "git init -q -b main && git config user.name A && git config user.email a@b && git add -A && git commit -q -m x"
WRITE = "echo fine > audit.md"
STDIO: Json = {"type": "stdio", "command": HANDRAIL, "args": ["mcp"]}


@pytest.fixture
def connected(real_agents: Home, tmp_path: Path) -> Iterator[Connected]:
    with ExitStack() as stack:
        made = Connected(tmp_path, real_agents, stack.enter_context(ModelServer({})))
        made.work.mkdir()
        (made.work / "README.md").write_text("The contract.\n")
        subprocess.run(GIT, shell=True, cwd=made.work, check=True, timeout=LONG)
        own = made.home / "workflows" / "audit"
        own.mkdir(parents=True)
        (own / "workflow.yaml").write_text(AUDIT)
        yield made


def judged(level: str) -> Json:
    dimensions = {"evidence": {"level": level, "rationale": "seen it"}}
    return {"kind": "wr.assessment", "assessmentId": "ready", "dimensions": dimensions}


def observed(name: str, status: str) -> Json:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": name, "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


def answer(*artifacts: Json) -> Json:
    return {"result": "Audited.", "artifacts": list(artifacts)}


def hand_in(*artifacts: Json) -> Mcp:
    return go_on({"notesMarkdown": "Audited.", "artifacts": list(artifacts)})


def _assert_succeeded(connected: Connected, *taken: str, tries: int, gaps: tuple[str, ...] = ("delegation",)) -> None:
    assert connected.story("audit-1") == [*taken, *["step_ended audit"] * tries, "run_ended"]
    with connected.log() as log:
        state = state_of(log, "audit-1")
    assert state.status == "succeeded"
    assert tuple(str(gap["about"]) for gap in state.open_gaps) == gaps


def test_the_scripted_agent_is_called(connected: Connected) -> None:
    able, lacks = observed("web_browsing", "available"), observed("delegation", "unavailable")
    turns = [
        {"output": answer(able, lacks, judged("low"))},
        {"output": answer(judged("high"))},
        {"run": WRITE, "output": answer(judged("high"))},
    ]
    (connected.root / "script.json").write_text(json.dumps({"audit": turns}))
    connected.handrail("run", "audit", "--agent", "scripted", "--script", str(connected.root / "script.json"))
    _assert_succeeded(connected, tries=3)
    with connected.log() as log:
        prompts = [event for _, event in events_of(log, "audit-1") if event.kind == "step_began"]
    assert ["Anchor it to a line." in str(each) for each in prompts] == [False, True, False]


def test_claude_code_is_called(connected: Connected) -> None:
    low, high = Structured(answer(judged("low"))), Structured(answer(judged("high")))
    connected.model.scripts["audit"] = [low, Shell(WRITE), high]
    connected.handrail("run", "audit", "--agent", "claude/sonnet")
    asked = str(connected.model.asked("audit")[0])
    assert "- Prefer evidence over opinion." in asked
    assert "Purpose: The contract." in asked
    _assert_succeeded(connected, tries=2, gaps=())


def test_claude_code_is_connected(connected: Connected) -> None:
    able, lacks = observed("web_browsing", "available"), observed("delegation", "unavailable")
    given: Json = {"workflowId": "audit", "workspacePath": str(connected.work), "goal": "Audit it."}
    connected.model.scripts["walk"] = [
        Mcp("handrail", "start_workflow", given),
        hand_in(judged("high")),
        hand_in(able, lacks, judged("low")),
        hand_in(judged("high")),
        Shell(WRITE),
        hand_in(judged("high")),
        Say("All done."),
    ]
    said = connected.claude("walk", STDIO)
    assert said[0]["mcp_servers"][0]["status"] == "connected"
    started, unknown, low, unproven, _, over = Anthropic().results(connected.model.asked("walk")[-1])
    assert "Prefer evidence over opinion." in started
    assert "The contract." in started
    assert "web_browsing" in unknown
    assert "Anchor it to a line." in low
    assert "audit.md" in unproven
    assert "complete" in over
    _assert_succeeded(connected, "run_taken", tries=4)
