"""WorkRail's conditions: a table for every operator and pair of types."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.contracts.context_conditions import describe_condition, equal, evaluate_condition, holds, variables
from handrail.engine.contracts.javascript_values import is_truthy, number_of, text_of, trim
from handrail.language.patterns.read import has_match
from handrail.model.workflow.values import AllOf, Always, AnyOf, Compare, ContextCondition, JsonValue, Negation

MISSING = object()
TRUE, FALSE = Compare("yes", "truthy"), Compare("no", "truthy")
CONTEXT: dict[str, JsonValue] = {"yes": True, "no": False}

EQUAL: list[tuple[Any, Any, bool]] = [
    (MISSING, None, True),
    (None, None, True),
    (MISSING, "", False),
    (MISSING, 0, False),
    (None, False, False),
    ("Large", "large", True),
    ("  large\n", "LARGE", True),
    ("large", "small", False),
    ("", "", True),
    ("10", 10, True),
    (" 10 ", 10, True),
    ("1e1", 10, True),
    ("0x10", 16, True),
    ("", 0, True),
    ("   ", 0, True),
    ("ten", 10, False),
    ("1_0", 10, False),
    (10, "10", True),
    (1.0, "1", True),
    ("true", True, True),
    ("1", True, True),
    (" YES ", True, True),
    ("no", False, True),
    ("0", False, True),
    ("false", False, True),
    ("", False, False),
    ("on", True, False),
    (True, "yes", True),
    (True, True, True),
    (True, False, False),
    (1, True, False),
    (0, False, False),
    (1, 1, True),
    (1, 1.0, True),
    (1, 2, False),
    ([], [], False),
    ([1], [1], False),
    ({}, {}, False),
    (["a"], "a", False),
    ({"a": 1}, {"a": 1}, False),
]


def context_of(value: object) -> dict[str, Any]:
    return {} if value is MISSING else {"x": value}


@pytest.mark.parametrize(("value", "operand", "expected"), EQUAL)
def test_equality_is_lenient(value: Any, operand: Any, expected: bool) -> None:
    assert holds(Compare("x", "equals", operand), context_of(value)) is expected
    assert holds(Compare("x", "not_equals", operand), context_of(value)) is not expected
    assert holds(Compare("x", "in", ["nothing like it", operand]), context_of(value)) is expected


ORDERED: list[tuple[Any, Any, tuple[bool, bool, bool, bool]]] = [
    (2, 1, (True, True, False, False)),
    (1, 1, (False, True, False, True)),
    (1, 1.5, (False, False, True, True)),
    ("2", 1, (False, False, False, False)),
    (True, 0, (False, False, False, False)),
    (None, 0, (False, False, False, False)),
    (MISSING, 0, (False, False, False, False)),
    ([2], 1, (False, False, False, False)),
    ({}, 1, (False, False, False, False)),
]


@pytest.mark.parametrize(("value", "operand", "expected"), ORDERED)
def test_order_needs_a_real_number(value: Any, operand: Any, expected: tuple[bool, ...]) -> None:
    found = tuple(holds(Compare("x", name, operand), context_of(value)) for name in ("gt", "gte", "lt", "lte"))
    assert found == expected


TEXTS: list[tuple[str, Any, str, bool]] = [
    ("contains", " Backend and UI ", "backend", True),
    ("contains", "Backend", " END ", True),
    ("contains", ["a", "b"], "a,b", True),
    ("contains", ["a", None, ["c"]], "a,,c", True),
    ("contains", {"a": 1}, "[object object]", True),
    ("contains", 125, "25", True),
    ("contains", True, "tru", True),
    ("contains", MISSING, "x", False),
    ("contains", MISSING, "", True),
    ("contains", None, "null", False),
    ("startsWith", "  Feature: x", "feature", True),
    ("startsWith", "a feature", "feature", False),
    ("startsWith", 12, "1", True),
    ("endsWith", "Ends Here ", "HERE", True),
    ("endsWith", "here it goes", "here", False),
    ("matches", "Feature-12", r"^feature-\d+$", True),
    ("matches", " padded ", r"^padded$", True),
    ("matches", "other", r"^feature", False),
    ("matches", "x", "(", False),
    ("matches", "x", "x" * 201, False),
    ("matches", MISSING, "^$", True),
]


@pytest.mark.parametrize(("operator", "value", "operand", "expected"), TEXTS)
def test_texts_are_compared_trimmed_and_without_case(operator: str, value: Any, operand: str, expected: bool) -> None:
    assert holds(Compare("x", operator, operand), context_of(value)) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (MISSING, False),
        (None, False),
        ("", False),
        ("0", True),
        (" ", True),
        (0, False),
        (0.0, False),
        (-1, True),
        (float("nan"), False),
        (False, False),
        (True, True),
        ([], True),
        ({}, True),
    ],
)
def test_a_variable_alone_counts_as_javascript_counts_it(value: Any, expected: bool) -> None:
    assert holds(Compare("x", "truthy"), context_of(value)) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Always(), True),
        (AllOf((TRUE, TRUE)), True),
        (AllOf((TRUE, FALSE)), False),
        (AllOf(()), True),
        (AnyOf((FALSE, TRUE)), True),
        (AnyOf(()), False),
        (Negation(FALSE), True),
        (AllOf((Always(),)), False),
        (Negation(Always()), False),
        (Negation(Negation(Always())), False),
        (AnyOf((Always(), TRUE)), False),
        (AnyOf((TRUE, Always())), True),
        (AllOf((FALSE, Always())), False),
    ],
)
def test_an_empty_condition_is_true_alone_and_makes_any_other_false(
    condition: ContextCondition, expected: bool
) -> None:
    assert holds(condition, CONTEXT) is expected


def test_names_are_flat_so_a_dot_is_a_character() -> None:
    assert not holds(Compare("a.b", "truthy"), {"a": {"b": 1}})
    assert holds(Compare("a.b", "truthy"), {"a.b": 1})


def test_a_list_of_choices_that_is_none_holds_nothing() -> None:
    assert not holds(Compare("x", "in", "abc"), {"x": "a"})


def test_a_decision_says_what_was_asked_and_what_was_read() -> None:
    condition = AllOf((Compare("size", "equals", "Large"), AnyOf((Compare("done", "truthy"), Negation(Always())))))
    why = evaluate_condition(condition, {"size": "large", "other": 1})
    assert why.condition == "size equals 'Large' and (done or not always)"
    assert why.values == {"size": "large", "done": None}
    assert why.result is False


def test_conditions_are_described_in_a_line() -> None:
    assert describe_condition(AnyOf((Compare("n", "gte", 2), Compare("k", "in", ["a", 1, True])))) == (
        "n gte 2 or k in ['a', 1, true]"
    )
    assert (describe_condition(AllOf(())), describe_condition(AnyOf(())), describe_condition(Always())) == (
        "always",
        "never",
        "always",
    )
    assert variables(Negation(AllOf((TRUE, FALSE, TRUE)))) == ("yes", "no")


def test_a_pattern_sees_a_bounded_part_of_a_text() -> None:
    assert has_match("b", "a" * 9_999 + "b")
    assert not has_match("b", "a" * 10_000 + "b")
    assert has_match("^b.c$", "a\nb\nc", "ms")
    assert has_match("A", "a", "gi")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.0, "1"),
        (-0.5, "-0.5"),
        (1e21, "1e+21"),
        (123456789012345680000, "123456789012345680000"),
        (1.5e-7, "1.5e-7"),
        (0.000001, "0.000001"),
        (-0.0000015, "-0.0000015"),
        (1e-7, "1e-7"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (10**400, "Infinity"),
        ([1, [2, None], "x"], "1,2,,x"),
        ({"a": 1}, "[object Object]"),
    ],
)
def test_values_are_written_as_javascript_writes_them(value: Any, expected: str) -> None:
    assert text_of(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" 12 ", 12),
        ("-1.5e2", -150),
        (".5", 0.5),
        ("5.", 5),
        ("0b11", 3),
        ("0o17", 15),
        ("Infinity", float("inf")),
    ],
)
def test_texts_are_read_as_numbers(text: str, expected: float) -> None:
    assert number_of(text) == expected


@pytest.mark.parametrize("text", ["abc", "1 2", "--1", "1e", "0x", "١٢", "inf", "nan", "1_000"])
def test_other_texts_are_no_numbers(text: str) -> None:
    assert number_of(text) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OPERATORS = (
    "truthy equals not_equals gt gte lt lte contains startsWith endsWith matches in".split()  # noqa: SIM905
)
CONDITIONS = st.recursive(
    st.builds(Compare, st.sampled_from("xy"), st.sampled_from(OPERATORS), JSON) | st.just(Always()),
    lambda inner: (
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple))
        | st.builds(Negation, inner)
    ),
    max_leaves=8,
)


@given(CONDITIONS, st.dictionaries(st.sampled_from("xy"), JSON))
def test_every_condition_has_an_answer_on_every_context(
    condition: ContextCondition, context: dict[str, JsonValue]
) -> None:
    why = evaluate_condition(condition, context)
    assert isinstance(why.result, bool)
    assert describe_condition(condition)


@given(JSON, JSON)
def test_equality_does_not_depend_on_the_side(one: JsonValue, other: JsonValue) -> None:
    assert equal(one, other) == equal(other, one)


@given(JSON)
def test_every_value_has_a_text_and_a_truth(value: JsonValue) -> None:
    assert isinstance(text_of(value), str)
    assert isinstance(is_truthy(value), bool)


def test_blanks_are_those_of_javascript() -> None:
    assert trim("\ufeff \u00a0x\u2003\n") == "x"
    assert trim("\x1cx\x85") == "\x1cx\x85"
