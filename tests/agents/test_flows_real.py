"""A flow in Python with the real Claude Code: prompts, models, a retry loop, a condition on a label, an approval."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.testing.models.scripts import Action, Say, Shell
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import Home, real_agents

__all__ = ["real_agents"]
pytestmark = pytest.mark.system("claude")
HANDRAIL = str(Path(sys.executable).with_name("handrail"))
LONG = 200.0
FLOW = '''\
"""Plans, codes, verifies, asks."""

inputs = {"issue": "issue"}


async def run(ctx):
    system = await ctx.resolve_system_prompt({"bug": "prompts/debugger.md"}, labels=ctx.labels)
    prompt = await ctx.resolve_prompt("coding", "prompts/coding.md", worktree=ctx.workspace, issue_id=ctx.issue.id)
    plan = await ctx.run_step("planning", prompt="Plan it. [[s:plan]]", agent="claude", model="opus", access="read")
    keys = {"agent": "claude", "model": "sonnet", "session": "planning"}
    await ctx.run_step("coding", prompt=prompt, system_prompt=system, **keys)
    attempts = 0
    while not (await ctx.run_step("verifications", command="grep -q right app.txt")).success and attempts < 3:
        attempts += 1
        await ctx.run_step("repair", prompt="Make it right. [[s:repair]]", agent="claude/sonnet")
    if "needs-review" in ctx.labels:
        answer = await ctx.approve("Ship it?", name="get-approval")
    return {"plan": plan.output, "attempts": attempts, "approved": answer.approved}
'''
PROMPTS = {"coding": "Code it. [[s:code]]", "debugger": "You are a debugger."}
SCRIPTS: dict[str, list[Action]] = {
    "plan": [Say("The plan.")],
    "code": [Shell("echo wrong > app.txt"), Say("Coded.")],
    "repair": [Shell("echo right > app.txt"), Say("Repaired.")],
}
ISSUE = {"id": "T-1", "title": "It", "body": "It is wrong.", "labels": ["bug", "needs-review"]}


@pytest.fixture
def model(real_agents: Home) -> Iterator[ModelServer]:
    del real_agents
    with ModelServer(SCRIPTS) as model:
        yield model


def test_a_flow_leads_claude_from_the_plan_to_the_approval(tmp_path: Path, model: ModelServer) -> None:
    shop = tmp_path / "shop"
    folder = shop / ".handrail" / "workflows" / "develop"
    (folder / "prompts").mkdir(parents=True)
    (folder / "workflow.py").write_text(FLOW)
    for name, text in PROMPTS.items():
        (folder / "prompts" / f"{name}.md").write_text(text)
    env = {**os.environ, "HANDRAIL_HOME": str(tmp_path / "handrail"), "ANTHROPIC_BASE_URL": model.url}

    def call(*words: str, code: int = 0) -> str:
        done = subprocess.run(words, cwd=shop, env=env, capture_output=True, text=True, timeout=LONG, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    for words in ("init -q -b main", "config user.name Ann", "config user.email ann@example.org", "add -A"):
        call("git", *words.split())
    call("git", "commit", "-qm", "Start")
    call(HANDRAIL, "trust", "develop", "--yes")
    call(HANDRAIL, "run", "develop", "--input", f"issue={json.dumps(ISSUE)}", code=3)
    call(HANDRAIL, "approve", "develop-1")
    run: dict[str, Any] = json.loads(call(HANDRAIL, "show", "develop-1", "--json"))
    assert run["outputs"]["flow"] == {"plan": "The plan.", "attempts": 1, "approved": True}
    names = ("planning", "coding", "verifications", "repair", "verifications#2", "get-approval")
    assert [each["address"] for each in run["steps"]] == ["flow", *(f"flow/{name}" for name in names)]
    assert {name: len(model.asked(name)) > 0 for name in SCRIPTS} == dict.fromkeys(SCRIPTS, True)
    assert json.loads(call(HANDRAIL, "cost", "develop-1", "--json"))["total"]["agent_calls"] == 3
    coding = call(HANDRAIL, "logs", "develop-1", "flow/coding", "--json")
    assert '"system_prompt": "You are a debugger."' in coding
    assert '"model": "sonnet"' in coding
    assert '"model": "opus"' in call(HANDRAIL, "logs", "develop-1", "flow/planning", "--json")
