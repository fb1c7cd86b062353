"""Hypothesis strategies for expressions and plain data, and what every problem must be."""

from collections.abc import Callable

from hypothesis import strategies as st

from handrail.language.expressions.filters import FILTERS
from handrail.language.expressions.syntax import (
    TESTS,
    Attribute,
    Binary,
    BinaryOperator,
    Compare,
    CompareOperator,
    Conditional,
    Expression,
    Filter,
    Item,
    ListDisplay,
    Literal,
    Logic,
    LogicOperator,
    MapDisplay,
    Name,
    Test,
    Unary,
    UnaryOperator,
)
from handrail.language.problems import EvaluationError, LanguageError
from handrail.model.codes import CODES

NAMES = st.sampled_from(["a", "b", "issue", "steps", "run_tests", "x1"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
UNARY: list[UnaryOperator] = ["-", "+", "not"]
BINARY: list[BinaryOperator] = ["+", "-", "*", "/", "//", "%", "~"]
COMPARE: list[CompareOperator] = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
LOGIC: list[LogicOperator] = ["and", "or"]

LITERALS: st.SearchStrategy[Expression] = st.one_of(
    TEXTS, st.integers(0, 2**53), st.floats(0, 1e300), st.booleans(), st.none()
).map(Literal)


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Attribute, inner, NAMES),
        st.builds(Item, inner, inner),
        st.lists(inner, max_size=3).map(lambda items: ListDisplay(tuple(items))),
        st.dictionaries(TEXTS, inner, max_size=2).map(lambda entries: MapDisplay(tuple(entries.items()))),
        st.builds(Unary, st.sampled_from(UNARY), inner),
        st.builds(Binary, st.sampled_from(BINARY), inner, inner),
        st.builds(Compare, st.sampled_from(COMPARE), inner, inner),
        st.builds(Logic, st.sampled_from(LOGIC), pair),
        st.builds(Conditional, inner, inner, inner),
        st.builds(Filter, inner, st.sampled_from(sorted(FILTERS)), st.lists(inner, max_size=2).map(tuple)),
        st.builds(Test, inner, st.sampled_from(sorted(TESTS)), st.booleans()),
    )


EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(LITERALS | NAMES.map(Name), _larger, max_leaves=12)

VALUES: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
SCOPES = st.dictionaries(NAMES, VALUES)


def explained(error: LanguageError | EvaluationError) -> None:
    """Prove that a refusal can be shown to a person."""
    problem = error.problem
    assert problem.code in CODES
    assert 0 <= problem.start <= problem.end
    assert 0 < len(problem.message) < 300


def is_read_or_explained(read: Callable[[str], object], text: str) -> bool:
    """Tell whether a text is read, or refused in words that can be shown to a person."""
    try:
        read(text)
    except LanguageError as error:
        explained(error)
        return bool(error.problem.message)
    return True
