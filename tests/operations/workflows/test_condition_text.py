"""Conditions, bounds and types in words."""

import pytest

from handrail.compiler.bounds import Bound
from handrail.compiler.record_types import ISSUE
from handrail.model.workflow.plan import Input
from handrail.model.workflow.types import STRING
from handrail.model.workflow.values import AllOf, Always, AnyOf, Compare, Condition, Expression, Negation
from handrail.operations.workflows.condition_text import bound_words, condition_words, input_type


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (Bound(2, 19), "2 to 19 agent calls"),
        (Bound(1, 1), "1 agent call"),
        (Bound(0, 0), "0 agent calls"),
        (Bound(3, 3), "3 agent calls"),
        (Bound(2, None), "2 or more agent calls"),
    ],
)
def test_a_bound_is_said_in_plain_words(bound: Bound, words: str) -> None:
    assert bound_words(bound) == words


A, B = Compare("a", "equals", 1), Compare("b", "truthy")


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Expression("x > 1"), "x > 1"),
        (A, "a == 1"),
        (B, "b"),
        (Compare("c", "contains", "é"), 'c contains "é"'),
        (AllOf((A, AnyOf((B, Negation(A))))), "a == 1 and (b or not a == 1)"),
        (Negation(AllOf((A, B))), "not (a == 1 and b)"),
        (Always(), "always"),
    ],
)
def test_a_condition_is_one_line(condition: Condition, words: str) -> None:
    assert condition_words(condition) == words


def test_an_issue_is_called_an_issue() -> None:
    assert input_type(Input("issue", ISSUE)) == "issue"
    assert input_type(Input("task", STRING)) == "string"
