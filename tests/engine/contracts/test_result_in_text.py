"""The result that stands in an agent's last words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.contracts.result_in_text import find_result
from handrail.model.workflow.types import STRING, ChoiceType, Field, RecordType, ScalarType
from handrail.model.workflow.values import JsonValue

REPRO = RecordType(
    (Field("cause", STRING), Field("confidence", ChoiceType(("low", "high"))), Field("test", ScalarType("path")))
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("  [1, 2]\n", [1, 2]),
        ("3", 3),
        ('Done.\n```json\n{"a": 1}\n```\nBye.', {"a": 1}),
        ('```json\n{"a": 1}\n```\nno:\n```json\n{"a": 2}\n```\n', {"a": 2}),
        ('```json\n{"a": 1}\n```\n```\n{"a": 2}\n```', {"a": 1}),
        ('  ```JSON\n  {"a": 1}\n  ```', {"a": 1}),
        ('The result is {"a": {"b": [1]}} and that is it.', {"a": {"b": [1]}}),
        ('first {"a": 1}, then {"a": 2}', {"a": 2}),
        ('an unclosed { and {"a": "}"}', {"a": "}"}),
        ("```json\n{broken\n```\n[1]", [1]),
    ],
)
def test_the_json_in_an_agents_last_words_is_found(text: str, value: JsonValue) -> None:
    assert find_result(text) == value


@pytest.mark.parametrize("text", ["", "no result", "{", "]", "NaN", '{"a": NaN}', "1e999", '"\\ud800"', "[" * 100_000])
def test_words_without_json_give_nothing(text: str) -> None:
    assert find_result(text) is None


def test_of_several_results_the_last_that_fits_is_taken() -> None:
    text = 'I return {"cause": "x", "confidence": "low", "test": "t.py"} as in [1] and {"see": 2}.'
    assert find_result(text, REPRO) == {"cause": "x", "confidence": "low", "test": "t.py"}
    assert find_result(text, STRING) == {"see": 2}


def test_a_text_made_to_be_slow_is_given_up() -> None:
    assert find_result("[1," * 300_000) is None
    assert find_result("```x\n" * 200_000) is None
    assert find_result('{"a":' * 200_000 + "[1]") is None


@given(st.text('{}[]",:1`ajson\n ', max_size=80))
def test_no_words_raise_and_what_is_found_is_json(text: str) -> None:
    found = find_result(text, REPRO)
    assert json.loads(json.dumps(found)) == found
