"""Builds the smallest artifact that matches a schema, to show what is asked for."""

from handrail.engine.contracts.schema import fits
from handrail.model.workflow.values import JsonValue

_SAMPLES = {"date-time": "2026-01-31T09:00:00Z", "uuid": "00000000-0000-4000-8000-000000000000"}
_MAX_DEPTH = 12


def minimal_example(schema: JsonValue, depth: int = 0) -> JsonValue:
    """Build a small value for a schema; where keywords depend on each other it may not match exactly."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return None
    if "const" in schema:
        return schema["const"]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    forms = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(forms, list) and forms and "type" not in schema:
        return minimal_example(forms[0], depth + 1)
    return _example_of_type(schema, depth)


def _example_of_type(schema: dict[str, JsonValue], depth: int) -> JsonValue:
    match schema.get("type"):
        case "object":
            return _object(schema, depth)
        case "array":
            return [minimal_example(schema.get("items"), depth + 1) for _ in range(_read_integer(schema, "minItems"))]
        case "string":
            return _text(schema)
        case "integer" | "number":
            return _read_integer(schema, "minimum")
        case "boolean":
            return True
        case _:
            return _object(schema, depth) if "required" in schema or "properties" in schema else None


def _object(schema: dict[str, JsonValue], depth: int) -> JsonValue:
    known, names = schema.get("properties"), schema.get("required")
    wanted = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    properties = known if isinstance(known, dict) else {}
    made = {name: minimal_example(properties.get(name), depth + 1) for name in wanted}
    for number in range(_read_integer(schema, "minProperties") - len(made)):
        made[f"name-{number + 1}"] = minimal_example(schema.get("additionalProperties"), depth + 1)
    return made


def _text(schema: dict[str, JsonValue]) -> str:
    form = schema.get("format")
    if isinstance(form, str) and form in _SAMPLES:
        return _SAMPLES[form]
    least = max(_read_integer(schema, "minLength"), 1)
    for sample in ("…", "text", "text-1"):
        text = (sample * least)[: max(least, len(sample))]
        if fits(schema, text):
            return text
    return "…"


def _read_integer(schema: dict[str, JsonValue], name: str) -> int:
    value = schema.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1000 else 0
