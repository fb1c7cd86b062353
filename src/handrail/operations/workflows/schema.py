"""The JSON Schema of native workflows, for editors, and the rules against which workflows are reviewed."""

import json
from typing import Any

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.shapes.json_schema import json_schema
from handrail.sources.library import library_root

AUTHORING_SPEC = "authoring-spec.json"
TITLE = "Handrail workflow"


def workflow_schema() -> dict[str, Any]:
    """Return the schema with which workflow.yaml is checked."""
    return json_schema(WORKFLOW, TITLE)


def authoring_spec() -> dict[str, Any]:
    """Read the rules to which a stamp refers: each with its level, its reason and the lint that checks it."""
    return json.loads((library_root() / AUTHORING_SPEC).read_text("utf-8"))
