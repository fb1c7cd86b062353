"""Converts a syntax tree to its canonical text: `parse(unparse(e)) == e`."""

from handrail.language.expressions.parser import (
    AND,
    COMPARE,
    CONDITIONAL,
    FILTER,
    JOIN,
    NOT,
    OR,
    POSTFIX,
    PRODUCT,
    SIGN,
    SUM,
)
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

_SPECIAL = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BINARY = {"+": SUM, "-": SUM, "~": JOIN, "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT}


def unparse(expression: Expression) -> str:
    """Write an expression with single quotes, single spaces and no needless parentheses."""
    return _text(expression, CONDITIONAL)


def quote(text: str) -> str:
    """Write a text as a literal."""
    return "'" + "".join(_character(character) for character in text) + "'"


def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    return f"\\x{ord(character):02x}" if ord(character) < 32 else character


def _text(expression: Expression, least: int) -> str:
    text = _write_bare(expression)
    return f"({text})" if _strength(expression) < least else text


def _strength(expression: Expression) -> int:
    match expression:
        case Conditional():
            return CONDITIONAL
        case Logic(operator):
            return OR if operator == "or" else AND
        case Unary(operator):
            return NOT if operator == "not" else SIGN
        case Compare():
            return COMPARE
        case Binary(operator):
            return _BINARY[operator]
        case Filter() | Test():
            return FILTER
        case _:
            return POSTFIX


def _write_bare(expression: Expression) -> str:
    match expression:
        case Unary() | Binary() | Compare() | Logic() | Conditional():
            return _operation(expression)
        case Filter(subject, name, arguments, named):
            values = [_text(value, CONDITIONAL) for value in arguments]
            values += [f"{key}={_text(value, CONDITIONAL)}" for key, value in named]
            return f"{_text(subject, SIGN)} | {name}" + (f"({', '.join(values)})" if values else "")
        case Test(subject, name, negated):
            return f"{_text(subject, SIGN)} is {'not ' if negated else ''}{name}"
        case _:
            return _value(expression)


def _value(expression: Literal | Name | Attribute | Item | ListDisplay | MapDisplay) -> str:
    match expression:
        case Literal(value):
            return _literal(value)
        case Name(name):
            return name
        case Attribute(subject, name):
            return f"{_text(subject, POSTFIX)}.{name}"
        case Item(subject, index):
            return f"{_text(subject, POSTFIX)}[{_text(index, CONDITIONAL)}]"
        case ListDisplay(items):
            return f"[{', '.join(_text(item, CONDITIONAL) for item in items)}]"
        case MapDisplay(entries):
            return f"{{{', '.join(f'{quote(key)}: {_text(value, CONDITIONAL)}' for key, value in entries)}}}"


def _operation(expression: Unary | Binary | Compare | Logic | Conditional) -> str:
    match expression:
        case Unary("not", operand):
            return f"not {_text(operand, NOT)}"
        case Unary(operator, operand):
            least = SIGN if isinstance(operand, Unary) else POSTFIX
            return f"{operator}{_text(operand, least)}"
        case Binary(operator, left, right):
            power = _BINARY[operator]
            return f"{_text(left, power)} {operator} {_text(right, power + 1)}"
        case Compare(operator, left, right):
            return f"{_text(left, SUM)} {operator} {_text(right, SUM)}"
        case Logic(operator, operands):
            least = AND if operator == "or" else NOT
            return f" {operator} ".join(_text(operand, least) for operand in operands)
        case Conditional(then, condition, otherwise):
            return f"{_text(then, OR)} if {_text(condition, OR)} else {_text(otherwise, CONDITIONAL)}"


def _literal(value: str | float | bool | None) -> str:
    match value:
        case str():
            return quote(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "none"
        case _:
            return repr(value)
