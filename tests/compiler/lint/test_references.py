"""References that only explain the workflow are found; those that help with the task are not."""

import json

import pytest
from inline_snapshot import snapshot

from handrail.compiler.lint import lint
from support.compiler.native_case import compile_text, shown
from support.compiler.workrail_building import step
from support.places import WORKRAIL


def found(text: str) -> str:
    compiled, document, catalog = compile_text(text, main="workflow.json")
    return "\n".join(each for each in shown(lint(compiled, document, catalog)).splitlines() if "for-authors" in each)


def workflow(purpose: str, title: str = "Guide", description: str = "Reviews a change.") -> str:
    reference = {"id": "guide", "title": title, "source": "docs/guide.md", "purpose": purpose, "authoritative": True}
    named = {"id": "sample-flow", "name": "Sample", "description": description, "version": "1.0.0"}
    return json.dumps({**named, "references": [reference], "steps": [step()]})


def test_a_coding_workflow_that_points_at_its_own_authoring_spec_is_advised() -> None:
    text = (WORKRAIL / "coding-task-workflow-agentic.lean.v2.json").read_text("utf-8")
    assert found(text).replace("reference-for-authors ", "") == snapshot("""\
workflow.json:152:13 reference 'authoring-spec' is meant for the workflow's author, not for whoever runs it
workflow.json:160:13 reference 'workflow-schema' is meant for the workflow's author, not for whoever runs it
workflow.json:168:13 reference 'authoring-provenance' is meant for the workflow's author, not for whoever runs it\
""")


def test_a_workflow_about_writing_workflows_needs_them() -> None:
    assert found((WORKRAIL / "workflow-for-workflows.json").read_text("utf-8")) == ""


def test_a_rubric_for_the_task_is_left_alone() -> None:
    assert found((WORKRAIL / "production-readiness-audit.json").read_text("utf-8")) == ""


@pytest.mark.parametrize(
    "purpose",
    ["Maintainer provenance.", "Says why this workflow was designed so.", "The workflow schema.", "Authoring rules."],
)
def test_material_for_authors_is_found_by_its_purpose(purpose: str) -> None:
    assert "reference 'guide' is meant for the workflow's author" in found(workflow(purpose))


@pytest.mark.parametrize(
    "purpose", ["The API contract.", "The schema of our events.", "How the team designs tables.", "Authors of changes."]
)
def test_material_for_the_task_is_not(purpose: str) -> None:
    assert found(workflow(purpose)) == ""


def test_a_workflow_that_validates_workflows_may_point_at_their_schema() -> None:
    assert found(workflow("The workflow schema.", description="Use this to validate your workflows.")) == ""
