import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.language.expressions.parser import parse
from handrail.language.problems import LanguageError
from handrail.language.templates.interpolate import parse_condition, parse_text
from support.language.expressions import is_read_or_explained


def test_placeholders_know_where_they_stand() -> None:
    interpolated = parse_text("ab ${name}!")
    assert interpolated.sole_expression is None
    assert [(part.start, part.end) for part in interpolated.parts if not isinstance(part, str)] == [(3, 10)]
    assert parse_text("${name}").sole_expression == parse("name")


def test_actions_syntax_is_left_alone_with_a_warning() -> None:
    (warning,) = parse_text("a ${{ github.sha }} b").warnings
    assert (warning.code, warning.start, warning.end) == ("actions-placeholder", 2, 19)
    assert warning.message == snapshot("`${{ ... }}` is GitHub Actions' syntax and is left unchanged")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "${",
            snapshot(
                "0-2 template-syntax: `${` is never closed | add `}`, or write `$${` if you mean the literal text"
            ),
        ),
        ("a ${} b", snapshot("2-5 template-syntax: `${}` is empty | write `${name}`")),
        ("${x:-y}", snapshot("3-4 expression-syntax: unexpected `:` | a default is written `${x | default('y')}`")),
        ("${x y}", snapshot("4-5 expression-syntax: unexpected `y` | if it is text, put it in quotes: 'x y ...'")),
        ("ab ${x.}", snapshot("6-7 expression-syntax: a field's name must follow `.` | None")),
    ],
)
def test_what_cannot_be_read_is_explained(text: str, expected: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_text(text)
    found = caught.value.problem
    assert f"{found.start}-{found.end} {found.code}: {found.message} | {found.hint}" == expected


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("${actionable} == false", "actionable == false"),
        ("${actionable == false}", "actionable == false"),
        ("{{ actionable }} == false", "actionable == false"),
        ("{{.actionable}} == false", "actionable == false"),
        ("{{ .a.b == false }}", "a.b == false"),
        ("${a or b} and c", "(a or b) and c"),
        ("  ${ a }  ", "a"),
    ],
)
def test_every_old_form_of_a_condition_reads_as_the_bare_one(text: str, bare: str) -> None:
    condition = parse_condition(text)
    assert condition.expr == parse(bare)
    assert (condition.bare, condition.wrapped) == (bare, True)


def test_a_bare_condition_is_not_wrapped() -> None:
    condition = parse_condition(" a == '{{' ")
    assert (condition.bare, condition.wrapped) == ("a == '{{'", False)


def test_positions_in_a_wrapped_condition_are_those_of_the_text() -> None:
    text = "${a or bad} and ${x.y}"
    for name in ("bad", "x.y"):
        expression = parse_condition(text).expr
        spans = repr(expression)
        assert f"start={text.index(name)}, end={text.index(name) + len(name)}" in spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "'${x}' == 'a'",
            snapshot("0-6 `${x}` is inside quotes and is plain text there | write `x` without quotes"),
        ),
        ("${a == 1", snapshot("0-2 `${` is never closed | add `}`")),
    ],
)
def test_a_condition_that_cannot_be_read_is_explained(text: str, expected: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_condition(text)
    found = caught.value.problem
    assert f"{found.start}-{found.end} {found.message} | {found.hint}" == expected


@given(st.text() | st.text(alphabet="${}ab.'\"| "))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (parse_text, parse_condition):
        assert is_read_or_explained(read, text)


@given(st.text().filter(lambda text: "${" not in text))
def test_text_without_placeholders_is_itself(text: str) -> None:
    assert parse_text(text).parts == (text,)
