"""Writes what a step asks for beside its work, and the guidance of the workflow, in the same way for every agent."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from handrail.engine.contracts.assessments import example_of, schema_of
from handrail.engine.contracts.example import minimal_example
from handrail.engine.text.untrusted_text import fence_code
from handrail.model.codec import encode
from handrail.model.workflow.guidance import Assessment, GuidedWorkflow, Reference
from handrail.model.workflow.values import JsonValue

Spec = Mapping[str, JsonValue]
IN_CALL, IN_RESULT = "output.artifacts", "artifacts"
"""Where artifacts go: into the call of a connected agent, or into the result of a called one."""


def assessment_spec(asked: Assessment) -> JsonValue:
    """Describe an assessment that a step asks for, as its intent records it."""
    return {
        "id": asked.id,
        "purpose": asked.purpose,
        "dimensions": [encode(each) for each in asked.dimensions],
        "schema": schema_of(asked),
        "example": example_of(asked),
    }


def assessment_sections(assessments: JsonValue, place: str = IN_CALL) -> Iterator[str]:
    """Describe the assessments that a step asks for, each under a heading of its own."""
    for each in _list(assessments):
        one = cast("dict[str, JsonValue]", each)
        lines = [_dimension(cast("dict[str, JsonValue]", said)) for said in _list(one.get("dimensions"))]
        yield (
            f"# Assessment `{one.get('id')}`\n\n{_sentence(one.get('purpose'))} Rate every"
            f" dimension by what you know, with your reason, as an artifact in `{place}`:"
            "\n\n" + "\n".join(lines) + "\n\n"
            f"{json_block(one.get('example'))}"
        )


def _dimension(said: Spec) -> str:
    optional = "" if said.get("required", True) else " (optional)"
    levels = ", ".join(str(level) for level in _list(said.get("levels")))
    purpose = _sentence(said.get("purpose"))
    return f"- `{said.get('id')}`{optional}: {purpose}{' ' if purpose else ''}Levels: {levels}."


def _sentence(text: JsonValue) -> str:
    said = str(text or "").strip()
    return said if not said or said[-1] in ".!?:" else f"{said}."


def capability_sections(capabilities: JsonValue) -> Iterator[str]:
    """Ask for the agent's capabilities that have not been observed yet."""
    asked = [cast("dict[str, JsonValue]", each) for each in _list(capabilities)]
    if asked:
        lines = "\n".join(f"- `{each.get('name')}` ({each.get('level')})" for each in asked)
        ends = (
            " If a required one is unavailable, do not start your task: report that, change nothing, and stop."
            if any(each.get("level") == "required" for each in asked)
            else ""
        )
        yield (
            f"# What you can do\n\nThis workflow uses:\n\n{lines}\n\nBefore anything else, find out what works by"
            f" trying each once, in a harmless way.{ends} Report each result as a separate artifact; status is"
            f" available, unavailable or unknown:\n\n{json_block(asked[0].get('example'))}"
        )


def add_artifacts_to_schema(schema: JsonValue, asked: Sequence[JsonValue]) -> tuple[JsonValue, JsonValue]:
    """Return the schema of a result together with the requested artifacts, and the smallest example that matches."""
    wanted = [cast("dict[str, JsonValue]", each) for each in asked]
    forms: list[JsonValue] = [each.get("schema") for each in wanted]
    text: JsonValue = {"type": "string", "description": "your final message: what you did and found"}
    result = text if schema is None else schema
    whole: JsonValue = {
        "type": "object",
        "properties": {
            "result": result,
            "artifacts": {"type": "array", "items": forms[0] if len(forms) == 1 else {"anyOf": forms}},
        },
        "required": ["result", "artifacts"],
        "additionalProperties": False,
    }
    least = "what you did and found" if schema is None else minimal_example(schema)
    return whole, {"result": least, "artifacts": [each.get("example") for each in wanted]}


def full_guides(guided: GuidedWorkflow, unresolved: Sequence[str] = ()) -> tuple[str, ...]:
    """Describe the rules and documents of a workflow to an agent that begins."""
    rules = "\n".join(f"- {each}" for each in guided.meta_guidance)
    entries = "\n".join(_full(each, each.id in unresolved) for each in guided.references)
    heading = "# References\n\nDocuments that this workflow relies on. Read those that your step needs."
    parts = (f"# Rules of this workflow\n\n{rules}" if rules else "", f"{heading}\n\n{entries}" if entries else "")
    return tuple(part for part in parts if part)


def compact_guides(guided: GuidedWorkflow, unresolved: Sequence[str] = ()) -> tuple[str, ...]:
    """Remind an agent of the guidance that its conversation already contains."""
    lines = ["The rules of this workflow still apply."] if guided.meta_guidance else []
    if guided.references:
        listed = "\n".join(_compact(each, each.id in unresolved) for each in guided.references)
        lines.append(f"Its references:\n\n{listed}")
    return ("# Reminder\n\n" + "\n\n".join(lines),) if lines else ()


def _full(each: Reference, missing: bool) -> str:
    marks = f"{' (authoritative)' if each.authoritative else ''}{' [not found]' if missing else ''}"
    return f"- {each.title}{marks}\n  Path: {each.source}\n  Purpose: {each.purpose}"


def _compact(each: Reference, missing: bool) -> str:
    return f"- {each.title}{' [not found]' if missing else ''}: {each.source}"


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def json_block(value: JsonValue) -> str:
    """Format a value as a block of JSON that nothing inside it can close."""
    return fence_code(json.dumps(value, ensure_ascii=False, indent=2), "json")
