"""Evaluates an expression on plain data: total, within a budget, and without access to any Python attribute."""

from collections.abc import Mapping
from typing import cast

from handrail.language.expressions.filters import FILE_FILTER, FILTERS, FilterSpec, Parameter, arrange
from handrail.language.expressions.filters_data import check_bounds, number
from handrail.language.expressions.lookup import field, item, variable
from handrail.language.expressions.syntax import (
    Attribute,
    Binary,
    Compare,
    Conditional,
    Expression,
    Filter,
    Item,
    ListDisplay,
    Literal,
    Logic,
    MapDisplay,
    Name,
    Test,
    Unary,
)
from handrail.language.problems import UndefinedError
from handrail.language.values import Budget, Limits, Value, describe_kind, is_equal, kind_of, require_ordered, text_of

Scope = Mapping[str, object]

__all__ = ["Limits", "Value", "boolean", "evaluate", "evaluate_within"]


def evaluate(expression: Expression, scope: Scope, limits: Limits = Limits()) -> Value:  # noqa: B008 - frozen
    """Evaluate an expression."""
    return evaluate_within(expression, scope, Budget(limits, expression))


def evaluate_within(expression: Expression, scope: Scope, budget: Budget) -> Value:
    """Evaluate an expression, charged to a budget that others share."""
    budget.spend()
    match expression:
        case Literal(value):
            return value
        case Name(name):
            budget.place = expression
            return variable(scope, name, budget)
        case Attribute(subject, name):
            value = evaluate_within(subject, scope, budget)
            budget.place = expression
            return field(value, name, budget)
        case Item(subject, index):
            value, key = evaluate_within(subject, scope, budget), evaluate_within(index, scope, budget)
            budget.place = expression
            return item(value, key, budget)
        case Filter():
            return _filter(expression, scope, budget)
        case Test():
            return _test(expression, scope, budget) is not expression.negated
        case ListDisplay() | MapDisplay():
            return _display(expression, scope, budget)
        case _:
            return _operation(expression, scope, budget)


def boolean(expression: Expression, scope: Scope, budget: Budget) -> bool:
    """Evaluate a condition, which must be a boolean."""
    value = evaluate_within(expression, scope, budget)
    if not isinstance(value, bool):
        budget.place = expression
        hints = {
            "text": "compare it: `x == '...'`",
            "number": "compare it: `x > 0`",
            "list": "count it: `x | length > 0`",
            "map": "count it: `x | length > 0`",
            "none": "test `x is not none`",
        }
        budget.fail(
            "not-boolean", f"a condition must be true or false, not {describe_kind(value)}", hints[kind_of(value)]
        )
    return value


def _display(expression: ListDisplay | MapDisplay, scope: Scope, budget: Budget) -> Value:
    if isinstance(expression, ListDisplay):
        return [evaluate_within(part, scope, budget) for part in expression.items]
    return {key: evaluate_within(part, scope, budget) for key, part in expression.entries}


def _operation(expression: Unary | Binary | Compare | Logic | Conditional, scope: Scope, budget: Budget) -> Value:
    match expression:
        case Unary("not", operand):
            return not boolean(operand, scope, budget)
        case Unary(operator, operand):
            value = evaluate_within(operand, scope, budget)
            budget.place = expression
            return -number(value, budget) if operator == "-" else number(value, budget)
        case Logic("and", operands):
            return all(boolean(operand, scope, budget) for operand in operands)
        case Logic(_, operands):
            return any(boolean(operand, scope, budget) for operand in operands)
        case Conditional(then, condition, otherwise):
            return evaluate_within(then if boolean(condition, scope, budget) else otherwise, scope, budget)
        case Binary() | Compare():
            left = evaluate_within(expression.left, scope, budget)
            right = evaluate_within(expression.right, scope, budget)
            budget.place = expression
            if isinstance(expression, Compare):
                return _compare(expression.operator, left, right, budget)
            return _binary(expression.operator, left, right, budget)


