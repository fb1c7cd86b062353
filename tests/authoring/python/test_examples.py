"""The library's workflows, written as objects, give the tree of their YAML."""

from importlib.resources import files
from typing import Any

import pytest

from handrail import (
    Agent,
    AgentLoop,
    Approval,
    Body,
    Budget,
    Call,
    Changed,
    Commit,
    Concurrency,
    Converge,
    CreateIssues,
    Defaults,
    End,
    Expect,
    Fails,
    FileCheck,
    Fix,
    Follow,
    Gate,
    Loop,
    Merge,
    ParallelAgents,
    Passes,
    PullRequest,
    Role,
    Schedule,
    Script,
    Unchanged,
    Workflow,
)
from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.native.steps import STEPS
from handrail.authoring.python.tree import build_document
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.authoring.shapes.conform import choose, conform
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Mapping, Node, Scalar, Sequence, SourceText, plain

Said = dict[str, str]
"""Texts of several lines by the step or part they stand in: their wording belongs to the YAML."""


def _fix_bug(said: Said) -> Workflow:
    return Workflow(
        "fix-bug",
        description="Reproduce first, ask, then fix. The test that proved the bug must turn green and stay untouched.",
        input={"issue": "issue", "base": "string = ${project.default_branch}"},
        defaults=Defaults(agent="claude/sonnet", access="edit", timeout="30m"),
        budget=Budget(usd=6, minutes=90),
        steps=[
            Agent(
                "reproduce",
                prompt="reproduce",
                output="repro",
                returns={"test": "path", "cause": "string", "confidence": "low | medium | high"},
                done_when=[Fails(FileCheck("test_one", file="${repro.test}")), Unchanged("${project.sources}")],
                retry=2,
            ),
            Approval(
                "confirm",
                when="repro.confidence != 'high' or 'ask-me' in issue.labels",
                message=said["confirm.message"],
                show=["diff"],
                revise="reproduce",
            ),
            Agent(
                "fix",
                session="reproduce",
                prompt=said["fix.prompt"],
                done_when=[Passes(FileCheck("test_one", file="${repro.test}")), Unchanged("${repro.test}")],
            ),
            Gate("checks", checks="project", fix=Fix("fix-checks", session="fix", max=3), on_fail="block"),
            PullRequest(
                "pr",
                base="${base}",
                title="fix: ${issue.title}",
                draft=True,
                follow=Follow(on=["checks", "changes_requested"], fix="address-review", max=3),
            ),
        ],
    )


TASK = {
    "id": "slug",
    "title": "string",
    "files": ["glob"],
    "acceptance": ["string"],
    "depends_on?": ["slug"],
}


def _implement_spec(_: Said) -> Workflow:
    return Workflow(
        "implement-spec",
        description="Split a spec, build the parts in parallel worktrees, merge in order, review, "
        "open one pull request.",
        input={"spec": "path", "base": "string = main", "width": "int = 3"},
        defaults=Defaults(agent="claude/sonnet", access="edit"),
        budget=Budget(usd=25, minutes=240, agent_calls=60),
        steps=[
            Agent(
                "split",
                agent="claude/opus",
                access="read",
                prompt="split-spec",
                output="tasks",
                returns=[TASK],
                done_when=[Expect("tasks | length >= 1 and tasks | length <= 12")],
            ),
            Approval("agree", message="${tasks | length} tasks for ${spec}", show=["tasks"], revise="split"),
            ParallelAgents(
                "build",
                for_each="${tasks}",
                as_="task",
                key="task.id",
                after="task.depends_on",
                max_concurrent="${width}",
                steps=[
                    Agent("implement", prompt="implement-task", done_when=[Changed("${task.files}")]),
                    Gate("test", checks="project", fix="fix-checks"),
                ],
                on_fail="continue",
                output="built",
            ),
            Merge(
                "combine",
                from_="${built}",
                checks="project",
                on_conflict=Fix("resolve-conflict", agent="claude/opus", max=2),
            ),
            CreateIssues("left-over", when="steps.build.failed | length > 0", from_="${steps.build.failed}"),
            Call("review", workflow="review-loop", input={"base": "${base}"}),
            PullRequest("pr", title="${steps.split.summary}", body=Body("pr-body")),
        ],
    )


