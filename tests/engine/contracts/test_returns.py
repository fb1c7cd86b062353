"""What an agent gives as its result, held against what its step returns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.engine.contracts.returns import (
    Fit,
    Misfit,
    Problem,
    ask_again,
    check_type,
    example_of,
    format_type,
    schema_of,
)
from handrail.engine.contracts.schema import fits
from handrail.model.workflow.types import (
    ANY,
    BOOL,
    INT,
    NULL,
    NUMBER,
    STRING,
    ChoiceType,
    Field,
    ListType,
    MapType,
    RecordType,
    ScalarType,
    SchemaType,
    Type,
)
from handrail.model.workflow.values import JsonValue

PATH, SLUG, GLOB = ScalarType("path"), ScalarType("slug"), ScalarType("glob")
LEVEL = ChoiceType(("low", "medium", "high"))
REPRO = RecordType((Field("cause", STRING), Field("confidence", LEVEL), Field("test", PATH)))
TASKS = ListType(
    RecordType((Field("depends_on", ListType(SLUG), optional=True), Field("files", ListType(GLOB)), Field("id", SLUG)))
)
OWN = SchemaType('{"examples":[{"n":1}],"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}')

TYPES = st.recursive(
    st.sampled_from([ANY, BOOL, INT, NULL, NUMBER, STRING, PATH, SLUG, GLOB, LEVEL]),
    lambda inner: (
        st.builds(ListType, inner)
        | st.builds(MapType, inner)
        | st.dictionaries(st.sampled_from(["a", "b", "c_d"]), st.tuples(inner, st.booleans()), max_size=3).map(
            lambda fields: RecordType(tuple(Field(name, type_, flag) for name, (type_, flag) in fields.items()))
        )
    ),
    max_leaves=6,
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def problems(type_: Type, value: JsonValue) -> list[str]:
    found = check_type(type_, value)
    return [str(each) for each in found.problems] if isinstance(found, Misfit) else []


def test_a_result_of_its_type_is_kept_as_it_is() -> None:
    value: JsonValue = {"cause": "x", "confidence": "low", "test": "tests/test_x.py"}
    assert check_type(REPRO, value) == Fit(value)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (INT, 3),
        (NUMBER, 3),
        (NUMBER, 2.5),
        (BOOL, False),
        (NULL, None),
        (STRING, ""),
        (PATH, "a/b c.txt"),
        (PATH, "..hidden/x"),
        (SLUG, "a-1"),
        (GLOB, "src/**/*.py"),
        (LEVEL, "high"),
        (ANY, [1, {"x": None}]),
        (MapType(INT), {"any name": 1}),
        (RecordType((), open=True), {"x": 1}),
        (OWN, {"n": 1, "m": 2}),
    ],
)
def test_a_value_fits_without_repair(type_: Type, value: JsonValue) -> None:
    assert check_type(type_, value) == Fit(value)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (INT, "3"),
        (INT, True),
        (INT, 2.5),
        (NUMBER, float("nan")),
        (NUMBER, float("inf")),
        (BOOL, "true"),
        (STRING, None),
        (STRING, "\ud800"),
        (PATH, ""),
        (PATH, "."),
        (PATH, "/etc/passwd"),
        (PATH, "a/../../x"),
        (PATH, "a\\b"),
        (PATH, "a\0"),
        (PATH, "C:/x"),
        (SLUG, "Auth"),
        (SLUG, "-rf"),
        (SLUG, "a-"),
        (SLUG, "a/b"),
        (SLUG, "a\n"),
        (SLUG, "a" * 101),
        (GLOB, "/**"),
        (LEVEL, "High"),
        (ListType(INT), {"0": 1}),
        (MapType(INT), {"a": "1"}),
        (REPRO, []),
        (OWN, {"n": "1"}),
    ],
)
def test_nothing_is_guessed_for_a_value_that_does_not_fit(type_: Type, value: JsonValue) -> None:
    assert problems(type_, value)


def test_every_problem_is_told_with_its_place_what_was_expected_and_what_was_given() -> None:
    value: JsonValue = [
        {"id": "Auth Module", "files": ["src/**.py", 3]},
        {"files": "src", "id": "b", "depend_on": ["a"]},
        7,
    ]
    assert problems(TASKS, value) == snapshot(
        [
            (
                "$[0].files[0]: expected a glob below the workspace, such as 'src/**/*.py'"
                ", got the text 'src/**.py', which has '**' beside other characters: write src/**/*.py"
            ),
            "$[0].files[1]: expected a glob below the workspace, such as 'src/**/*.py', got 3",
            (
                "$[0].id: expected a short name of a-z, 0-9 and '-' that starts and ends with a letter or digit"
                ", got the text 'Auth Module'"
            ),
            "$[1].files: expected a list, got the text 'src'",
            "$[1].depend_on is unknown: did you mean 'depends_on'?",
            "$[2]: expected a map, got 7",
        ]
    )
    assert problems(REPRO, {"confidence": "High", "test": "/etc/passwd"}) == snapshot(
        [
            "$.cause is missing: give a text",
            "$.confidence: expected one of 'low', 'medium', 'high', got the text 'High'",
            (
                "$.test: expected a path below the workspace, relative, with '/' and without '..'"
                ", got the text '/etc/passwd', which is absolute"
            ),
        ]
    )
    assert problems(OWN, {"n": "1"}) == snapshot(["$.n must be of type integer, got '1'"])
    assert problems(STRING, None) == snapshot(["$: expected a text, got null"])


def test_what_is_only_written_differently_is_repaired_and_told() -> None:
    type_ = RecordType((Field("count", INT), Field("depends_on", ListType(SLUG)), Field("note", STRING, optional=True)))
    value: JsonValue = {"count": 3.0, "depends-on": ["a"], "note": None, "thoughts": "long"}
    assert check_type(type_, value) == snapshot(
        Fit(
            value={"count": 3, "depends_on": ["a"]},
            repairs=(
                "$['depends-on'] was read as depends_on",
                "$.count: 3.0 was read as 3",
                "$.note: no value was given, so it was left out",
                "$.thoughts was not asked for, so it was left out",
            ),
        )
    )


def test_a_path_below_the_agents_folder_becomes_relative() -> None:
    found = check_type(ListType(PATH), ["/w/run/tests/x.py", "./a", "b"], root="/w/run")
    assert found == snapshot(
        Fit(
            value=["tests/x.py", "a", "b"],
            repairs=("$[0]: '/w/run/tests/x.py' was read as 'tests/x.py'", "$[1]: './a' was read as 'a'"),
        )
    )
    assert isinstance(check_type(PATH, "/w/running/x", root="/w/run"), Misfit)
    assert isinstance(check_type(PATH, "/w/run/../x", root="/w/run"), Misfit)


def test_a_misfit_tells_a_bounded_number_of_problems() -> None:
    many: JsonValue = ["x" for _ in range(1000)]
    found = check_type(ListType(INT), many)
    assert isinstance(found, Misfit)
    assert len(found.problems) == 20


def test_a_value_that_never_ends_is_a_misfit() -> None:
    deep: JsonValue = []
    for _ in range(5000):
        deep = [deep]
    assert problems(ANY, deep) == snapshot(["$ cannot be stored: it is nested deeper than 100 levels"])


@given(TYPES, VALUES)
def test_every_value_is_judged_and_what_fits_fits_again(type_: Type, value: JsonValue) -> None:
    found = check_type(type_, value)
    if isinstance(found, Fit):
        assert check_type(type_, found.value) == Fit(found.value)
        assert fits(schema_of(type_), found.value)


@given(TYPES)
def test_the_example_of_a_type_fits_it_and_its_schema(type_: Type) -> None:
    example = example_of(type_)
    assert check_type(type_, example) == Fit(example)
    assert fits(schema_of(type_), example)


def test_the_schema_of_a_type_says_what_the_type_says() -> None:
    assert schema_of(TASKS) == snapshot(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "depends_on": {
                        "type": "array",
                        "items": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "maxLength": 100},
                    },
                    "files": {
                        "type": "array",
                        "items": {"type": "string", "description": "a glob below the workspace, such as src/**/*.py"},
                    },
                    "id": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "maxLength": 100},
                },
                "required": ["files", "id"],
                "additionalProperties": False,
            },
        }
    )
    assert schema_of(OWN) == json.loads(OWN.schema)


def test_an_agent_is_told_what_was_wrong_which_form_is_needed_and_an_example() -> None:
    found = check_type(TASKS, [{"id": "A"}])
    assert isinstance(found, Misfit)
    assert ask_again(TASKS, found.problems) == snapshot("""\
