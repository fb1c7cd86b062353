"""Artifacts against the schemas of contracts, with a full validator as the judge."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from handrail.engine.contracts.example import minimal_example
from handrail.engine.contracts.schema import fits, is_same_json, issues
from handrail.model.workflow.values import JsonValue
from support.places import LIBRARY

CONTRACTS = sorted((LIBRARY / "contracts").glob("*.json"))
each_contract = pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.stem)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@each_contract
def test_the_example_of_a_contract_fits_and_so_does_the_smallest_artifact(path: Path) -> None:
    contract = read(path)
    assert issues(contract["schema"], contract["example"]) == ()
    assert issues(contract["schema"], minimal_example(contract["schema"])) == ()


ODD: list[Any] = [None, True, 0, 1, -1, 2.5, "", "x", "x" * 2000, [], {}, ["x"], {"x": 1}, "high", "minor", "Ä ö"]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for name, item in cast("dict[str, Any]", value).items():
            found += places(item, (*path, name))
    if isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            found += places(item, (*path, index))
    return found


@given(st.data())
@settings(deadline=None)
def test_a_changed_artifact_is_judged_as_a_full_validator_judges_it(data: st.DataObject) -> None:
    contract = read(data.draw(st.sampled_from(CONTRACTS)))
    artifact = json.loads(json.dumps(contract["example"]))
    place = data.draw(st.sampled_from(places(artifact)[1:]))
    inside = artifact
    for part in place[:-1]:
        inside = inside[part]
    if data.draw(st.booleans()):
        inside[place[-1]] = data.draw(st.sampled_from(ODD))
    elif isinstance(inside, dict):
        del inside[place[-1]]
    schema = contract["schema"]
    judge: Any = Draft202012Validator(schema)
    expected = judge.is_valid(artifact)
    if fits(schema, artifact) != expected:
        # Formats are not asserted by default there; here they are.
        assert expected
        assert all("must be a date-time" in issue or "must be a uuid" in issue for issue in issues(schema, artifact))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = (
    "type const enum required properties additionalProperties propertyNames items pattern format minLength maxItems "
    "minProperties minimum allOf anyOf oneOf not if"
)


@given(st.dictionaries(st.sampled_from(KEYWORDS.split()), JSON), JSON)
def test_every_schema_however_odd_has_an_answer_for_every_value(schema: dict[str, Any], value: Any) -> None:
    assert fits(schema, value) == (issues(schema, value) == ())
    minimal_example(schema)


def test_issues_name_their_places() -> None:
    schema: Any = {
        "properties": {"list": {"items": {"required": ["id"], "properties": {"id": {"type": "integer"}}}}},
        "additionalProperties": False,
    }
    assert issues(schema, {"list": [{"id": 1}, {}, {"id": "x"}], "odd": 1}) == (
        "list[1].id is missing",
        "list[2].id must be of type integer, got 'x'",
        "odd is not allowed here",
    )


def test_of_several_forms_the_nearest_is_told() -> None:
    forms: Any = {"oneOf": [{"type": "string"}, {"required": ["a", "b"]}]}
    assert issues(forms, {"a": 1, "c": 2})[0] in ("the artifact must be of type string, got a map", "b is missing")
    assert issues({"oneOf": [{}, {}]}, 1) == (
        "the artifact matches more than one of several alternatives that exclude each other",
    )


def test_true_is_not_one() -> None:
    yes: JsonValue = True
    assert not is_same_json(yes, 1)
    assert not fits({"const": 1}, yes)
    assert fits({"const": [1, {"a": 2}]}, [1.0, {"a": 2}])
    assert not fits({"type": "integer"}, yes)
    assert fits({"type": "integer"}, 2.0)
    assert not fits({"type": "integer"}, float("inf"))


def test_at_most_twenty_issues_are_told() -> None:
    assert len(issues({"items": {"type": "string"}}, list(range(100)))) == 20
