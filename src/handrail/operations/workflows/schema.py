"""The JSON Schema of native workflows, for editors, and the rules that workflows are reviewed against."""

import json
from typing import Any

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.shapes.json_schema import json_schema
from handrail.sources.library import library_root

AUTHORING_SPEC = "authoring-spec.json"
TITLE = "Handrail workflow"


def workflow_schema() -> dict[str, Any]:
    """Give the schema that workflow.yaml is checked by."""
    return json_schema(WORKFLOW, TITLE)


def authoring_spec() -> dict[str, Any]:
    """Read the rules that a stamp speaks of: each with its level, its reason and the lint that checks it."""
    return json.loads((library_root() / AUTHORING_SPEC).read_text("utf-8"))
