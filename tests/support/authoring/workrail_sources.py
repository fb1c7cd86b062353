"""Small WorkRail-style workflows."""

import json

from handrail.authoring.importers import ImportedWorkflows, import_files
from handrail.model.workflow.values import JsonValue

Steps = list[dict[str, JsonValue]]


def import_steps(steps: Steps, **more: JsonValue) -> ImportedWorkflows:
    root = {"id": "one", "name": "One", "description": "d", "version": "1.0.0", "steps": steps, **more}
    return import_files({"one.json": json.dumps(root, indent=1)})


def yaml_of(imported: ImportedWorkflows) -> str:
    return imported.files["one/workflow.yaml"]


def step(name: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"id": name, "title": name.title(), "prompt": f"Do {name}.", **more}
