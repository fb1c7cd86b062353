# ruff: noqa: E501 - messages are recorded in one piece
import pytest
from hypothesis import given
from inline_snapshot import snapshot

from handrail.language.expressions.check import check, refs
from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Expression
from handrail.model.codes import CODES
from handrail.model.workflow.types import (
    ANY,
    BOOL,
    INT,
    NUMBER,
    STRING,
    ChoiceType,
    Field,
    ListType,
    MapType,
    RecordType,
    Type,
)
from support.language.expressions import EXPRESSIONS

STEP = RecordType((Field("exit_code", INT), Field("stdout", STRING), Field("status", STRING)))
SCOPE: dict[str, Type] = {
    "beads": ListType(RecordType((Field("id", STRING), Field("size", INT)))),
    "repro": RecordType((Field("test", STRING), Field("confidence", ChoiceType(("low", "medium", "high"))))),
    "steps": RecordType((Field("run-tests", STEP), Field("step_1", STEP))),
    "issue": RecordType((Field("labels", ListType(STRING)),), open=True),
    "costs": MapType(NUMBER),
    "dry-run": BOOL,
    "count": INT,
    "data": ANY,
}


def problems(text: str, *, boolean: bool = False) -> list[str]:
    found = check(parse(text), SCOPE, boolean=boolean).problems
    assert {one.code for one in found} <= set(CODES)
    return [f"{one.start}-{one.end} {one.code}: {one.message} | {one.hint}" for one in found]


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("count + 1", INT),
        ("count / 2", NUMBER),
        ("'a' ~ count", STRING),
        ("beads[0].id", STRING),
        ("beads | map('size') | first", INT),
        ("beads | first", RecordType((Field("id", STRING), Field("size", INT)))),
        ("costs.any_key", NUMBER),
        ("costs | values", ListType(NUMBER)),
        ("issue.whatever.deep", ANY),
        ("data.x[0].y | upper", STRING),
        ("count | default(1)", INT),
        ("dry_run", BOOL),
        ("steps['run-tests'].exit_code", INT),
        ("count if dry_run else 2", INT),
    ],
)
def test_types_follow_the_expression(text: str, type_: Type) -> None:
    checked = check(parse(text), SCOPE)
    assert checked.problems == ()
    assert checked.type == type_


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bead | length",
            snapshot(
                [
                    "0-4 unknown-name: unknown variable 'bead', did you mean 'beads'? | available here: beads, costs, count, data, dry_run, issue, repro, steps"
                ]
            ),
        ),
        (
            "repro.tset",
            snapshot(
                [
                    "6-10 unknown-field: unknown field 'tset' of 'repro', did you mean 'test'? | the fields are test, confidence"
                ]
            ),
        ),
        (
            "repro['tset']",
            snapshot(
                [
                    "6-12 unknown-field: unknown field 'tset' of 'repro', did you mean 'test'? | the fields are test, confidence"
                ]
            ),
        ),
        (
            "beads.id",
            snapshot(
                [
                    "0-8 unknown-field: 'beads' is a list and has no field 'id' | one item is `beads[0].id`, all of them `beads | map('id')`"
                ]
            ),
        ),
        (
            "beads | map('sise')",
            snapshot(
                [
                    "13-17 unknown-field: unknown field 'sise' of 'beads[0]', did you mean 'size'? | the fields are id, size"
                ]
            ),
        ),
        ("count.x", snapshot(["0-7 unknown-field: 'count' is a number and has no field 'x' | None"])),
        (
            "repro.confidence == 'hgih'",
            snapshot(
                [
                    "20-26 type-mismatch: `repro.confidence` is never 'hgih', did you mean 'high'? | it is one of low, medium, high"
                ]
            ),
        ),
        (
            "repro.confidence in ['low', 'none']",
            snapshot(["28-34 type-mismatch: `repro.confidence` is never 'none' | it is one of low, medium, high"]),
        ),
        (
            "count == '1'",
            snapshot(["0-12 type-mismatch: `count` is a number and `'1'` is a text: they are never equal | None"]),
        ),
        ("count < 'a'", snapshot(["0-11 type-mismatch: `<` cannot compare a number and a text | None"])),
        (
            "'a' in count",
            snapshot(["7-12 type-mismatch: `count` is a number; `in` searches lists, maps and text | None"]),
        ),
        (
            "beads | lenght",
            snapshot(
                [
                    "8-14 unknown-filter: unknown filter 'lenght', did you mean 'length'? | the filters are abs, basename, default, ends_with, first, indent, int, items, join, json, keys, last, length, lines, list, lower, map, max, min, number, replace, reverse, round, sort, split, starts_with, string, sum, trim, truncate, unique, upper, values, where, without"
                ]
            ),
        ),
        (
            "beads | selectattr('id')",
            snapshot(["8-18 unknown-filter: unknown filter 'selectattr' | write `| where('field', value)`"]),
        ),
        (
            "'a' | replace('b')",
            snapshot(["6-13 filter-arguments: `replace` needs 'new' | write `| replace(old, new)`"]),
        ),
        ("'a' | upper(1)", snapshot(["6-11 filter-arguments: `upper` takes no arguments, 1 given | write `| upper`"])),
        ("count | upper", snapshot(["8-13 type-mismatch: `upper` works on text, but `count` is a number | None"])),
        (
            "'a' | truncate('b')",
            snapshot(["15-18 type-mismatch: `truncate` needs a number as 'length', not a text | None"]),
        ),
        (
            "'a' + 'b'",
            snapshot(
                [
                    "0-3 type-mismatch: `'a'` is a text, not a number | join text with `~`",
                    "6-9 type-mismatch: `'b'` is a text, not a number | join text with `~`",
                ]
            ),
        ),
        ("beads['a']", snapshot(["0-10 type-mismatch: 'beads' is a list and cannot be indexed with a text | None"])),
        (
            "not count",
            snapshot(
                ["4-9 not-boolean: a condition must be true or false, but `count` is a number | write `count > 0`"]
            ),
        ),
        (
            "data | file",
            snapshot(
                [
                    "7-11 unknown-filter: `file` passes a value to a shell command; it must come last, as in `${... | file}` | None"
                ]
            ),
        ),
    ],
)
def test_mistakes_are_found_before_there_are_values(text: str, expected: list[str]) -> None:
    assert problems(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "beads",
            snapshot(
                [
                    "0-5 not-boolean: a condition must be true or false, but `beads` is a list | write `beads | length > 0`"
                ]
            ),
        ),
        (
            "repro.confidence",
            snapshot(
                [
                    "0-16 not-boolean: a condition must be true or false, but `repro.confidence` is one of low, medium, high | write `repro.confidence == 'high'`"
                ]
            ),
        ),
        (
            "count",
            snapshot(
                ["0-5 not-boolean: a condition must be true or false, but `count` is a number | write `count > 0`"]
            ),
        ),
        (
            "repro.test",
            snapshot(
                [
                    "0-10 not-boolean: a condition must be true or false, but `repro.test` is a text | write `repro.test == '...'` or `repro.test is not empty`"
                ]
            ),
        ),
        (
            "repro",
            snapshot(
                ["0-5 not-boolean: a condition must be true or false, but `repro` is a map | write `repro is defined`"]
            ),
        ),
        (
            "count and dry_run",
            snapshot(
                ["0-5 not-boolean: a condition must be true or false, but `count` is a number | write `count > 0`"]
            ),
        ),
    ],
)
def test_a_condition_must_be_a_boolean_and_the_hint_shows_one(text: str, expected: list[str]) -> None:
    assert problems(text, boolean=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "steps.run-tests.exit_code",
            snapshot(
                [
                    "0-25 hyphen-in-name: `-` is a minus sign here: `steps.run - tests.exit_code` | write `steps.run_tests.exit_code`"
                ]
            ),
        ),
        (
            "steps.run-tests.exit_code == 0",
            snapshot(
                [
                    "0-25 hyphen-in-name: `-` is a minus sign here: `steps.run - tests.exit_code` | write `steps.run_tests.exit_code`"
                ]
            ),
        ),
        (
            "steps.run-tests.stdout | length > 0",
            snapshot(
                [
                    "0-31 hyphen-in-name: `-` is a minus sign here: `steps.run - tests.stdout | length` | write `steps.run_tests.stdout | length`"
                ]
            ),
        ),
        (
            "steps.step-1.exit_code",
            snapshot(
                [
                    "0-22 hyphen-in-name: `-` is a minus sign here: `steps.step - 1.exit_code` | write `steps.step_1.exit_code`"
                ]
            ),
        ),
        ("dry-run", snapshot(["0-7 hyphen-in-name: `-` is a minus sign here: `dry - run` | write `dry_run`"])),
        (
            "steps.run-tests.exit_cod",
            snapshot(
                [
                    "0-24 hyphen-in-name: `-` is a minus sign here: `steps.run - tests.exit_cod` | write `steps.run_tests.exit_cod`"
                ]
            ),
        ),
    ],
)
def test_a_hyphen_in_a_name_gets_only_its_own_message(text: str, expected: list[str]) -> None:
    assert problems(text, boolean=True) == expected


def test_a_real_subtraction_is_left_alone() -> None:
    assert problems("count-1") == []
    assert problems("count-count") == []
    assert problems("data.run-count") == []


def test_unknown_data_is_never_complained_about() -> None:
    assert problems("data and data.x > 1 and data['y'] in data or data | first == 'a'", boolean=True) == []


@given(EXPRESSIONS)
def test_any_expression_can_be_checked(expression: Expression) -> None:
    assert {one.code for one in check(expression, SCOPE, boolean=True).problems} <= set(CODES)


def test_refs_are_the_longest_known_paths_with_positions() -> None:
    found = refs(parse("steps.a.b == steps['c-d'].e[0] and x | default(y)"))
    assert [(ref.path, ref.start, ref.end) for ref in found] == snapshot(
        [("steps.a.b", 0, 9), ("steps.c-d.e", 13, 27), ("x", 35, 36), ("y", 47, 48)]
    )


def test_names_are_the_variables_that_are_read() -> None:
    assert check(parse("count + beads[count].size"), SCOPE).names == {"count", "beads"}
