"""What a run's agents cannot do, or are not there for, is refused before it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.agents.registry import KnownAgents
from handrail.engine.prompts.choose_agent import AgentContext
from handrail.errors import HandrailError, InvalidWorkflow, NotFound, UsageError
from handrail.model.workflow.plan import Plan
from handrail.operations.agents.require_agents import require_agents
from support.compiler.native_case import compile_text, shown

HANDRAIL = str(Path(sys.executable).parent / "handrail")
REVIEW = """\
name: case
description: a case
steps:
  - {name: look, agent: codex, prompt: Look at it., disallowed_tools: [Bash], single_turn: true, no_comment: true}
  - name: each
    type: loop
    for: 2
    max_iterations: 2
    steps:
      - {name: inner, agent: codex, prompt: Look at it., allowed_tools: [Read]}
"""


def plan(*steps: str) -> Plan:
    text = "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)
    return compiled(text)


def compiled(text: str) -> Plan:
    made, _, _ = compile_text(text)
    assert made.plan is not None, shown(made.diagnostics)
    return made.plan


def refusal(kind: type[HandrailError], *plans: Plan, chosen: str = "") -> tuple[str, str | None]:
    with pytest.raises(kind) as caught:
        require_agents(plans, AgentContext(chosen), KnownAgents())
    return caught.value.message, caught.value.next_step


def refused(*plans: Plan, chosen: str = "") -> bool:
    try:
        require_agents(plans, AgentContext(chosen), KnownAgents())
    except HandrailError:
        return True
    return False


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that must never be started."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.mark.usefixtures("codex")
def test_every_demand_that_cannot_be_enforced_is_named_with_its_step() -> None:
    message, hint = refusal(InvalidWorkflow, compiled(REVIEW))
    assert message.split("; ") == snapshot(
        [
            "step 'look': codex: `disallowed_tools` cannot be enforced",
            "step 'look': codex: `no_comment` cannot be enforced",
            "step 'look': codex: `single_turn` cannot be enforced",
            "step 'each/inner': codex: `allowed_tools` cannot be enforced",
        ]
    )
    assert hint == "change the step, or name another agent for it"


@pytest.mark.usefixtures("codex")
def test_what_can_be_enforced_or_emulated_is_not_refused() -> None:
    asks = "access: read, model: gpt-5.5, system_prompt: Be kind to all., returns: {count: int}"
    assert not refused(plan(f"{{name: one, agent: codex, prompt: Go on now., {asks}}}"))
    assert not refused(compiled(REVIEW), chosen="scripted")


@pytest.mark.usefixtures("codex")
def test_the_agent_that_performs_every_step_is_the_one_that_is_asked() -> None:
    asked = plan("{name: one, agent: scripted, prompt: Go on now., single_turn: true}")
    assert not refused(asked)
    assert refusal(InvalidWorkflow, asked, chosen="codex")[0] == "step 'one': codex: `single_turn` cannot be enforced"


def test_an_agent_that_is_not_installed_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert refusal(NotFound, plan("{name: one, agent: codex, prompt: Go on now.}")) == snapshot(
        (
            "the agent 'codex' is not installed: there is no `codex` on the PATH",
            "npm install -g @openai/codex, then log in with: codex login; or name another agent",
        )
    )


def test_an_agent_that_is_not_known_is_refused() -> None:
    message, _ = refusal(UsageError, plan("{name: one, prompt: Go on now.}"), chosen="codecs")
    assert message == "the agent 'codecs' is not known, did you mean 'codex'?"


def test_a_workflow_without_agents_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not refused(plan("{name: one, command: 'true'}"))


def test_the_command_refuses_before_anything_starts(codex: Path, tmp_path: Path) -> None:
    shop, home = tmp_path / "shop", tmp_path / "home"
    shop.mkdir()
    (shop / "review.yaml").write_text(REVIEW.replace("name: case", "name: review", 1))
    env = {"PATH": os.environ["PATH"], "HANDRAIL_HOME": str(home), "HOME": str(home), "LOGNAME": "ann"}

    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        told = [HANDRAIL, *words]
        return subprocess.run(told, cwd=shop, env=env, capture_output=True, text=True, timeout=60, check=False)

    assert call("trust", "review.yaml", "--yes").returncode == 0
    done = call("run", "--in", ".", "review.yaml")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "step 'look': codex: `disallowed_tools` cannot be enforced" in done.stderr
    assert "no runs" in call("status").stdout.lower()
    assert not (tmp_path / "started").exists()
