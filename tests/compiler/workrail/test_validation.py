from typing import Any

import pytest

from handrail.model.workflow.guidance import Validation, ValidationGroup, ValidationRule
from handrail.model.workflow.values import Compare
from support.compiler.workrail_building import Result, compiled, marked, step

CONTAINS = {"type": "contains", "value": "x", "message": "no x"}
LOWERED = ValidationRule("contains", "no x", value="x")


def compiled_with(criteria: Any) -> Result:
    return compiled(step(validationCriteria=criteria))


def validation(criteria: Any) -> Validation | None:
    return compiled_with(criteria).action().validation


def test_a_list_of_rules_must_hold_as_a_whole() -> None:
    other = {"type": "length", "min": 3, "max": 9, "message": "length"}
    second = ValidationRule("length", "length", min=3, max=9)
    assert validation([CONTAINS, other]) == ValidationGroup("and", (LOWERED, second))


def test_no_rules_are_no_validation() -> None:
    assert validation([]) is None


def test_a_single_rule_may_stand_alone() -> None:
    assert validation(CONTAINS) == LOWERED


def test_rules_are_combined() -> None:
    assert validation({"or": [CONTAINS, {"not": CONTAINS}]}) == ValidationGroup(
        "or", (LOWERED, ValidationGroup("not", (LOWERED,)))
    )
    assert validation({"and": [CONTAINS]}) == ValidationGroup("and", (LOWERED,))


def test_a_regex_keeps_its_pattern_and_its_flags_in_one_order() -> None:
    rule = {"type": "regex", "pattern": "^a", "flags": "mi", "message": "m"}
    assert validation(rule) == ValidationRule("regex", "m", pattern="^a", flags="im")


def test_a_schema_is_kept() -> None:
    assert validation({"type": "schema", "schema": {"type": "object"}, "message": "m"}) == ValidationRule(
        "schema", "m", schema={"type": "object"}
    )


def test_a_rule_may_have_a_condition() -> None:
    assert validation({**CONTAINS, "condition": {"var": "v"}}) == ValidationRule(
        "contains", "no x", value="x", condition=Compare("v", "truthy")
    )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"type": "contains", "message": "m"}, "a rule of type contains needs 'value'"),
        ({"type": "regex", "message": "m"}, "a rule of type regex needs 'pattern'"),
        ({"type": "length", "message": "m"}, "a rule of type length needs 'min' or 'max'"),
        ({"type": "schema", "message": "m"}, "a rule of type schema needs 'schema'"),
        ({"type": "contains", "value": "x"}, "a validation rule needs 'message'"),
    ],
)
def test_a_rule_without_what_its_type_needs_is_refused(rule: Any, message: str) -> None:
    result = compiled_with([rule])
    assert (result.only.code, result.only.message) == ("missing-key", message)
    assert marked(result.only) == f'"{rule["type"]}"'


def test_a_length_that_no_text_can_have_is_refused() -> None:
    result = compiled_with([{"type": "length", "min": 9, "max": 3, "message": "m"}])
    assert result.only.message == "no length can be at least 9 and at most 3"


def test_a_key_of_another_type_has_no_effect() -> None:
    result = compiled_with([{**CONTAINS, "min": 3}])
    assert (result.codes, marked(result.only)) == (["no-effect"], '"min"')


def test_a_group_beside_another_is_refused() -> None:
    assert compiled_with({"and": [CONTAINS], "or": [CONTAINS]}).codes == ["conflicting-keys"]


def test_a_message_beside_a_group_is_refused() -> None:
    result = compiled_with({"and": [CONTAINS], "message": "m"})
    assert (result.codes, marked(result.only)) == (["conflicting-keys"], '"message"')


def test_a_broken_pattern_is_refused() -> None:
    assert compiled_with([{"type": "regex", "pattern": "(", "message": "m"}]).codes == ["bad-pattern"]
