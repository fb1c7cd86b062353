"""JSON Schemas that OpenAI accepts for structured results: closed objects in which every property is required."""

from handrail.model.workflow.values import JsonValue

_Map = dict[str, JsonValue]
_KEPT = frozenset({"type", "enum", "const", "description", "title", "properties", "required", "items", "anyOf"})
_LEFT_OUT = frozenset(
    {
        *("$schema", "$id", "$comment", "default", "examples", "format", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "additionalProperties"),
    }
)
"""Keys that only narrow: the result is checked against the whole schema afterwards."""


def make_strict(schema: JsonValue) -> JsonValue:
    """Convert a schema to one that OpenAI accepts and whose results fit the original; None where there is none."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return None
    return _make_strict(schema)


def _make_strict(schema: JsonValue) -> JsonValue:
    if not isinstance(schema, dict) or not schema or not schema.keys() <= _KEPT | _LEFT_OUT:
        return None
    made = {name: value for name, value in schema.items() if name in _KEPT}
    if schema.get("type") == "object":
        return _record(schema, made)
    if schema.get("type") == "array":
        return _set_key(made, "items", _make_strict(schema.get("items")))
    if "anyOf" in schema:
        return _set_key(made, "anyOf", _make_all_strict(schema["anyOf"]))
    return made if isinstance(schema.get("type"), str) or "enum" in schema or "const" in schema else None


def _record(schema: _Map, made: _Map) -> JsonValue:
    """Convert an object; optional and unnamed properties cannot be expressed strictly."""
    parts, needed = schema.get("properties"), schema.get("required")
    if (
        not isinstance(parts, dict)
        or not isinstance(needed, list)
        or schema.get("additionalProperties", False) is not False
    ):
        return None
    if {str(each) for each in needed} != parts.keys():
        return None
    inner = {name: _make_strict(part) for name, part in parts.items()}
    return None if None in inner.values() else {**made, "properties": inner, "additionalProperties": False}


def _set_key(made: _Map, name: str, value: JsonValue) -> JsonValue:
    return None if value is None else {**made, name: value}


def _make_all_strict(choices: JsonValue) -> JsonValue:
    made = [_make_strict(each) for each in choices] if isinstance(choices, list) else []
    return made if made and None not in made else None
