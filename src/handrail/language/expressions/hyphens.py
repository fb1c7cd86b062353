"""Finds what was meant by `steps.run-tests.exit_code`, which reads as a subtraction."""

from dataclasses import replace

from handrail.frozen import frozen
from handrail.language.expressions.syntax import (
    Attribute,
    Binary,
    Compare,
    Expression,
    Filter,
    Item,
    Literal,
    Name,
    Test,
)


@frozen
class HyphenatedName:
    """What was probably meant by a subtraction: the whole expression, and the path up to the joined name."""

    expression: Expression
    name: Name | Attribute


def rejoin_name(expression: Binary) -> HyphenatedName | None:
    """Rebuild a subtraction written without spaces as the name it looks like, with `_`; None if it is arithmetic."""
    if expression.operator != "-" or expression.left.end + 1 != expression.right.start:
        return None
    before = rejoin_name(expression.left) if isinstance(expression.left, Binary) else None
    left = before.expression if before else expression.left
    if not isinstance(left, Name | Attribute):
        return None
    meant, name = _graft(expression.right, left), _graft(_stem(expression.right), left)
    return HyphenatedName(meant, name) if meant is not None and isinstance(name, Name | Attribute) else None


def _stem(expression: Expression) -> Expression:
    match expression:
        case Attribute(subject) | Item(subject) | Filter(subject) | Test(subject):
            return _stem(subject)
        case Binary(_, left) | Compare(_, left):
            return _stem(left)
        case _:
            return expression


def _graft(right: Expression, left: Name | Attribute) -> Expression | None:
    match right:
        case Name(name):
            return _extend_name(left, name, right.end)
        case Literal(bool() | None):
            return None
        case Literal(int() as number):
            return _extend_name(left, str(number), right.end)
        case Attribute(subject) | Item(subject) | Filter(subject) | Test(subject):
            inner = _graft(subject, left)
            return None if inner is None else replace(right, subject=inner, start=left.start)
        case Binary(_, first) | Compare(_, first):
            inner = _graft(first, left)
            return None if inner is None else replace(right, left=inner, start=left.start)
        case _:
            return None


def _extend_name(left: Name | Attribute, more: str, end: int) -> Expression:
    return replace(left, name=f"{left.name}_{more}", end=end)
