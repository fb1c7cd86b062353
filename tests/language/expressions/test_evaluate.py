# ruff: noqa: E501 - messages are recorded in one piece
import copy

import pytest
from hypothesis import given
from inline_snapshot import snapshot

from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Expression
from handrail.language.problems import EvaluationError
from handrail.model.codes import CODES
from support.language.expressions import EXPRESSIONS, SCOPES, explained

SCOPE: dict[str, object] = {
    "tasks": [{"id": "b", "size": 2, "done": True}, {"id": "a", "size": 5, "done": False}],
    "issue": {"labels": ["ask-me"], "parent": None, "title": "Fix it"},
    "steps": {"run-tests": {"exit_code": 1}, "mixed_name-x": {"ok": True}},
    "ok": True,
    "n": 3,
    "words": "one two  three",
    "text": "first\nsecond\n",
    "empty": [],
}


def value(text: str) -> object:
    return evaluate(parse(text), SCOPE)


def problem(text: str) -> str:
    with pytest.raises(EvaluationError) as caught:
        value(text)
    found = caught.value.problem
    assert found.code in CODES
    return f"{found.start}-{found.end} {found.code}: {found.message} | {found.hint}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n + 1 * 2", 5),
        ("7 / 2", 3.5),
        ("7 // 2", 3),
        ("-7 % 3", 2),
        ("'a' ~ 1 ~ true ~ none", "a1truenone"),
        ("'ask-me' in issue.labels", True),
        ("'x' not in issue.labels", True),
        ("'title' in issue", True),
        ("'wo' in words", True),
        ("1 == true", False),
        ("1 == 1.0", True),
        ("'1' == 1", False),
        ("[1, {'a': 2}] == [1.0, {'a': 2}]", True),
        ("[1] != [true]", True),
        ("'a' < 'b'", True),
        ("steps.run_tests.exit_code", 1),
        ("steps['run-tests'].exit_code", 1),
        ("steps.mixed_name_x.ok", True),
        ("tasks[-1].id", "a"),
        ("'yes' if ok else missing", "yes"),
        ("ok or missing", True),
        ("not ok and missing", False),
        ("missing is defined", False),
        ("missing is undefined", True),
        ("issue.nope.deeper is defined", False),
        ("issue.parent is none", True),
        ("issue.parent is not none", False),
        ("n is number and words is string and ok is boolean and empty is list and issue is map", True),
        ("empty is empty and issue.parent is empty and '' is empty and n is not empty", True),
        ("ok is number", False),
    ],
)
def test_operators_work_on_plain_data(text: str, expected: object) -> None:
    result = value(text)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("missing | default('x')", "x"),
        ("issue.parent | default('x')", "x"),
        ("issue.parent.title | upper | default('x')", "x"),
        ("empty | first | default(0)", 0),
        ("tasks | length", 2),
        ("tasks | map('id') | sort | join(', ')", "a, b"),
        ("tasks | join('+', 'id')", "b+a"),
        ("tasks | sort('size', reverse=true) | map('size')", [5, 2]),
        ("tasks | where('done') | map('id')", ["b"]),
        ("tasks | where('id', 'a') | map('size')", [5]),
        ("tasks | where('nope', 1)", []),
        ("tasks | without('done') | map('id')", ["a"]),
        ("tasks | sum('size')", 7),
        ("(tasks | max('size')).id", "a"),
        ("[3, 1] | min", 1),
        ("[1, 2] | last", 2),
        ("['a', 'A', 'a'] | unique", ["a", "A"]),
        ("[1, true, 1.0] | unique", [1, True]),
        ("[1, 2] | reverse", [2, 1]),
        ("words | split", ["one", "two", "three"]),
        ("'a,b,' | split(',')", ["a", "b", ""]),
        ("text | lines", ["first", "second"]),
        ("' a ' | trim | upper | lower", "a"),
        ("words | replace('o', '0')", "0ne tw0  three"),
        ("'src/a.py' | basename", "a.py"),
        ("words | starts_with('one') and words | ends_with('three')", True),
        ("'abcdefgh' | truncate(5)", "ab..."),
        ("'abc' | truncate(5)", "abc"),
        ("text | indent(2)", "first\n  second\n"),
        ("'12' | int + 1", 13),
        ("' 1.5 ' | number", 1.5),
        ("3.7 | int", 3),
        ("2.567 | round(1)", 2.6),
        ("2.5 | round", 2),
        ("-3 | abs", 3),
        ("{'a': 1} | keys", ["a"]),
        ("{'a': 1} | values", [1]),
        ("{'a': 1} | items", [{"key": "a", "value": 1}]),
        ("'ab' | list", ["a", "b"]),
        ("{'a': 1} | list", [{"key": "a", "value": 1}]),
        ("[1, 'é'] | json", '[1, "é"]'),
        ("[1] | string", "[1]"),
    ],
)
def test_filters_do_what_their_table_says(text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("taskz", snapshot("0-5 undefined-value: 'taskz' is not defined, did you mean 'tasks'? | None")),
        (
            "issue.nope",
            snapshot(
                "0-10 undefined-value: field 'nope' does not exist | guard it: `| default(...)`; the fields are labels, parent, title"
            ),
        ),
        (
            "issue.parent.title",
            snapshot("0-18 undefined-value: there is no field 'title': the value before it is none | None"),
        ),
        ("words.length", snapshot("0-12 unknown-field: a text has no field 'length' | `| length` counts")),
        ("tasks[5]", snapshot("0-8 undefined-value: there is no item 5 in a list of 2 | None")),
        (
            "n and ok",
            snapshot("0-1 not-boolean: a condition must be true or false, not a number | compare it: `x > 0`"),
        ),
        (
            "not tasks",
            snapshot("4-9 not-boolean: a condition must be true or false, not a list | count it: `x | length > 0`"),
        ),
        (
            "1 if words else 2",
            snapshot("5-10 not-boolean: a condition must be true or false, not a text | compare it: `x == '...'`"),
        ),
        (
            "1 < 'a'",
            snapshot(
                "0-7 type-mismatch: a number and a text cannot be ordered | compare two numbers, or two texts; convert with `| number`"
            ),
        ),
        (
            "true + 1",
            snapshot("0-8 type-mismatch: a boolean is not a number | convert text with `| number`; join with `~`"),
        ),
        (
            "'a' + 'b'",
            snapshot("0-9 type-mismatch: a text is not a number | convert text with `| number`; join with `~`"),
        ),
        (
            "[1] + [2]",
            snapshot("0-9 type-mismatch: a list is not a number | convert text with `| number`; join with `~`"),
        ),
        (
            "'a' * 3",
            snapshot("0-7 type-mismatch: a text is not a number | convert text with `| number`; join with `~`"),
        ),
        ("1 / 0", snapshot("0-5 type-mismatch: division by zero | None")),
        (
            "1 in 2",
            snapshot("0-6 type-mismatch: cannot search for a number in a number | `in` searches lists, maps and text"),
        ),
        ("n | upper", snapshot("0-9 type-mismatch: `upper` works on text, not on a number | None")),
        ("words | replace('a')", snapshot("0-20 filter-arguments: `replace` needs 'new' | None")),
        ("words | truncate('a')", snapshot("17-20 type-mismatch: `truncate` needs a number as 'length' | None")),
        ("words | nope", snapshot("0-12 unknown-filter: unknown filter 'nope' | None")),
        (
            "words | file",
            snapshot(
                "0-12 unknown-filter: `file` is allowed only at the end of `${... | file}` in a shell command | None"
            ),
        ),
        (
            "tasks | sort",
            snapshot(
                "0-12 type-mismatch: a list of only numbers or only texts can be sorted | name a field: `sort('title')`"
            ),
        ),
        (
            "tasks | unique",
            snapshot("0-14 type-mismatch: `unique` cannot compare a map | name a field: `unique('id')`"),
        ),
        (
            "empty | max",
            snapshot(
                "0-11 undefined-value: an empty list has no smallest or largest item | guard it: `| default(...)`"
            ),
        ),
        ("'x1' | int", snapshot("0-10 type-mismatch: 'x1' is not a number | None")),
        ("words[0]", snapshot("0-8 type-mismatch: a text cannot be indexed with a number | None")),
    ],
)
def test_what_has_no_value_is_explained(text: str, expected: str) -> None:
    assert problem(text) == expected


@given(EXPRESSIONS, SCOPES)
def test_any_expression_on_any_data_has_a_value_or_an_explanation(
    expression: Expression, scope: dict[str, object]
) -> None:
    before = repr(scope)
    try:
        evaluate(expression, scope)
    except EvaluationError as error:
        explained(error)
    assert repr(scope) == before


def test_filters_do_not_change_the_data() -> None:
    scope: dict[str, object] = {"xs": [3, 1, 2], "m": {"b": [2, 1]}}
    before = copy.deepcopy(scope)
    for text in ("xs | sort", "xs | reverse", "xs | unique", "m.b | sort", "m | items", "xs | list"):
        evaluate(parse(text), scope)
    assert scope == before
