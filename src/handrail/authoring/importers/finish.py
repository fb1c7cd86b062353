"""The last step of every import: writes the workflow file and checks it against the format."""

from handrail.authoring.importers.emit import emit_workflow
from handrail.authoring.importers.result import Notes
from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.authoring.shapes.conform import conform
from handrail.authoring.shapes.shapes import Shape
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, SourceText
from handrail.model.workflow.values import JsonValue


def write_workflow(data: dict[str, JsonValue], origin: str, notes: Notes) -> str:
    """Write a workflow, noting what the format refuses in it at the file it came from."""
    text = emit_workflow(data)
    check_native(text, origin, notes)
    return text


def check_native(text: str, origin: str, notes: Notes) -> None:
    """Note every place where a workflow deviates from the format."""
    report = Report()
    root = read_yaml(SourceText("workflow.yaml", text), report)
    if root is not None:
        conform(WORKFLOW, root, report)
    for found in report:
        if found.is_error:
            hint = f" ({found.hint})" if found.hint else ""
            message = f"workflow.yaml line {found.line} is not valid: {found.message}{hint}"
            notes.add_lost(origin, 1, message)


def find_misfit(data: JsonValue, shape: Shape) -> str:
    """Explain why a part of a workflow does not match its shape; empty where it does."""
    report = Report()
    root = read_yaml(SourceText("workflow.yaml", emit_workflow({"part": data})), report)
    part = root.get("part") if isinstance(root, Mapping) else None
    if part is not None:
        conform(shape, part, report)
    return next((found.message for found in report if found.is_error), "")
