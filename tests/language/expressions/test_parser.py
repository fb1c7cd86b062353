# ruff: noqa: E501 - messages are recorded in one piece
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Attribute, Binary, Compare, Filter, Literal, Logic, Name, Unary
from handrail.language.expressions.unparse import unparse
from handrail.language.problems import LanguageError
from handrail.model.codes import CODES
from support.language.expressions import EXPRESSIONS, is_read_or_explained


def problem(text: str) -> str:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    found = caught.value.problem
    assert found.code in CODES
    return f"{found.start}-{found.end} {found.code}: {found.message} | {found.hint}"


def test_a_filter_binds_tighter_than_comparison_and_arithmetic() -> None:
    expected = Logic(
        "and",
        (
            Compare(">=", Filter(Name("tasks"), "length"), Literal(1)),
            Compare("<=", Filter(Name("tasks"), "length"), Literal(12)),
        ),
    )
    assert parse("tasks | length >= 1 and tasks | length <= 12") == expected


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a+b*c", "a + b * c"),
        ("(a+b)*c", "(a + b) * c"),
        ("a-b-c", "a - b - c"),
        ("a-(b-c)", "a - (b - c)"),
        ("not a == b", "not a == b"),
        ("(not a) == b", "(not a) == b"),
        ("-x|abs", "-x | abs"),
        ("-(x|abs)", "-(x | abs)"),
        ("a or b and c", "a or b and c"),
        ("(a or b) and c", "(a or b) and c"),
        ("a or (b or c)", "a or (b or c)"),
        ("a if b else c if d else e", "a if b else c if d else e"),
        ("(a if b else c) if d else e", "(a if b else c) if d else e"),
        ("x is not none", "x is not none"),
        ("a ~ b + c", "a ~ b + c"),
        ('"it\'s"', "'it\\'s'"),
        ("True and None == null", "true and none == none"),
        ("x|join(',', attribute='id')", "x | join(',', attribute='id')"),
        ("{'a': [1, 2.5],}['a'][0]", "{'a': [1, 2.5]}['a'][0]"),
        ("(x | first).name", "(x | first).name"),
        ("a not in [1, 2]", "a not in [1, 2]"),
        ("steps.if.for", "steps.if.for"),
    ],
)
def test_precedence_is_jinjas_and_the_canonical_text_keeps_it(text: str, canonical: str) -> None:
    assert unparse(parse(text)) == canonical
    assert parse(canonical) == parse(text)


@given(EXPRESSIONS)
def test_what_is_written_reads_back_as_the_same_tree(expression: Attribute) -> None:
    assert parse(unparse(expression)) == expression


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert is_read_or_explained(parse, text)


@given(st.text(alphabet="ab1.'\"\\ |()[]{}-+*/%~<>=!,:notinrsfel", max_size=60))
def test_any_text_of_the_languages_own_characters_is_read_or_refused_within_it(text: str) -> None:
    assert is_read_or_explained(parse, text)


def test_positions_are_exact_and_moved_by_the_offset() -> None:
    expression = parse("a + b.c | upper", 100)
    assert isinstance(expression, Binary)
    assert (expression.start, expression.end) == (100, 115)
    assert (expression.right.start, expression.right.end) == (104, 115)


def test_one_and_true_are_different_literals() -> None:
    assert parse("1") != parse("true")
    assert parse("1") != parse("1.0")
    assert len({parse("1"), parse("1.0"), parse("true")}) == 3


def test_text_knows_the_usual_escapes() -> None:
    assert parse(r"'a\n\t\\\'\u00e9\x41'") == Literal("a\n\t\\'éA")


def test_a_sign_is_an_operation() -> None:
    assert parse("-1") == Unary("-", Literal(1))


