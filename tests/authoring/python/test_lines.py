"""Each object remembers the line of workflow.py that made it, and its diagnostics point there."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.python.objects import Script, Workflow
from handrail.authoring.python.tree import build_document
from handrail.authoring.shapes.conform import conform
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, Mapping, Node, Scalar, Sequence, SourceText

SHOWN = "fix-bug/workflow.py"


def _document(workflow: object, text: str = "WORKFLOW = ...\n") -> Document:
    report = Report()
    document = build_document(workflow, Bundle("workflow.py", {"workflow.py": SourceText(SHOWN, text)}), report)
    assert list(report) == []
    assert document is not None
    return document


def _run(text: str, file: str = "/home/me/.handrail/workflows/fix-bug/workflow.py") -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "workflow"}
    exec(compile(text, file, "exec"), names)
    return names


def _nodes(node: Node) -> list[Node]:
    match node:
        case Scalar():
            return [node]
        case Sequence():
            return [node, *(found for item in node.items for found in _nodes(item))]
        case Mapping():
            below = [found for entry in node for found in (entry.key, *_nodes(entry.value))]
            return [node, *below]


FILE = """\
from handrail import Agent, Fix, Gate, Workflow

def checks():
    return Gate(
        "checks",
        checks="project",
        fix=Fix("fix-checks", max=3),
    )

def resolve(context):
    return Workflow(
        "fix-bug",
        steps=[
            Agent("code", prompt="coding"),
            checks(),
        ],
    )
"""


def test_each_object_stands_at_the_line_that_made_it() -> None:
    root = _document(_run(FILE)["resolve"](None), FILE).root
    steps = root.get("steps")
    assert isinstance(steps, Sequence)
    agent, gate = steps.items
    assert isinstance(gate, Mapping)
    fix = gate.get("fix")
    assert fix is not None
    lines = [
        node.span.source.line(node.span.source.position(node.span.start).line) for node in (root, agent, gate, fix)
    ]
    assert lines == snapshot(
        [
            "    return Workflow(",
            '            Agent("code", prompt="coding"),',
            "    return Gate(",
            '        fix=Fix("fix-checks", max=3),',
        ]
    )
    assert FILE[agent.span.start : agent.span.end] == 'Agent("code", prompt="coding"),'


def test_every_scalar_is_made_and_stands_in_the_main_file() -> None:
    document = _document(_run(FILE)["resolve"](None), FILE)
    nodes = _nodes(document.root)
    assert {node.style for node in nodes if isinstance(node, Scalar)} == {"made"}
    assert all(node.span.source is document.bundle.source for node in nodes)


def test_a_wrong_value_is_shown_at_the_line_of_its_object() -> None:
    report = Report()
    text = FILE.replace("max=3", "max=0")
    conform(WORKFLOW, _document(_run(text)["resolve"](None), text).root, report)
    assert [(found.file, found.line, found.column, found.message) for found in report] == snapshot(
        [("fix-bug/workflow.py", 7, 9, "0 is too small, the minimum is 1")]
    )


def test_an_object_made_by_another_file_stands_where_workflow_py_called_it() -> None:
    shared = _run("from handrail import Script\ndef step():\n    return Script('a', command='x')\n", "/x/shared.py")
    names: dict[str, Any] = {"__name__": "w", "step": shared["step"]}
    exec(compile("\n\nSTEP = step()\n", "C:\\w\\workflow.py", "exec"), names)
    assert names["STEP"].line == 3


def test_a_workflow_file_of_another_name_is_known_by_its_module() -> None:
    names: dict[str, Any] = {"__name__": "handrail_workflow_7", "Script": Script}
    exec(compile("\nSTEP = Script('a', command='x')", "/w/fix-bug.py", "exec"), names)
    assert names["STEP"].line == 2


def test_an_object_made_outside_of_a_workflow_file_has_no_line() -> None:
    assert Script("a", command="x").line is None


def test_a_file_of_handrail_itself_is_not_taken_for_the_author_s() -> None:
    names: dict[str, Any] = {"__name__": "handrail.compiler.workflow", "Script": Script}
    exec(compile("STEP = Script('a', command='x')", "/lib/handrail/compiler/workflow.py", "exec"), names)
    assert names["STEP"].line is None


def test_an_object_without_a_line_stands_where_its_holder_does() -> None:
    text = "\n    W = 1\n"
    root = _document(Workflow("w", steps=[Script("a", command="x")], line=2), text).root
    assert {text[node.span.start : node.span.end] for node in _nodes(root)} == {"W = 1"}


@pytest.mark.parametrize("line", [-1, 0, 1, 99, 10**30])
def test_a_line_that_the_file_does_not_have_is_no_line(line: int) -> None:
    root = _document(Workflow("w", steps=[], line=line), "\nx = 1\n").root
    assert (root.span.start, root.span.end) == (0, 0)


def test_a_dict_stands_at_the_first_line() -> None:
    root = _document({"name": "w", "steps": []}, "W = 1\nX = 2\n").root
    assert {(node.span.start, node.span.end) for node in _nodes(root)} == {(0, 5)}
