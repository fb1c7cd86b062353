"""The examples that the format is explained with load and compile, the older forms among them."""

import pytest
from inline_snapshot import snapshot

from handrail.model.codec import decode, encode
from handrail.model.workflow.actions import (
    AgentAction,
    AgentLoopAction,
    Each,
    GateAction,
    LoopAction,
    ParallelAction,
    PullRequestAction,
)
from handrail.model.workflow.plan import Plan, ScheduleTrigger
from handrail.model.workflow.types import ListType, RecordType
from support.compiler.native_case import compile_library, compile_text, shown

CLASSIC = """\
name: review-loop-classic
description: the older form
trigger: manual
input:
  - name: changes
steps:
  - name: review
    type: agent-loop
    prompt: review-changes
    arbiter_prompt: is-actionable
    max_iterations: 5
    exit_when: ${actionable} == false
    input:
      changes: ${changes}
    output: review
"""

GRIMOIRE = """\
name: spec-to-pr
description: Convert, implement, review
trigger: on_event
input:
  - name: openspec
    type: path
    required: true
    description: where the proposal lies
steps:
  - name: convert
    type: agent
    prompt: spec-to-beads
    output: beads          # Stores result as "beads"
    returns: [string]

  - name: implement
    type: parallel-agents
    prompt: implement-bead
    for_each: ${beads}     # References previous output
    max_concurrent: 3
    output: implementations

  - name: review
    type: agent-loop
    prompt: review-changes
    arbiter_prompt: is-actionable
    max_iterations: 5
    exit_when: ${actionable} == false
    input:
      changes: ${implementations}  # References previous output
    output: review

  - name: test
    type: gate
    command: npm test
    on_fail: retry
    message: the tests are red

  - name: lint
    type: gate
    command: npm run lint
    on_fail: escalate

  - name: count
    type: script
    command: git diff --stat
    output: stat
"""
PROMPTS = {
    "prompts/10-spec-to-beads.md": "# Beads\n\n## Input\nOpenSpec path: {{.openspec}}\n",
    "prompts/20-implement-bead.md": (
        "## Previous Step: {{.previous_step.name}}\nResult: {{.previous_step.output}}\n\n## Your Task\n{{ item }}\n"
    ),
}


@pytest.mark.parametrize("name", ["fix-bug", "implement-spec", "review-loop", "deps-nightly", "workflow-for-workflows"])
def test_a_library_workflow_compiles_without_a_finding_and_survives_being_stored(name: str) -> None:
    compiled, _, _ = compile_library(name)
    assert shown(compiled.diagnostics) == ""
    assert compiled.plan is not None
    assert decode(Plan, encode(compiled.plan)) == compiled.plan


def test_the_classic_review_loop_means_the_same_as_the_longer_one() -> None:
    compiled, _, _ = compile_text(CLASSIC)
    assert shown(compiled.diagnostics) == ""
    assert compiled.plan is not None
    action = compiled.plan.steps[0].action
    assert isinstance(action, AgentLoopAction)
    assert action.exit_when is not None
    assert action.exit_when.source == "actionable == false"
    assert action.reviewer.prompt.file is not None
    assert action.arbiter is not None
    assert (action.arbiter.access, action.arbiter.handoff, action.reviewer.handoff) == ("read", "none", "none")
    assert action.reviewer.access == "edit"
    assert action.fixer is not None
    assert (action.fixer.agent, action.fixer.access) == (action.reviewer.agent, "edit")
    assert str(action.fixer.prompt.file).endswith("apply-findings.md")


def test_a_grimoire_loads_unchanged() -> None:
    compiled, _, _ = compile_text(GRIMOIRE, PROMPTS)
    assert shown(compiled.diagnostics) == ""
    assert compiled.plan is not None
    kinds = [(step.name, step.action.kind, step.on_fail, step.retry.more) for step in compiled.plan.steps]
    assert kinds == snapshot(
        [
            ("convert", "agent", "block", 0),
            ("implement", "parallel-agents", "block", 0),
            ("review", "agent-loop", "block", 0),
            ("test", "gate", "block", 3),
            ("lint", "gate", "escalate", 0),
            ("count", "script", "fail", 0),
        ]
    )


def test_a_lone_prompt_in_a_fan_out_is_a_body_of_one_step() -> None:
    compiled, _, _ = compile_text(GRIMOIRE, PROMPTS)
    assert compiled.plan is not None
    fan_out = compiled.plan.steps[1].action
    assert isinstance(fan_out, ParallelAction)
    assert [step.name for step in fan_out.steps] == ["implement"]
    assert fan_out.over.item == "item"


def test_fix_bug_keeps_its_proof_its_session_and_its_follow_up() -> None:
    compiled, _, _ = compile_library("fix-bug")
    assert compiled.plan is not None
    reproduce, confirm, fix, checks, pr = compiled.plan.steps
    assert isinstance(reproduce.returns, RecordType)
    assert reproduce.returns.names() == ("cause", "confidence", "test")
    assert encode(reproduce.done_when) == snapshot(
        [
            {
                "check": "test_one",
                "file": {"source": "repro.test", "kind": "expression"},
                "expect": "fail",
                "kind": "check",
            },
            {"globs": {"source": "project.sources", "kind": "expression"}, "expect": "unchanged", "kind": "files"},
        ]
    )
    assert reproduce.retry.more == 2
    assert reproduce.timeout == 1800
    assert encode(confirm.action) == snapshot(
        {
            "message": {
                "parts": [
                    "Cause: ",
                    {"source": "repro.cause", "kind": "expression"},
                    " (",
                    {"source": "repro.confidence", "kind": "expression"},
                    ")\nFailing test: ",
                    {"source": "repro.test", "kind": "expression"},
                    "\n",
                ],
                "kind": "text",
            },
            "show": [{"source": "diff", "kind": "expression"}],
            "revise": "reproduce",
            "kind": "approval",
        }
    )
    assert isinstance(fix.action, AgentAction)
    assert fix.action.task.session == "reproduce"
    assert isinstance(checks.action, GateAction)
    assert checks.action.checks.project
    assert checks.action.fix is not None
    assert (checks.action.fix.session, checks.action.fix.max) == ("fix", 3)
    assert isinstance(pr.action, PullRequestAction)
    assert pr.action.follow is not None
    assert (pr.action.follow.on, pr.action.follow.fix.max) == (("changes_requested", "checks"), 3)


def test_implement_spec_fans_out_over_typed_items() -> None:
    compiled, _, _ = compile_library("implement-spec")
    assert compiled.plan is not None
    split, build = compiled.plan.steps[0], compiled.plan.steps[2]
    assert isinstance(split.returns, ListType)
    assert isinstance(build.action, ParallelAction)
    assert encode(build.action.over) == snapshot(
        {
            "items": {"source": "tasks", "kind": "expression"},
            "item": "task",
            "key": {"source": "task.id", "kind": "expression"},
            "kind": "each",
        }
    )
    assert build.action.after is not None
    assert build.on_fail == "continue"


def test_deps_nightly_has_its_schedule_and_takes_failed_items_back() -> None:
    compiled, _, _ = compile_library("deps-nightly")
    assert compiled.plan is not None
    assert compiled.plan.triggers[1] == ScheduleTrigger("17 3 * * 1-5", "Europe/Berlin")
    bump = compiled.plan.steps[2]
    assert isinstance(bump.action, LoopAction)
    assert isinstance(bump.action.over, Each)
    assert bump.on_fail == "undo"
