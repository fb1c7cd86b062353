import json
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.shapes.conform import conform
from handrail.authoring.shapes.json_schema import json_schema
from handrail.authoring.workrail.schema import WORKFLOW
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText

STEP: dict[str, Any] = {"id": "first-step", "title": "First", "prompt": "Do it."}
BASIS: dict[str, Any] = {"id": "sample-flow", "name": "S", "description": "d", "version": "1.0.0", "steps": [STEP]}


def problems(data: object) -> list[tuple[str, str]]:
    report = Report()
    root = read_json(SourceText("w.json", json.dumps(data)), report)
    assert root is not None
    conform(WORKFLOW, root, report)
    return [(found.code, found.message) for found in report]


def with_step(**keys: Any) -> dict[str, Any]:
    return {**BASIS, "steps": [{**STEP, **keys}]}


def test_the_smallest_workflow_conforms() -> None:
    assert problems(BASIS) == []


@pytest.mark.parametrize("key", sorted(BASIS))
def test_every_required_key_is_asked_for(key: str) -> None:
    data = {name: value for name, value in BASIS.items() if name != key}
    assert problems(data) == [("missing-key", f"a workflow needs '{key}'")]


@pytest.mark.parametrize("key", ["id", "title"])
def test_every_required_key_of_a_step_is_asked_for(key: str) -> None:
    data = {**BASIS, "steps": [{name: value for name, value in STEP.items() if name != key}]}
    assert problems(data) == [("missing-key", f"a step needs '{key}'")]


@pytest.mark.parametrize("data", [{**BASIS, "stepz": []}, with_step(promt="x"), with_step(expectedOutput={})])
def test_unknown_keys_are_refused(data: dict[str, Any]) -> None:
    assert [code for code, _ in problems(data)] == ["unknown-key"]


@pytest.mark.parametrize("name", ["abc", "a-b_c9", "wr.discovery", "team.design-review", "9lives"])
def test_ids_of_workflows_may_have_a_namespace(name: str) -> None:
    assert problems({**BASIS, "id": name}) == []


@pytest.mark.parametrize("name", ["ab", "Abc", "a.b.c", "9x.abc", "a b c", "x" * 65, ".abc", "abc\n"])
def test_other_ids_of_workflows_are_refused(name: str) -> None:
    assert len(problems({**BASIS, "id": name})) == 1


@pytest.mark.parametrize("name", ["ab", "a_b", "A-b", "a.b", "x" * 65])
def test_ids_of_steps_have_no_underscore_and_no_dot(name: str) -> None:
    assert len(problems(with_step(id=name))) == 1


@pytest.mark.parametrize("version", ["0.0.1", "1.2.3-alpha.1", "1.2.3+build.5"])
def test_versions_are_semantic(version: str) -> None:
    assert problems({**BASIS, "version": version}) == []


@pytest.mark.parametrize("version", ["1", "1.2", "v1.2.3", "01.2.3", ""])
def test_other_versions_are_refused(version: str) -> None:
    assert len(problems({**BASIS, "version": version})) == 1


@pytest.mark.parametrize(("key", "most"), [("name", 128), ("description", 512), ("about", 4096), ("agentRole", 1024)])
def test_texts_of_a_workflow_have_limits(key: str, most: int) -> None:
    assert problems({**BASIS, key: "x" * most}) == []
    assert problems({**BASIS, key: "x" * (most + 1)}) != []
    assert problems({**BASIS, key: ""}) != []


@pytest.mark.parametrize(("key", "most"), [("title", 128), ("prompt", 8192), ("agentRole", 1024)])
def test_texts_of_a_step_have_limits(key: str, most: int) -> None:
    assert problems(with_step(**{key: "x" * most})) == []
    assert problems(with_step(**{key: "x" * (most + 1)})) != []


@pytest.mark.parametrize("key", ["preconditions", "clarificationPrompts", "metaGuidance"])
def test_lists_of_sentences_hold_each_once_and_not_too_long(key: str) -> None:
    assert problems({**BASIS, key: ["a", "x" * 256]}) == []
    assert problems({**BASIS, key: ["a", "a"]}) != []
    assert problems({**BASIS, key: ["x" * 257]}) != []


@pytest.mark.parametrize(
    ("examples", "fits"),
    [
        ([], False),
        (["x" * 10], True),
        (["x" * 9], False),
        (["x" * 121], False),
        ([f"example {n:03}" for n in range(7)], False),
    ],
)
def test_examples_are_one_to_six_short_texts(examples: list[str], fits: bool) -> None:
    assert (problems({**BASIS, "examples": examples}) == []) is fits


@pytest.mark.parametrize("data", [{**BASIS, "steps": []}, {**BASIS, "validatedAgainstSpecVersion": 0}])
def test_a_workflow_has_steps_and_a_stamp_counts_from_one(data: dict[str, Any]) -> None:
    assert len(problems(data)) == 1


@pytest.mark.parametrize("value", [0, 1001, 2.5, "3", True])
def test_the_most_rounds_of_a_loop_are_one_to_a_thousand(value: Any) -> None:
    loop = {"type": "for", "count": 1, "maxIterations": value}
    data = {**BASIS, "steps": [{"id": "the-loop", "type": "loop", "title": "t", "loop": loop, "body": [STEP]}]}
    assert len(problems(data)) == 1


def test_a_loop_without_its_type_is_told_what_is_missing() -> None:
    loop = {"type": "for", "count": 1, "maxIterations": 2}
    data = {**BASIS, "steps": [{"id": "the-loop", "title": "t", "loop": loop, "body": [STEP]}]}
    assert problems(data) == [("missing-key", "a loop step needs 'type'")]


def test_an_unknown_type_of_step_is_refused() -> None:
    assert problems(with_step(type="lop")) == [("bad-value", "unknown type 'lop', did you mean 'loop'?")]


@pytest.mark.parametrize(
    "part", [{"kind": "text", "refId": "x"}, {"kind": "ref", "text": "x"}, {"text": "x"}, {"kind": "image"}]
)
def test_a_prompt_part_is_text_or_a_reference(part: dict[str, Any]) -> None:
    data = {**BASIS, "steps": [{"id": "first-step", "title": "t", "promptBlocks": {"goal": [part]}}]}
    assert problems(data) != []


@pytest.mark.parametrize("name", ["One", "9x", "a b", ""])
def test_ids_of_fragments_start_with_a_small_letter(name: str) -> None:
    assert len(problems(with_step(promptFragments=[{"id": name, "text": "x"}]))) == 1


def test_functions_are_referred_to_with_brackets() -> None:
    assert problems(with_step(functionReferences=["look()"])) == []
    assert problems(with_step(functionReferences=["look"])) == [
        ("bad-value", "'look' is not a valid function reference")
    ]


def test_the_shape_prints_as_a_valid_json_schema_that_agrees() -> None:
    schema = json_schema(WORKFLOW, "workflow")
    validator = cast("Any", Draft202012Validator)
    validator.check_schema(schema)
    assert validator(schema).is_valid(BASIS)
    assert not validator(schema).is_valid({**BASIS, "stepz": []})
    assert not validator(schema).is_valid(with_step(id="a_b"))
