"""Every call over MCP has a typed answer: a result, or an error with a code of Handrail's own."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import handrail.library
from support.security.black_box import BlackBox
from support.security.mcp_stdio import Json, Talk, call_tools

pytestmark = pytest.mark.system  # takes long: many processes of its own

LIBRARY = Path(handrail.library.__file__).parent
MODES: tuple[Json, ...] = ({}, {"mode": "preview"}, {"mode": "metadata"})
ROUTINES = [json.loads(path.read_text("utf-8"))["id"] for path in sorted((LIBRARY / "routines").glob("*.json"))]
EVERY_KIND = """\
name: every-kind
description: A workflow with a value in every place that a preview may show.
input:
  topic: {type: string, default: "a \\u2028 b"}
  many: {type: "[string]", default: [x, y]}
steps:
  - {name: plan, prompt: "Plan {{ topic }}.", returns: {parts: [{id: string}], sure: bool}, output: plan}
  - name: each
    type: loop
    for_each: ${many}
    max_iterations: 3
    steps: [{name: one, command: "true"}]
  - {name: ask, type: approval, message: "Go on with ${topic}?"}
  - {name: kept, type: commit, message: "${topic}"}
  - {name: pull, type: pull-request, title: "About ${topic}", body: "${topic}", labels: ["a", "${topic}"]}
  - {name: over, type: end, message: "${topic}"}
"""
ODD: tuple[Any, ...] = (None, True, 7, -1.5, "", "\u2028\u202e", "\0", "../..", [], [[["x"]]], {}, {"a": {"b": None}})
ARGUMENTS = (
    *("workflowId", "workspacePath", "mode", "goal", "context", "requestId", "continueToken", "intent", "output"),
    *("checkpointToken", "query", "runId", "gitBranch", "tags", "unknown"),
)
TOOLS = (
    *("list_workflows", "inspect_workflow", "start_workflow", "continue_workflow", "checkpoint_workflow"),
    *("resume_session", "no_such_tool", ""),
)


def assert_typed(talk: Talk, most_lines: int = 0) -> None:
    for answer in talk.answers:
        assert "error" not in answer, answer
        result = answer["result"]
        assert result["content"]
        if result.get("isError"):
            assert re.fullmatch(r"[A-Z][A-Z_]+", result["structuredContent"]["code"])
            assert result["structuredContent"]["code"] != "INTERNAL", result
        else:
            assert result["structuredContent"]
    assert len(talk.err.splitlines()) <= most_lines, talk.err[:2000]


def test_every_built_in_workflow_can_be_inspected_in_every_mode(box: BlackBox) -> None:
    here: Json = {"workspacePath": str(box.repository)}
    listed = call_tools(box, [("list_workflows", here)]).answers[0]["result"]["structuredContent"]["workflows"]
    names = [each["workflowId"] for each in listed]
    known = {"fix-bug", "implement-spec", "deps-nightly", "review-loop", "workflow-for-workflows", "keep-notes"}
    assert known <= set(names)
    asked = list(product(names, MODES))
    talk = call_tools(box, [("inspect_workflow", {"workflowId": name, **here, **mode}) for name, mode in asked])
    assert_typed(talk)
    for (name, mode), answer in zip(asked, talk.answers, strict=True):
        shown = answer["result"]["structuredContent"]
        assert (shown["workflowId"], shown["valid"]) == (name, True)
        assert bool(shown.get("steps")) == (mode.get("mode") != "metadata")
        assert all(isinstance(each["title"], str) for each in shown.get("steps", ()))


def test_every_routine_is_shown_or_refused_with_a_code(box: BlackBox) -> None:
    here: Json = {"workspacePath": str(box.repository)}
    asked = list(product(ROUTINES, MODES))
    talk = call_tools(box, [("inspect_workflow", {"workflowId": name, **here, **mode}) for name, mode in asked])
    assert_typed(talk)


def test_a_value_in_a_title_is_shown_as_its_author_wrote_it(box: BlackBox) -> None:
    box.write_own("workflows/every-kind/workflow.yaml", EVERY_KIND)
    given: Json = {"workflowId": "every-kind", "workspacePath": str(box.repository)}
    talk = call_tools(box, [("inspect_workflow", given)])
    assert_typed(talk)
    shown = talk.answers[0]["result"]["structuredContent"]
    assert shown["valid"], shown["validationWarnings"]
    titles = {each["stepId"]: each["title"] for each in shown["steps"]}
    assert titles["pull"] == "About ${topic}"


def test_odd_arguments_of_every_tool_have_typed_answers(box: BlackBox) -> None:
    usual: Json = {"workflowId": "fix-bug", "workspacePath": str(box.repository), "goal": "x", "continueToken": "ct_x"}
    known = [*ARGUMENTS]
    calls = [
        (tool, {**{name: usual[name] for name in usual if name in wanted}, odd: value})
        for tool, wanted in ((tool, _wanted(tool)) for tool in TOOLS)
        for odd, value in zip(known, ODD * 2, strict=False)
    ]
    assert_typed(call_tools(box, calls))


def _wanted(tool: str) -> tuple[str, ...]:
    return {
        "inspect_workflow": ("workflowId", "workspacePath"),
        "start_workflow": ("workflowId", "workspacePath", "goal"),
        "continue_workflow": ("continueToken",),
    }.get(tool, ("workspacePath",))
