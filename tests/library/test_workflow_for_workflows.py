"""The built-in workflow that writes workflows, from its start to the merge of what it wrote."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.security.black_box import PROGRAM, BlackBox, make_black_box

FOLDER = ".handrail/workflows/greet"
GREET = """\
name: greet
description: Write a greeting and prove it.
budget: {agent_calls: 3}
steps:
  - {name: say, prompt: Write one greeting into hello.txt., done_when: [{exists: hello.txt}], retry: 1}
"""
SCENARIO = """\
- name: a greeting is written
  turns: {say: {files: {hello.txt: "hello\\n"}}}
  expect: {path: [say]}
"""
FINDING = {
    "file": f"{FOLDER}/workflow.yaml",
    "line": 5,
    "rule": "say-what-if-impossible",
    "severity": "high",
    "message": "The prompt does not say what to do when nothing can be written.",
}


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    path = os.pathsep.join((str(Path(PROGRAM).parent), os.environ["PATH"]))
    return replace(make_black_box(tmp_path), environ={"PATH": path})


def turns(*written: dict[str, str], fixes: list[Any] | None = None, found: list[Any] | None = None) -> dict[str, Any]:
    reviews = [{"output": {"findings": each}} for each in (found or [[]])]
    return {
        "write": [{"files": each, "say": "Written."} for each in written],
        "checks/fix": fixes or [{"say": "Nothing to repair."}],
        "review/reviewer": reviews,
        "review/arbiter": [{"output": {"actionable": True}}],
        "review/fixer": [{"files": {f"{FOLDER}/workflow.yaml": _told(GREET)}, "say": "Said now."}],
    }


def _told(text: str) -> str:
    return text.replace("hello.txt.,", "hello.txt; if that fails say why.,")


def write(box: BlackBox, script: dict[str, Any], *more: str, code: int = 0) -> str:
    path = box.base / "script.json"
    path.write_text(json.dumps(script))
    words = ("run", "workflow-for-workflows", "Write a greeting.", "--input", "name=greet", *more)
    done = box.call(*words, "--agent", "scripted", "--script", str(path))
    assert done.exit_code == code, done.text
    return done.text


def test_a_workflow_is_written_gated_reviewed_and_stamped(box: BlackBox) -> None:
    broken = {f"{FOLDER}/workflow.yaml": GREET.replace("prompt:", "promt:"), f"{FOLDER}/tests/greet.yaml": SCENARIO}
    mended = {"files": {f"{FOLDER}/workflow.yaml": GREET}, "say": "Corrected the key."}
    said = write(box, turns(broken, fixes=[mended], found=[[FINDING], []]))
    assert "✗ → fixed → ✓" in said
    assert "promt" in box.call("show", "workflow-for-workflows-1", "checks/fix", "--prompt").out
    steps = [each["address"] for each in box.call("show", "workflow-for-workflows-1", "--json").document["steps"]]
    assert steps[-2:] == ["decide", "stamp"]
    assert box.call("merge", "workflow-for-workflows-1").exit_code == 0
    text = (box.repository / FOLDER / "workflow.yaml").read_text()
    assert text == _told(GREET).replace("budget:", "validated_against_spec: 1\nbudget:")
    assert box.call("trust", "greet", "--yes").exit_code == 0
    assert box.call("test", "greet").exit_code == 0


def test_a_revision_starts_from_the_workflow_that_is_named(box: BlackBox) -> None:
    box.write(f"{FOLDER}/workflow.yaml", GREET)
    box.write(f"{FOLDER}/tests/greet.yaml", SCENARIO)
    box.commit()
    write(box, turns({f"{FOLDER}/workflow.yaml": _told(GREET)}), "--input", "existing=greet")
    assert "Start from this workflow: `greet`" in box.call("show", "workflow-for-workflows-1", "write", "--prompt").out
    assert "if that fails say why" in box.call("diff", "workflow-for-workflows-1").out