def _review_loop(said: Said) -> Workflow:
    return Workflow(
        "review-loop",
        description="One agent reviews, a second judges, a third fixes; "
        "ends when nothing worth fixing is left, and says why it ended.",
        input={"base": "string = main", "severity": "low | medium | high = medium"},
        steps=[
            AgentLoop(
                "review",
                reviewer=Role("review-diff", agent="codex", access="read"),
                arbiter=Role("is-actionable", agent="claude/opus", access="read"),
                fixer=Role("apply-findings", agent="claude/sonnet", access="edit"),
                checks="project",
                max_iterations=5,
                exit_when="open.critical + open.high == 0 and round >= 2",
                converge=Converge(severity="${severity}", plateau=2),
                on_max="continue",
                output="review",
            ),
            Agent(
                "explain",
                when="review.stopped != 'clean'",
                access="read",
                prompt=said["explain.prompt"],
                output="summary",
            ),
            Approval(
                "decide",
                when="review.stopped in ['oscillation', 'plateau', 'reseeded', 'max', 'no_answer']",
                message="${summary}",
                show=["diff", "review.open_findings"],
                revise="review",
            ),
        ],
    )


def _deps_nightly(said: Said) -> Workflow:
    bump = [
        Script(
            "update",
            command="${project.update}",
            env={"PACKAGE": "${dep | split(' ') | first}", "VERSION": "${dep | split(' ') | last}"},
        ),
        Gate(
            "test",
            checks="project",
            fix=Fix(said["fix.prompt"], max=2, budget=Budget(usd=1)),
        ),
        Commit("keep", message="build(deps): bump ${dep | split(' ') | first} to ${dep | split(' ') | last}"),
    ]
    return Workflow(
        "deps-nightly",
        description="Each night bump what can be bumped, keep what passes, revert what does not, in one pull request.",
        trigger=["manual", Schedule("17 3 * * 1-5", timezone="Europe/Berlin")],
        concurrency=Concurrency("deps", if_running="skip"),
        budget=Budget(usd=4, minutes=60, at_limit="finish", unknown_price="estimate"),
        defaults=Defaults(agent="claude/haiku", access="edit"),
        steps=[
            Script("outdated", command="${project.outdated}", output="outdated"),
            End("nothing-to-do", when="outdated | trim | length == 0", message="All dependencies are current."),
            Loop(
                "bump",
                for_each="${outdated | trim | lines}",
                as_="dep",
                key="dep | split(' ') | first",
                max_iterations=20,
                on_fail="undo",
                steps=bump,
            ),
            PullRequest(
                "pr",
                when="steps.bump.done | length > 0",
                key="deps-nightly",
                title="Nightly dependency update",
                body=said["pr.body"],
                labels=["dependencies"],
            ),
        ],
    )


EXAMPLES = {
    "fix-bug": _fix_bug,
    "implement-spec": _implement_spec,
    "review-loop": _review_loop,
    "deps-nightly": _deps_nightly,
}


def _yaml(name: str) -> Mapping:
    text = files("handrail.library").joinpath("workflows", name, "workflow.yaml").read_text(encoding="utf-8")
    report = Report()
    root = read_yaml(SourceText("workflow.yaml", text), report)
    assert list(report) == []
    assert isinstance(root, Mapping)
    return root


def _made(workflow: Workflow) -> Mapping:
    bundle = Bundle("workflow.py", {"workflow.py": SourceText("workflow.py", "W = 1\n")})
    document = build_document(workflow, bundle, Report())
    assert document is not None
    return document.root


def _texts(node: Node, name: str = "") -> Said:
    found: Said = {}
    match node:
        case Mapping():
            own = node.get("name")
            name = str(own.value) if isinstance(own, Scalar) else name
            for entry in node:
                found |= _texts(entry.value, f"{name}.{entry.name}" if isinstance(entry.value, Scalar) else entry.name)
        case Sequence():
            for item in node:
                found |= _texts(item, name)
        case Scalar(value=str(text)) if "\n" in text:
            found[name] = text
        case Scalar():
            pass
    return found


def _typed(node: Node) -> Any:
    """Plain data in which every step names its type, as an object always does."""
    if isinstance(node, Sequence):
        return [_typed(item) for item in node]
    if isinstance(node, Scalar):
        return node.value
    data = {entry.name: _typed(entry.value) for entry in node}
    steps = node.get("steps")
    if isinstance(steps, Sequence):
        data["steps"] = [{**_typed(step), "type": choose(STEPS, step)} for step in steps if isinstance(step, Mapping)]
    return data


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_written_as_objects_gives_the_tree_of_its_yaml(name: str) -> None:
    yaml = _yaml(name)
    assert plain(_made(EXAMPLES[name](_texts(yaml)))) == _typed(yaml)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_written_as_objects_is_of_the_format(name: str) -> None:
    report = Report()
    conform(WORKFLOW, _made(EXAMPLES[name](_texts(_yaml(name)))), report)
    assert list(report) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_yaml_as_a_plain_dict_gives_the_same_tree_again(name: str) -> None:
    data = plain(_yaml(name))
    bundle = Bundle("workflow.py", {"workflow.py": SourceText("workflow.py", "W = 1\n")})
    document = build_document(data, bundle, Report())
    assert document is not None
    assert plain(document.root) == data
