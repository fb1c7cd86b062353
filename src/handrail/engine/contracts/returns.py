"""Describes the result that a step wants from its agent, as JSON Schema, in short form and by example."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from handrail.engine.contracts.fit_type import MAX_SLUG_LENGTH, SLUG, Fit, Misfit, Problem, check_type
from handrail.engine.text.plain_json import read_plain
from handrail.late_import import late_import
from handrail.model.workflow.types import (
    AnyType,
    ChoiceType,
    Field,
    ListType,
    MapType,
    RecordType,
    ScalarKind,
    ScalarType,
    SchemaType,
    Type,
    describe,
)
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.contracts import schema as json_schema
else:
    json_schema = late_import("handrail.engine.contracts.schema")

__all__ = ["Fit", "Misfit", "Problem", "ask_again", "check_type", "example_of", "format_type", "schema_of"]

MAX_SCHEMA_LENGTH = 4000
MAX_PROBLEM_LENGTH = 400
_SCALARS: dict[ScalarKind, dict[str, JsonValue]] = {
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "path": {"type": "string", "description": "a path below the workspace, relative, without '..'"},
    "slug": {"type": "string", "pattern": f"^{SLUG}$", "maxLength": MAX_SLUG_LENGTH},
    "glob": {"type": "string", "description": "a glob below the workspace, such as src/**/*.py"},
    "null": {"type": "null"},
}
_EXAMPLES: dict[ScalarKind, JsonValue] = {
    "string": "text",
    "int": 1,
    "number": 1.5,
    "bool": True,
    "path": "folder/file.txt",
    "slug": "short-name",
    "glob": "folder/**",
    "null": None,
}


def schema_of(type_: Type) -> JsonValue:
    """Build the JSON Schema of a type."""
    match type_:
        case AnyType():
            return {}
        case ScalarType():
            return dict(_SCALARS[type_.kind])
        case ChoiceType():
            return {"type": "string", "enum": list(type_.values)}
        case ListType():
            return {"type": "array", "items": schema_of(type_.item)}
        case MapType():
            return {"type": "object", "additionalProperties": schema_of(type_.value)}
        case RecordType():
            return _record(type_)
        case SchemaType():
            return read_plain(type_.schema)


def _record(type_: RecordType) -> JsonValue:
    return {
        "type": "object",
        "properties": {each.name: schema_of(each.type) for each in type_.fields},
        "required": [each.name for each in type_.fields if not each.optional],
        "additionalProperties": type_.open,
    }


def format_type(type_: Type, indent: str = "") -> str:
    """Format a type as workflows write it, one line per field."""
    match type_:
        case ChoiceType():
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in type_.values)
        case ListType():
            return f"[{format_type(type_.item, indent)}]"
        case MapType():
            return f"{{NAME: {format_type(type_.value, indent)}}}"
        case RecordType():
            lines = [_line(each, indent + "  ") for each in type_.fields]
            return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
        case SchemaType():
            return type_.schema[:MAX_SCHEMA_LENGTH]
        case AnyType():
            return "any JSON"
        case ScalarType():
            return describe(type_)


def _line(each: Field, indent: str) -> str:
    optional = " (may be left out)" if each.optional else ""
    return f"{indent}{json.dumps(each.name, ensure_ascii=False)}{optional}: {format_type(each.type, indent)}"


def example_of(type_: Type) -> JsonValue:
    """Build the smallest value of a type that shows its form; None where only the author's schema defines it."""
    match type_:
        case AnyType():
            return {}
        case ScalarType():
            return _EXAMPLES[type_.kind]
        case ChoiceType():
            return type_.values[0] if type_.values else ""
        case ListType():
            return [example_of(type_.item)]
        case MapType():
            return {"name": example_of(type_.value)}
        case RecordType():
            return {each.name: example_of(each.type) for each in type_.fields if not each.optional}
        case SchemaType():
            return _example_in_schema(read_plain(type_.schema))


def _example_in_schema(schema: JsonValue) -> JsonValue:
    given = schema.get("examples") if isinstance(schema, dict) else None
    return next((each for each in given if json_schema.fits(schema, each)), None) if isinstance(given, list) else None


def ask_again(type_: Type, problems: Iterable[Problem]) -> str:
    """Write the message to an agent whose result was wrong or missing."""
    found = [f"- {str(each)[:MAX_PROBLEM_LENGTH]}" for each in problems]
    said = (
        ["Your result does not have the form that this step requires:", *found]
        if found
        else ["Your result is missing."]
    )
    lines = [*said, "", "The form is:", format_type(type_)]
    example = example_of(type_)
    if example is not None:
        lines += ["", "A minimal example:", json.dumps(example, ensure_ascii=False, indent=2)]
    lines += ["", "Give the whole result again, as JSON of this form. Do not redo the work unless the result needs it."]
    return "\n".join(lines)
