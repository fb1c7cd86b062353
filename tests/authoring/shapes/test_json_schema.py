"""The printed JSON Schema says what the checker checks."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.authoring.shapes.json_schema import json_schema
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText, plain
from handrail.sources.library import library_root

SCHEMA = json_schema(WORKFLOW, "Handrail workflow")
VALIDATOR: Any = jsonschema.Draft202012Validator(SCHEMA)
WORKFLOWS = sorted((library_root() / "workflows").glob("*/workflow.yaml"))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$ref"] == "#/$defs/workflow"


def test_shared_records_stand_once() -> None:
    assert len(json.dumps(SCHEMA)) < 125_000
    assert "budget" in SCHEMA["$defs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.parent.name)
def test_a_library_workflow_is_accepted(path: Path) -> None:
    node = read_yaml(SourceText("workflow.yaml", path.read_text("utf-8")), Report())
    assert node is not None
    VALIDATOR.validate(plain(node))


@pytest.mark.parametrize(
    "data",
    [
        {"name": "a"},
        {"name": "a", "steps": []},
        {"name": "a", "steps": [{"name": "x"}]},
        {"name": "a", "steps": [{"name": "x", "promt": "y z"}]},
        {"name": "a", "steps": [{"name": "x", "type": "scrpt", "command": "ls"}]},
        {"name": "a", "steps": [{"name": "x", "type": "gate", "command": "ls", "checks": "project"}]},
        {"name": "a", "steps": [{"name": "x", "command": "ls", "retry": -1}]},
        {"name": "a", "steps": [{"name": "x", "prompt": "y z", "access": "write"}]},
        {"name": "a", "budget": {"usd": "6"}, "steps": [{"name": "x", "command": "ls"}]},
    ],
)
def test_a_wrong_shape_is_refused(data: Any) -> None:
    assert not VALIDATOR.is_valid(data)


LOOP = {"name": "x", "type": "loop", "for": 2, "steps": [{"name": "y", "command": "ls"}]}


@pytest.mark.parametrize(
    ("limits", "valid"),
    [
        ({"max_iterations": 2}, True),
        ({"max": 2}, True),
        ({"max_cycles": 2}, True),
        ({"max": 0}, False),
        ({}, False),
        ({"max": 2, "max_iterations": 2}, False),
        ({"max": 2, "max_cycles": 2}, False),
    ],
)
def test_one_word_for_a_limit_is_accepted_and_two_are_not(limits: dict[str, int], valid: bool) -> None:
    assert VALIDATOR.is_valid({"name": "a", "steps": [{**LOOP, **limits}]}) is valid
    retried = {"name": "x", "command": "ls", "retry": {"backoff": "1s", **limits}}
    assert VALIDATOR.is_valid({"name": "a", "steps": [retried]}) is (valid or limits == {"max": 0})
    gate = {"name": "x", "type": "gate", "command": "ls", "fix": {"prompt": "do it", **limits}}
    assert VALIDATOR.is_valid({"name": "a", "steps": [gate]}) is (valid or not limits)