Your result does not have the form that this step requires:
- $[0].files is missing: give a list
- $[0].id: expected a short name of a-z, 0-9 and '-' that starts and ends with a letter or digit, got the text 'A'

The form is:
[{
  "depends_on" (may be left out): [slug],
  "files": [glob],
  "id": slug
}]

A minimal example:
[
  {
    "files": [
      "folder/**"
    ],
    "id": "short-name"
  }
]

Give the whole result again, as JSON of this form. Do not redo the work unless the result needs it.\
""")


def test_an_agent_that_gave_no_result_is_told_so() -> None:
    assert ask_again(REPRO, ()) == snapshot("""\
Your result is missing.

The form is:
{
  "cause": string,
  "confidence": "low" | "medium" | "high",
  "test": path
}

A minimal example:
{
  "cause": "text",
  "confidence": "low",
  "test": "folder/file.txt"
}

Give the whole result again, as JSON of this form. Do not redo the work unless the result needs it.\
""")
    assert "A minimal example" not in ask_again(SchemaType("{}"), (Problem("$", "is missing"),))


def test_types_are_written_in_short() -> None:
    assert format_type(MapType(ListType(LEVEL))) == '{NAME: ["low" | "medium" | "high"]}'
    assert format_type(ANY) == "any JSON"
    assert format_type(OWN) == OWN.schema
