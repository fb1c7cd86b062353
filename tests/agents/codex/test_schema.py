"""Which schemas of results are given to Codex, and how."""

import pytest
from inline_snapshot import snapshot

from handrail.agents.codex.schema import make_strict
from handrail.model.workflow.values import JsonValue

TEXT: JsonValue = {"type": "string"}


def record(required: list[str], more: JsonValue = False, **parts: JsonValue) -> JsonValue:
    return {"type": "object", "properties": dict(parts), "required": [*required], "additionalProperties": more}


def test_what_openai_takes_is_given_as_it_is() -> None:
    choice: JsonValue = {"type": "string", "enum": ["yes", "no"]}
    inner = record(["file"], file=TEXT)
    schema = record(["answer", "findings"], answer=choice, findings={"type": "array", "items": inner})
    assert make_strict(schema) == schema


def test_what_only_narrows_is_left_to_the_check_afterwards() -> None:
    schema: JsonValue = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 64, "description": "short"}},
        "required": ["name"],
    }
    assert make_strict(schema) == snapshot(
        {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "short"}},
            "required": ["name"],
            "additionalProperties": False,
        }
    )


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        TEXT,
        {"type": "array", "items": TEXT},
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "properties": {"a": TEXT}, "required": ["a"], "additionalProperties": True},
        record(["a"], a=TEXT, b=TEXT),
        record(["a"], {}, a=TEXT),
        record(["a"], a={}),
        record(["a"], a={"type": "array"}),
        record(["a"], a={"anyOf": [TEXT, {}]}),
        record(["a"], a={"type": "string", "not": {"const": "x"}}),
        record(["a"], a=record([], b=TEXT)),
    ],
)
def test_what_cannot_be_said_strictly_is_not_given(schema: JsonValue) -> None:
    assert make_strict(schema) is None


def test_a_choice_of_shapes_is_given() -> None:
    schema = record(["a"], a={"anyOf": [TEXT, {"type": "null"}]})
    assert make_strict(schema) == schema
