"""Translates values of Go templates to expressions of the language."""

from collections.abc import Callable
from typing import Protocol

from handrail.authoring.importers.coven.go_syntax import Call, Constant, GoValue, Reference, Untranslatable
from handrail.language.expressions.syntax import (
    Attribute,
    Compare,
    CompareOperator,
    Expression,
    Filter,
    Item,
    Literal,
    Logic,
    LogicOperator,
    Test,
    Unary,
)

_COMPARE: dict[str, CompareOperator] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LOGIC: dict[str, LogicOperator] = {"and": "and", "or": "or"}
_FILTERS = {"upper": "upper", "lower": "lower", "trim": "trim", "quote": "json", "len": "length"}
_STATUSES = {"success": "succeeded", "completed": "succeeded", "passed": "succeeded", "failure": "failed"}


class Resolver(Protocol):
    """Resolves the variables of the source to their names in the format."""

    def value(self, reference: Reference, like: object = None) -> Expression:
        """Return the value of a variable; `like` is something it is compared with."""
        ...

    def condition(self, reference: Reference) -> Expression:
        """Return a boolean for a variable that is used as a condition."""
        ...


def translate_value(value: GoValue, names: Resolver) -> Expression:
    """Translate a value."""
    match value:
        case Constant():
            return Literal(value.value)
        case Reference():
            return names.value(value)
        case Call("index"):
            return _index(value, names)
        case Call(name) if name in _COMPARE or name in _LOGIC or name == "not":
            return translate_condition(value, names)
        case Call():
            return _function(value, names)


def translate_condition(value: GoValue, names: Resolver) -> Expression:
    """Translate a value that is used as a condition, so that it becomes a boolean."""
    match value:
        case Constant(constant):
            return Literal(bool(constant) and constant != "false")
        case Reference():
            return names.condition(value)
        case Call("not", (operand,)):
            return Unary("not", translate_condition(operand, names))
        case Call(name, arguments) if name in _LOGIC and arguments:
            operands = tuple(translate_condition(each, names) for each in arguments)
            return operands[0] if len(operands) == 1 else Logic(_LOGIC[name], operands)
        case Call(name, arguments) if name in _COMPARE:
            return _compare(name, arguments, names)
        case Call("len"):
            return Compare(">", translate_value(value, names), Literal(0))
        case _:
            return Test(translate_value(value, names), "empty", negated=True)


def translate_items(value: GoValue, names: Resolver) -> Expression:
    """Translate a value whose items are used."""
    return names.value(value, []) if isinstance(value, Reference) else translate_value(value, names)


def _compare(name: str, arguments: tuple[GoValue, ...], names: Resolver) -> Expression:
    if len(arguments) < 2 or (len(arguments) > 2 and name != "eq"):
        raise Untranslatable(f"`{name}` with {len(arguments)} values")
    first, *others = arguments
    found = tuple(_pair(_COMPARE[name], first, other, names) for other in others)
    return found[0] if len(found) == 1 else Logic("or", found)


def _pair(operator: CompareOperator, left: GoValue, right: GoValue, names: Resolver) -> Expression:
    first, second = _side(left, right, names), _side(right, left, names)
    return Compare(operator, _status(first, second), _status(second, first))


def _side(value: GoValue, other: GoValue, names: Resolver) -> Expression:
    if isinstance(value, Reference) and isinstance(other, Constant):
        return names.value(value, other.value)
    return translate_value(value, names)


def _status(value: Expression, other: Expression) -> Expression:
    is_status = isinstance(other, Attribute) and other.name == "status"
    if is_status and isinstance(value, Literal) and isinstance(value.value, str):
        return Literal(_STATUSES.get(value.value, value.value))
    return value


def _index(call: Call, names: Resolver) -> Expression:
    if len(call.arguments) < 2:
        raise Untranslatable("`index` needs a value and a position in it")
    subject = translate_items(call.arguments[0], names)
    for place in call.arguments[1:]:
        subject = Item(subject, translate_value(place, names))
    return subject


def _function(call: Call, names: Resolver) -> Expression:
    arguments = tuple(translate_value(each, names) for each in call.arguments)
    if call.name in _FILTERS and len(arguments) == 1:
        return Filter(arguments[0], _FILTERS[call.name])
    build = _BUILDERS.get(call.name)
    if build is None or len(arguments) != 2:
        raise Untranslatable(f"the function `{call.name}`")
    return build(*arguments)


def _default(first: Expression, second: Expression) -> Expression:
    value, other = (second, first) if isinstance(first, Literal) else (first, second)
    return Filter(value, "default", (other,))


def _join(first: Expression, second: Expression) -> Expression:
    items, separator = (second, first) if isinstance(first, Literal) else (first, second)
    return Filter(items, "join", (separator,))


def _indent(first: Expression, second: Expression) -> Expression:
    text, width = (second, first) if isinstance(first, Literal) else (first, second)
    return Filter(text, "indent", (width,))


_BUILDERS: dict[str, Callable[[Expression, Expression], Expression]] = {
    "default": _default,
    "join": _join,
    "indent": _indent,
}
"""Functions of two arguments, of which the one that is not a constant is the value."""
