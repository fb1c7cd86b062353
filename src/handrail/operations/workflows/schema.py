"""The JSON Schema of native workflows, for editors."""

from typing import Any

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.shapes.json_schema import json_schema

TITLE = "Handrail workflow"


def workflow_schema() -> dict[str, Any]:
    """Give the schema that workflow.yaml is checked by."""
    return json_schema(WORKFLOW, TITLE)
