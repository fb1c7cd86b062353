import json
from itertools import pairwise
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.compiler.workrail.conditions import ORDER, lower_condition
from handrail.model.diagnostics import Report
from handrail.model.workflow.guidance import Confirmation
from handrail.model.workflow.values import AllOf, Always, AnyOf, Compare, ContextCondition, Negation
from support.compiler.workrail_building import compiled, document, marked, step


def lowered(condition: Any) -> tuple[ContextCondition, list[str]]:
    report = Report()
    found = lower_condition(document(json.dumps(condition)).root, report)
    return found, [each.code for each in report]


@pytest.mark.parametrize(
    ("operator", "operand"),
    [
        ("equals", "x"),
        ("equals", None),
        ("not_equals", ["a", 1]),
        ("gt", 1),
        ("gte", 1.5),
        ("lt", -1),
        ("lte", 0),
        ("contains", "x"),
        ("startsWith", "x"),
        ("endsWith", "x"),
        ("matches", "^x+$"),
        ("in", ["a", 2, True]),
    ],
)
def test_every_operator_is_kept_with_its_operand(operator: str, operand: Any) -> None:
    assert lowered({"var": "v", operator: operand}) == (Compare("v", operator, operand), [])


def test_a_variable_alone_asks_for_its_truth() -> None:
    assert lowered({"var": "v"}) == (Compare("v", "truthy"), [])


def test_an_empty_condition_always_holds() -> None:
    assert lowered({}) == (Always(), [])


def test_conditions_are_combined() -> None:
    a, b = {"var": "a"}, {"var": "b"}
    one, two = Compare("a", "truthy"), Compare("b", "truthy")
    assert lowered({"and": [a, b]})[0] == AllOf((one, two))
    assert lowered({"or": [a, b]})[0] == AnyOf((one, two))
    assert lowered({"not": {"and": [a, {"not": b}]}})[0] == Negation(AllOf((one, Negation(two))))


def test_combining_nothing_is_kept_as_it_is() -> None:
    assert lowered({"and": []})[0] == AllOf(())
    assert lowered({"or": []})[0] == AnyOf(())


@pytest.mark.parametrize(("first", "second"), list(pairwise(ORDER)))
def test_of_two_operators_the_earlier_in_the_evaluators_order_decides(first: str, second: str) -> None:
    operands: dict[str, Any] = {first: "1", second: "1"}
    for name in operands:
        if name in {"gt", "gte", "lt", "lte"}:
            operands[name] = 1
        if name == "in":
            operands[name] = ["1"]
    for order in (operands, dict(reversed(operands.items()))):
        found, codes = lowered({**order, "var": "v"})
        assert (found, codes) == (Compare("v", first, operands[first]), ["ignored-operator"])


def test_groups_beside_a_variable_are_ignored_with_a_warning() -> None:
    assert lowered({"var": "v", "and": [{"var": "w"}]}) == (Compare("v", "truthy"), ["ignored-operator"])


def test_of_two_groups_the_first_decides() -> None:
    assert lowered({"or": [], "and": []}) == (AllOf(()), ["ignored-operator"])


def test_an_ignored_operator_is_marked() -> None:
    result = compiled(step(runCondition={"var": "v", "lt": 3, "equals": 2}))
    assert result.only.message == "'lt' is ignored, 'equals' decides"
    assert marked(result.only) == '"lt"'
    assert result.plan is not None


def test_an_empty_condition_inside_another_is_a_warning() -> None:
    assert lowered({"and": [{}]}) == (AllOf((Always(),)), ["empty-condition"])
    assert lowered({"not": {}}) == (Negation(Always()), ["empty-condition"])


def test_an_operator_without_a_variable_is_refused() -> None:
    result = compiled(step(runCondition={"equals": 2}))
    assert (result.only.code, result.only.message) == ("missing-key", "'equals' requires 'var'")


@pytest.mark.parametrize("pattern", ["x" * 201, "(", "[a", "*x", "(?P<n>"])
def test_a_pattern_that_is_too_long_or_broken_is_refused(pattern: str) -> None:
    assert lowered({"var": "v", "matches": pattern})[1] == ["bad-pattern"]


def test_a_pattern_of_two_hundred_characters_passes() -> None:
    assert lowered({"var": "v", "matches": "x" * 200})[1] == []


def test_an_unknown_operator_is_refused_with_the_one_that_was_meant() -> None:
    result = compiled(step(runCondition={"var": "v", "notEquals": 2}))
    assert result.codes == ["unknown-key"]
    assert "did you mean 'not_equals'?" in result.only.message


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (False, None),
        (True, Confirmation()),
        ({"var": "v"}, Confirmation(condition=Compare("v", "truthy"))),
        ({}, Confirmation(condition=Always())),
        ({"kind": "human_approval"}, Confirmation(by="human_approval")),
        (
            {"kind": "coordinator_eval", "condition": {"var": "v"}},
            Confirmation(condition=Compare("v", "truthy"), by="coordinator_eval"),
        ),
    ],
)
def test_every_form_of_confirmation_is_understood(written: Any, meant: Confirmation | None) -> None:
    assert compiled(step(requireConfirmation=written)).action().confirmation == meant


def test_no_confirmation_and_a_confirmation_that_is_off_are_the_same() -> None:
    assert compiled(step()).plan == compiled(step(requireConfirmation=False)).plan


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ({"kind": "human_approval", "var": "v"}, "conflicting-keys"),
        ({"condition": {"var": "v"}}, "missing-key"),
        ({"kind": "oracle"}, "bad-value"),
    ],
)
def test_a_confirmation_of_mixed_form_is_refused(written: Any, code: str) -> None:
    assert compiled(step(requireConfirmation=written)).codes == [code]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a*b*)*", "a*a*a*b", r"\d+\.\d+\.\d+", "^[A-Z].*$", "[(+]+"])
def test_a_pattern_may_repeat_as_it_likes(pattern: str) -> None:
    assert lowered({"var": "v", "matches": pattern})[1] == []


def test_a_pattern_that_could_take_for_ever_is_refused_with_the_reason() -> None:
    result = compiled(step(runCondition={"var": "v", "matches": "(?=a)b"}))
    assert (result.only.code, result.only.message) == snapshot(
        ("bad-pattern", "the pattern uses a look-ahead, which cannot be matched in bounded time")
    )
