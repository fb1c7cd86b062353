"""The JSON Schema of native workflows, for editors."""

from typing import Any

from handrail.authoring.json_schema import json_schema
from handrail.authoring.native_schema import WORKFLOW

TITLE = "Handrail workflow"


def workflow_schema() -> dict[str, Any]:
    """Give the schema that workflow.yaml is checked by."""
    return json_schema(WORKFLOW, TITLE)
