"""Translates WorkRail-style conditions to expressions: the first operator that is present decides, as in WorkRail."""

from collections.abc import Callable
from typing import TypeAlias

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.nodes import data_of, items_of, map_of, text_of
from handrail.language.expressions.syntax import (
    Compare,
    CompareOperator,
    Expression,
    Filter,
    ListDisplay,
    Literal,
    Logic,
    LogicOperator,
    Test,
    Unary,
)
from handrail.model.source import Mapping, Node, Scalar

MAX_DEPTH = 24
Lookup: TypeAlias = Callable[[str, object], Expression]
"""Looks up a variable, given what it is compared with."""

_NUMERIC: dict[str, CompareOperator] = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_FILTERS = {"startsWith": "starts_with", "endsWith": "ends_with"}
_GROUPS: dict[str, LogicOperator] = {"and": "and", "or": "or"}
_OPPOSITES: dict[CompareOperator, CompareOperator] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "in": "not in",
    "not in": "in",
}
_ORDER = ("equals", "not_equals", "gt", "gte", "lt", "lte", "contains", "startsWith", "endsWith", "matches", "in")


def translate_condition(node: Node | None, lookup: Lookup, depth: int = 0) -> Expression:
    """Translate a condition; an empty one is true."""
    if depth > MAX_DEPTH:
        raise Untranslatable(f"conditions are nested deeper than {MAX_DEPTH} levels")
    condition = map_of(node)
    if condition is None:
        raise Untranslatable("a condition is a map")
    if not condition.entries:
        return Literal(value=True)
    variable = text_of(condition.get("var"))
    if variable is not None:
        return _translate_variable(condition, variable, lookup)
    return _translate_group(condition, lookup, depth)


def negate(expression: Expression) -> Expression:
    """Negate a condition, without a `not` where a comparison can be inverted."""
    match expression:
        case Compare(operator, left, right):
            return Compare(_OPPOSITES[operator], left, right)
        case Unary("not", operand):
            return operand
        case Literal(bool() as value):
            return Literal(not value)
        case _:
            return Unary("not", expression)


def variables(node: Node | None, depth: int = 0) -> tuple[str, ...]:
    """List every variable that a condition reads."""
    condition = map_of(node)
    if condition is None or depth > MAX_DEPTH:
        return ()
    own = text_of(condition.get("var"))
    inner = (*items_of(condition.get("and")), *items_of(condition.get("or")), condition.get("not"))
    found = tuple(name for each in inner if each is not None for name in variables(each, depth + 1))
    return (own, *found) if own is not None else found


def _translate_group(condition: Mapping, lookup: Lookup, depth: int) -> Expression:
    for key, operator in _GROUPS.items():
        if key in condition:
            operands = tuple(translate_condition(each, lookup, depth + 1) for each in items_of(condition.get(key)))
            if len(operands) < 2:
                return operands[0] if operands else Literal(key == "and")
            return Logic(operator, operands)
    if "not" in condition:
        return Unary("not", translate_condition(condition.get("not"), lookup, depth + 1))
    raise Untranslatable(f"a condition with {', '.join(condition.entries) or 'nothing'} in it")


def _translate_variable(condition: Mapping, variable: str, lookup: Lookup) -> Expression:
    operator = next((key for key in _ORDER if key in condition), None)
    if operator is None:
        flag = True
        return lookup(variable, flag)
    given = condition.entries[operator].value
    match operator:
        case "equals":
            return _equal(variable, given, lookup)
        case "not_equals":
            return negate(_equal(variable, given, lookup))
        case "in":
            values = [value for value in map(data_of, items_of(given)) if not isinstance(value, list | dict)]
            subject = lookup(variable, values[0] if values else None)
            return Compare("in", subject, ListDisplay(tuple(Literal(value) for value in values)))
        case "contains":
            return Compare("in", Literal(text_of(given) or ""), lookup(variable, ""))
        case "startsWith" | "endsWith":
            return Filter(lookup(variable, ""), _FILTERS[operator], (Literal(text_of(given) or ""),))
        case "matches":
            raise Untranslatable("a regular expression")
        case _:
            return Compare(_NUMERIC[operator], lookup(variable, 0), Literal(_number(given)))


def _equal(variable: str, given: Node, lookup: Lookup) -> Expression:
    if not isinstance(given, Scalar):
        return Literal(value=False)  # in WorkRail a list or map never equals anything
    if given.value is None:
        return Test(Filter(lookup(variable, None), "default", (Literal(None),)), "none")
    return Compare("==", lookup(variable, given.value), Literal(given.value))


def _number(given: Node) -> int | float:
    value = given.value if isinstance(given, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Untranslatable("a comparison with something that is not a number")
    return value
