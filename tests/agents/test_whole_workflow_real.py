"""A whole workflow with the real Claude Code and the real Codex, by the command line; and a driver that dies in it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Say, Shell, Structured
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import Home, real_agents

__all__ = ["real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
HANDRAIL = str(Path(sys.executable).with_name("handrail"))
LONG = 100.0
SHIP = """\
name: ship
description: Write, check, review, ask, commit.
defaults: {agent: claude/sonnet}
steps:
  - {name: write, prompt: "Write it. [[s:write]]", done_when: [{exists: app.txt}]}
  - name: checks
    type: gate
    checks: {test: grep -q right app.txt}
    fix: {prompt: "Make the check pass. [[s:fix]]", max: 2}
  - name: review
    type: agent-loop
    reviewer: {prompt: "Review it. [[s:review]]", access: read}
    arbiter: {agent: codex, access: read, prompt: "Is it worth it? [[s:arbiter]]"}
    fixer: {prompt: "Fix what was found. [[s:fixer]]"}
    max_iterations: 3
    output: review
  - {name: confirm, type: approval, message: "Review ended ${review.stopped}. Ship it?"}
  - {name: keep, type: commit, message: Write it right}
"""
FINDING: JsonValue = {"file": "app.txt", "line": 1, "rule": "no-title", "severity": "low", "message": "it has no title"}
DECLINED: JsonValue = {
    "file": "app.txt",
    "line": 1,
    "rule": "no-title",
    "decision": "decline",
    "reason": "not-worth-it: one line",
}
SCRIPTS: dict[str, list[Action]] = {
    "write": [Shell("echo wrong > app.txt"), Say("Written.")],
    "fix": [Shell("echo right > app.txt"), Say("Mended.")],
    "review": [Shell("git status"), Structured({"findings": [FINDING]})],
    "arbiter": [Structured({"decisions": [DECLINED], "actionable": False})],
    "slow": [Shell("echo one >> twice.txt; until test -e ../go; do sleep 0.1; done"), Say("Done.")],
}


class RealRun:
    """A repository and the command line in it."""

    def __init__(self, root: Path, model: ModelServer) -> None:
        self.root, self.model = root / "shop", model
        self.env = {**os.environ, "HANDRAIL_HOME": str(root / "handrail"), "ANTHROPIC_BASE_URL": model.url}
        self.root.mkdir()
        for words in ("init -q -b main", "config user.name Ann", "config user.email ann@example.org"):
            self.git(*words.split())

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=True, timeout=LONG)
        return done.stdout.strip()

    def add(self, name: str, text: str) -> None:
        """Write a workflow, commit and trust it, and leave the branch that runs begin from."""
        path = self.root / ".handrail" / "workflows" / name / "workflow.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "Start")
        self.handrail("trust", name, "--yes")

    def handrail(self, *words: str, code: int = 0) -> str:
        argv = [HANDRAIL, *words]
        done = subprocess.run(argv, cwd=self.root, env=self.env, capture_output=True, timeout=LONG, check=False)
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == code, said
        return said


@pytest.fixture
def ctx(tmp_path: Path, real_agents: Home) -> Iterator[RealRun]:
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(SCRIPTS))
        real_agents.point_codex(model.url, retries=1)
        yield RealRun(tmp_path, model)


def test_claude_works_and_codex_judges_from_the_first_step_to_the_merge(ctx: RealRun) -> None:
    ctx.add("ship", SHIP)
    said = ctx.handrail("run", "ship", code=3)
    assert "checks" in said
    assert "fixed → ✓" in said
    assert "1 declined" in said
    assert "needs you: Review ended declined. Ship it?" in said
    ctx.handrail("approve", "ship-1")
    ctx.git("switch", "-qc", "mine")
    ctx.handrail("merge", "ship-1")
    assert ctx.git("show", "main:app.txt") == "right"
    assert len(ctx.model.asked("arbiter")) == 1
    assert "codex" in ctx.handrail("show", "ship-1", "review@1/arbiter")


def test_after_kill_9_of_the_driver_the_real_agent_is_taken_up_and_its_result_recorded_once(ctx: RealRun) -> None:
    ctx.add("long", 'name: long\nsteps:\n  - {name: one, agent: claude, prompt: "Go. [[s:slow]]"}\n')
    process = subprocess.Popen([HANDRAIL, "run", "long"], cwd=ctx.root, env=ctx.env, stdout=subprocess.DEVNULL)
    try:
        until(lambda: bool(list((ctx.root.parent / "handrail").rglob("twice.txt"))))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    trace = next((ctx.root.parent / "handrail").rglob("twice.txt"))
    (trace.parents[1] / "go").touch()
    ctx.handrail("resume", "long-1")
    until(lambda: not _at_work(ctx))
    assert ctx.handrail("logs", "long-1", "--json").count('"step_ended"') == 1
    assert trace.read_text() == "one\n"


def until(ready: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + LONG
    while not ready():
        assert time.monotonic() < end, "it never became so"
        time.sleep(0.05)


def _at_work(ctx: RealRun) -> list[str]:
    """The live processes that work below the folder of the run."""
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            where, name = (each / "cwd").readlink(), (each / "comm").read_text().strip()
        except OSError:
            continue
        if where.is_relative_to(ctx.root.parent):
            found.append(name)
    return found


FORMS = """\
name: audit
description: Audit it with proof, budget, references, a capability and a judgment.
guidance: [Prefer evidence over opinion.]
references: [{id: api, title: The API, source: README.md, purpose: The contract.}]
capabilities: {web_browsing: required, delegation: preferred}
budget: {agent_calls: 5}
defaults: {agent: claude/sonnet}
assessments:
  ready: {dimensions: {evidence: {levels: [low, high]}}, follow_up_when: [low], guidance: Anchor it to a line.}
steps:
  - {name: audit, prompt: "Audit it. [[s:audit]]", assess: ready, retry: 1, done_when: [{exists: audit.md}]}
"""


def _judged(level: str) -> Structured:
    dimensions: JsonValue = {"evidence": {"level": level, "rationale": "seen it"}}
    artifact: JsonValue = {"kind": "wr.assessment", "assessmentId": "ready", "dimensions": dimensions}
    return Structured({"result": "Audited.", "artifacts": [artifact]})


def test_claude_is_held_to_a_judgment_and_its_table_of_capabilities(ctx: RealRun) -> None:
    ctx.model.scripts["audit"] = [_judged("low"), Shell("echo fine > audit.md"), _judged("high")]
    (ctx.root / "README.md").write_text("hello\n")
    ctx.add("audit", FORMS)
    assert "succeeded" in ctx.handrail("run", "audit")
    asked = [str(each) for each in ctx.model.asked("audit")]
    assert "- Prefer evidence over opinion." in asked[0]
    assert "# What you can do" not in asked[0]
    assert "Anchor it to a line." in ctx.handrail("show", "audit-1", "audit", "--prompt")