def _binary(operator: str, left: Value, right: Value, budget: Budget) -> Value:
    if operator == "~":
        joined = text_of(left, budget) + text_of(right, budget)
        budget.spend_text(len(joined))
        return joined
    one, other = check_bounds(number(left, budget), budget), check_bounds(number(right, budget), budget)
    if other == 0 and operator in ("/", "//", "%"):
        budget.fail("type-mismatch", "division by zero")
    match operator:
        case "+":
            result = one + other
        case "-":
            result = one - other
        case "*":
            result = one * other
        case "/":
            result = one / other
        case "//":
            result = one // other
        case _:
            result = one % other
    return check_bounds(result, budget)


def _compare(operator: str, left: Value, right: Value, budget: Budget) -> Value:
    match operator:
        case "==":
            return is_equal(left, right, budget)
        case "!=":
            return not is_equal(left, right, budget)
        case "in":
            return _contains(right, left, budget)
        case "not in":
            return not _contains(right, left, budget)
        case _:
            return _compare_order(operator, require_ordered(left, right, budget))


def _compare_order(operator: str, pair: tuple[str, str] | tuple[float, float]) -> bool:
    one, other = cast("tuple[float, float]", pair)
    match operator:
        case "<":
            return one < other
        case "<=":
            return one <= other
        case ">":
            return one > other
        case _:
            return one >= other


def _contains(container: Value, value: Value, budget: Budget) -> bool:
    if isinstance(container, str) and isinstance(value, str):
        # Searching a long text for a long text is more than linear in the worst case.
        budget.spend_text(len(container))
        budget.spend(min(len(value), len(container)) // 64)
        return value in container
    if isinstance(container, list | tuple):
        return any(is_equal(value, candidate, budget) for candidate in container)
    if isinstance(container, dict) and isinstance(value, str):
        return value in container
    budget.fail(
        "type-mismatch",
        f"cannot search for {describe_kind(value)} in {describe_kind(container)}",
        "`in` searches lists, maps and text",
    )
    return None


def _test(expression: Test, scope: Scope, budget: Budget) -> bool:
    name = expression.name
    try:
        value = evaluate_within(expression.subject, scope, budget)
    except UndefinedError:
        if name not in ("defined", "undefined"):
            raise
        return name == "undefined"
    match name:
        case "defined" | "undefined":
            return name == "defined"
        case "empty":
            return value is None or (isinstance(value, str | list | tuple | dict) and not value)
        case _:
            return kind_of(value) == ("text" if name == "string" else name)


def _filter(expression: Filter, scope: Scope, budget: Budget) -> Value:
    spec = FILTERS.get(expression.name)
    budget.place = expression
    if spec is None:
        message = f"unknown filter '{expression.name}'"
        if expression.name == FILE_FILTER:
            message = "`file` is allowed only at the end of `${... | file}` in a shell command"
        budget.fail("unknown-filter", message)
    subject = _subject(expression, scope, budget)
    arguments = _arguments(expression, spec, scope, budget)
    budget.place = expression
    if kind_of(subject) not in spec.accepts:
        message = f"`{expression.name}` works on {' or '.join(sorted(spec.accepts))}, not on {describe_kind(subject)}"
        budget.fail("type-mismatch", message)
    return spec.apply(subject, arguments, budget)


def _subject(expression: Filter, scope: Scope, budget: Budget) -> Value:
    try:
        return evaluate_within(expression.subject, scope, budget)
    except UndefinedError:
        if expression.name != "default":
            raise
        return None


def _arguments(expression: Filter, spec: FilterSpec, scope: Scope, budget: Budget) -> tuple[Value, ...]:
    given = (*expression.arguments, *(value for _, value in expression.named))
    slots, wrong = arrange(spec, len(expression.arguments), tuple(name for name, _ in expression.named))
    if wrong:
        budget.place = expression
        budget.fail("filter-arguments", f"`{expression.name}` {wrong}")
    return tuple(
        parameter.default if slot is None else _argument(expression.name, parameter, given[slot], scope, budget)
        for parameter, slot in zip(spec.parameters, slots, strict=True)
    )


def _argument(name: str, parameter: Parameter, given: Expression, scope: Scope, budget: Budget) -> Value:
    value = evaluate_within(given, scope, budget)
    if kind_of(value) not in parameter.kinds:
        budget.place = given
        budget.fail("type-mismatch", f"`{name}` needs a {' or '.join(sorted(parameter.kinds))} as '{parameter.name}'")
    return value
