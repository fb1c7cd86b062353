import json

import pytest

from handrail.compiler.workrail.passes.feature_config import config_text, feature_config
from handrail.model.diagnostics import Report
from handrail.model.workflow.values import JsonValue
from support.compiler.workrail_building import document

SCHEMA: JsonValue = {
    "type": "object",
    "properties": {
        "deep": {"type": "boolean", "default": False},
        "rounds": {"type": "integer", "default": 2},
        "name": {"type": "string"},
    },
}


def checked(config: object) -> tuple[dict[str, JsonValue] | None, list[str]]:
    report = Report()
    found = feature_config(SCHEMA, document(json.dumps(config)).root, report)
    return found, [each.message for each in report]


def test_defaults_fill_what_is_not_given_sorted_by_name() -> None:
    found, problems = checked({"name": "x"})
    assert list((found or {}).items()) == [("deep", False), ("name", "x"), ("rounds", 2)]
    assert problems == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"deep": 1}, "expected true or false"),
        ({"rounds": True}, "expected a whole number"),
        ({"rounds": 1.5}, "expected a whole number"),
        ({"name": []}, "expected text"),
    ],
)
def test_each_type_is_held_to(config: object, message: str) -> None:
    assert checked(config)[1] == [message]


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (3, "3"), ("x", "x"), (["a", "b"], "a, b"), ([], "")]
)
def test_settings_are_written_as_people_write_them(value: JsonValue, text: str) -> None:
    assert config_text(value) == text
