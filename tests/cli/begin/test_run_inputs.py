"""Inputs of a run: types, clear errors, and values that would like to be code."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.compiler.record_types import ISSUE
from handrail.errors import UsageError
from handrail.model.workflow.plan import Input
from handrail.model.workflow.types import ANY, BOOL, INT, NUMBER, STRING, ChoiceType, ListType, ScalarType, Type
from handrail.operations.workflows.inputs import bind
from support.cli.running import Runs

TYPES: dict[str, Type] = {
    "text": STRING,
    "count": INT,
    "ratio": NUMBER,
    "deep": BOOL,
    "file": ScalarType("path"),
    "data": ANY,
    "names": ListType(ANY),
    "counts": ListType(INT),
    "level": ChoiceType(("low", "high")),
    "issue": ISSUE,
}
HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "${HOME}",
    "-n",
    "--help",
    "a\nb",
    "",
    " ",
    "\\",
    "*",
    "~",
    "é日本\u202e",
    "{{ 1 + 1 }}",
    "x" * 20_000,
]


def one(name: str, text: str) -> object:
    return bind([Input(name, TYPES[name])], [f"{name}={text}"], "")[name]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("text", "a=b", "a=b"),
        ("count", "-3", -3),
        ("ratio", "2", 2),
        ("ratio", ".5e1", 5.0),
        ("deep", "yes", True),
        ("deep", "FALSE", False),
        ("file", "src/a b.py", "src/a b.py"),
        ("data", '{"a": [1, null]}', {"a": [1, None]}),
        ("names", "a, b", ["a", "b"]),
        ("names", "", []),
        ("names", '["a,b", 1]', ["a,b", 1]),
        ("counts", "1,2", [1, 2]),
        ("counts", "[1, 2]", [1, 2]),
        ("level", "high", "high"),
    ],
)
def test_a_text_is_read_as_its_type(name: str, text: str, value: object) -> None:
    assert one(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("count", "3.5", "input 'count' must be int: it is not a whole number"),
        ("count", "١٢", "input 'count' must be int: it is not a whole number"),
        ("count", "9" * 400, "input 'count' must be int: it is larger than 9007199254740991"),
        ("ratio", "nan", "input 'ratio' must be number: it is not a number"),
        ("ratio", "1e999", "input 'ratio' must be number: it is not a number"),
        ("deep", "maybe", "input 'deep' must be bool: it is not true or false"),
        ("data", "NaN", "input 'data' must be json: it is not JSON (NaN is not a valid JSON number)"),
        ("data", "[" * 100_000, "input 'data' must be json: it is nested too deeply"),
        ("counts", "1,x", "input 'counts' must be list of int: it is not a whole number"),
        ("level", "hihg", "input 'level' must be low | high: it is not one of low, high, did you mean 'high'?"),
        ("issue", '{"titel": "x"}', "input 'issue' must be issue: an issue has no 'titel'"),
        ("issue", '{"number": "1"}', "input 'issue' must be issue: its 'number' has the wrong type"),
        ("text", "\udcff", "input 'text' must be string: it is not valid UTF-8"),
    ],
)
def test_a_text_that_is_not_of_its_type_is_refused_by_name(name: str, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        one(name, text)
    assert caught.value.message == said
    assert caught.value.next_step is not None
    assert caught.value.next_step.startswith(f"for example --input {name}=")


def test_an_issue_is_whole_whatever_was_given() -> None:
    assert one("issue", "login fails") == snapshot(
        {
            "id": "",
            "number": 0,
            "title": "login fails",
            "body": "login fails",
            "description": "login fails",
            "labels": [],
            "author": "",
            "url": "",
            "state": "",
            "branch": "",
            "comments": [],
            "assignees": [],
            "attachments": [],
            "tracker": "",
            "repository": "",
        }
    )
    assert set(one("issue", '{"title": "x", "number": 3}')) == set(ISSUE.names())  # pyright: ignore[reportArgumentType]


def test_what_is_missing_unknown_double_or_no_pair_is_said() -> None:
    declared = [Input("base", STRING), Input("my-count", INT), Input("deep", BOOL, required=False, default=False)]
    said: list[tuple[str, str | None]] = []
    for given_ in ([], ["bsae=x"], ["base=1", "base=2"], ["base"], ["=x"]):
        with pytest.raises(UsageError) as caught:
            bind(declared, given_, "")
        said.append((caught.value.message, caught.value.next_step))
    assert said == snapshot(
        [
            ("the inputs 'base' (string), 'my-count' (int) are required", "add --input base=TEXT --input my-count=3"),
            ("there is no input 'bsae', did you mean 'base'?", "inputs of this workflow: base, my-count, deep"),
            ("input 'base' was given twice", "pass it once"),
            ("--input 'base' does not have the form NAME=VALUE", "for example --input base=main"),
            ("--input '=x' does not have the form NAME=VALUE", "for example --input base=main"),
        ]
    )
    assert bind(declared, ["base=x", "my_count=1"], "") == {"base": "x", "my-count": 1, "deep": False}


def test_a_task_does_not_replace_what_was_given() -> None:
    declared = [Input("a", STRING), Input("b", STRING)]
    assert bind(declared, ["a=1"], "task") == {"a": "1", "b": "task"}
    with pytest.raises(UsageError, match="the inputs 'a' \\(string\\), 'b' \\(string\\) are required"):
        bind(declared, [], "task")


@given(st.sampled_from(sorted(TYPES)), st.text())
def test_any_text_is_a_value_that_can_be_kept_or_a_usage_error(name: str, text: str) -> None:
    try:
        value = one(name, text)
    except UsageError:
        return
    assert json.loads(json.dumps(value, allow_nan=False)) == value


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_value_reaches_the_command_as_it_is(runs: Runs, value: str) -> None:
    text = "name: NAME\ninput: {v: string}\nsteps:\n  - {name: a, command: 'printf %s ${v} > got'}\n"
    runs.add("echo", text)
    result = runs.call("run", "echo", "--json", f"--input=v={value}")
    assert result.exit_code == 0, result.output
    assert (runs.shop.root / "got").read_text() == value
    assert not (runs.shop.root / "pwned").exists()


def test_a_wrong_input_is_2_and_nothing_is_started(runs: Runs) -> None:
    runs.add(
        "echo", "name: NAME\ninput: {n: int, my-level: low | high = low}\nsteps:\n  - {name: a, command: 'true'}\n"
    )
    assert runs.text("run", "echo", "--input", "n=x", code=2) == snapshot("""\
error: input 'n' must be int: it is not a whole number
next: for example --input n=3
""")
    assert runs.text("run", "echo", code=2) == snapshot("""\
error: the input 'n' (int) is required
next: add --input n=3
""")
    assert runs.json("status") == {"runs": [], "cut": False, "older": None, "driver": None}


def test_an_input_with_a_hyphen_is_read_by_its_spoken_name(runs: Runs) -> None:
    runs.add(
        "hy", "name: NAME\ninput: {my-name: string}\nsteps:\n  - {name: a, command: 'echo ${my_name}', output: o}\n"
    )
    assert runs.json("run", "hy", "--input", "my-name=ann")["outputs"]["o"] == "ann"