@pytest.mark.parametrize("piece", ["(", "[", "not ", "-", "{'a':", "x[", "x|f("])
def test_text_that_nests_without_end_is_refused(piece: str) -> None:
    assert "expression-too-large" in problem(piece * (9_000 // len(piece)))
    assert "expression-too-large" in problem(piece * 100_000)


@pytest.mark.parametrize("text", ["a" + ".b" * 4_000, "x" + "|f" * 4_000, "1" + "+1" * 4_000, "x" + "[0]" * 3_000])
def test_chains_that_make_a_deep_tree_are_refused(text: str) -> None:
    assert "nests deeper than 64 levels" in problem(text)


def test_a_left_grown_tree_inside_parentheses_counts_as_a_whole() -> None:
    text = "x"
    for _ in range(20):
        text = f"({text}{'+1' * 20})"
    assert "nests deeper" in problem(text)


def test_many_conditions_in_a_row_are_not_deep() -> None:
    text = " or ".join(f"x == {number}" for number in range(200))
    assert unparse(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", snapshot("0-0 expression-syntax: the expression is empty | None")),
        ("1 < 2 < 3", snapshot("6-7 operator-refused: comparisons do not chain | compare twice: `a < b and b < c`")),
        (
            "len(x)",
            snapshot(
                "0-4 call-refused: 'len' cannot be called; calls are not supported | values are changed by filters: `x | length`"
            ),
        ),
        (
            "''.format(x)",
            snapshot(
                "0-10 call-refused: 'format' cannot be called; calls are not supported | values are changed by filters: `'...' ~ x`"
            ),
        ),
        (
            "x.__class__",
            snapshot(
                "2-11 call-refused: field '__class__' starts with `_` | a field with this name is written `['__class__']`"
            ),
        ),
        (
            "2 ** 8",
            snapshot("2-4 operator-refused: `**` is not supported | powers are not supported; multiply with `*`"),
        ),
        (
            "(x := 1)",
            snapshot(
                "3-5 operator-refused: `:=` is not supported | an expression cannot assign; use a step's `output`"
            ),
        ),
        ("lambda x: x", snapshot("0-6 operator-refused: `lambda` is not supported | None")),
        (
            "[x for x in y]",
            snapshot(
                "3-6 operator-refused: comprehensions are not supported | use `| map('field')` or `| where('field', value)`"
            ),
        ),
        (
            "x[1:2]",
            snapshot("1-4 operator-refused: slices are not supported | use `first`, `last`, `truncate` or one item"),
        ),
        (
            "x[:2]",
            snapshot("1-3 operator-refused: slices are not supported | use `first`, `last`, `truncate` or one item"),
        ),
        ("a = 1", snapshot("2-3 operator-refused: `=` is not a comparison | write `==`")),
        ("a && b", snapshot("2-4 operator-refused: `&&` is not supported | write `and`")),
        ("!a", snapshot("0-1 operator-refused: `!` is not supported | write `not`")),
        (
            "a ? b : c",
            snapshot("2-3 operator-refused: `? :` is not supported | write `value if condition else other`"),
        ),
        (
            "x | first.name",
            snapshot(
                "9-10 expression-syntax: `.` cannot follow a filter directly | put the filter in parentheses: `(x | first).name`"
            ),
        ),
        ("a if b", snapshot("6-6 expression-syntax: `if` without `else` | write `value if condition else other`")),
        ("'abc", snapshot("0-4 expression-syntax: the text is never closed | add a closing '")),
        (r"'\d'", snapshot("1-3 expression-syntax: unknown escape `\\d` | a backslash itself is written `\\\\`")),
        ("a b", snapshot("2-3 expression-syntax: unexpected `b` | if it is text, put it in quotes: 'a b ...'")),
        ("(a", snapshot("0-1 expression-syntax: `(` is never closed | add `)`")),
        (
            "x.0",
            snapshot("2-3 expression-syntax: a field's name cannot be a number | an item of a list is written `[0]`"),
        ),
        (
            "2nd",
            snapshot(
                "0-3 expression-syntax: `2nd` is neither a number nor a name | a name cannot start with a digit; a `-` in a step's name is written `_`"
            ),
        ),
        (
            "x is blue",
            snapshot(
                "5-9 expression-syntax: unknown test 'blue' | the tests after `is` are: boolean, defined, empty, list, map, none, number, string, undefined; equality is written `==`"
            ),
        ),
        ("$x", snapshot("0-1 expression-syntax: unexpected `$` | write only the name, without `$`")),
        (
            "9007199254740993",
            snapshot(
                "0-16 expression-syntax: the number 9007199254740993 is too large | whole numbers go up to 9007199254740992"
            ),
        ),
        ("1e999", snapshot("0-5 expression-syntax: the number 1e999 is too large | None")),
        ("{a: 1}", snapshot("1-2 expression-syntax: a key of a map must be quoted text | write {'key': value}")),
        (
            "1 + not x",
            snapshot(
                "4-7 expression-syntax: `not` is not allowed inside an operation | put `(not ...)` in parentheses"
            ),
        ),
        ("a +", snapshot("3-3 expression-syntax: the expression ends too early | a value is missing at the end")),
        (
            "x | f(a=1, 2)",
            snapshot("11-12 expression-syntax: an argument without a name follows one with a name | None"),
        ),
        ("x\u00a0", snapshot("1-2 expression-syntax: unexpected `character U+00A0` | None")),
    ],
)
def test_what_cannot_be_read_is_explained(text: str, expected: str) -> None:
    assert problem(text) == expected
