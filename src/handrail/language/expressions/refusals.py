"""What other languages have and this one does not: the message for each, and what to write instead."""

from typing import NoReturn

from handrail.language.expressions.lexer import REFUSED_OPERATORS, Token, fail
from handrail.language.expressions.syntax import Attribute, Expression, Name

_AS_FILTERS = {
    "len": "{x} | length",
    "length": "{x} | length",
    "size": "{x} | length",
    "str": "{x} | string",
    "toJSON": "{x} | json",
    "strip": "{x} | trim",
    "get": "{x}.field | default(...)",
    "startswith": "{x} | starts_with('...')",
    "startsWith": "{x} | starts_with('...')",
    "endswith": "{x} | ends_with('...')",
    "endsWith": "{x} | ends_with('...')",
    "contains": "'...' in {x}",
    "includes": "'...' in {x}",
    "format": "'...' ~ {x}",
    "fromJSON": "{x}",
    "success": "steps.NAME.status == 'succeeded'",
    "failure": "steps.NAME.status == 'failed'",
}


def refuse_call(callee: Expression, token: Token) -> NoReturn:
    """Refuse `f(x)` and `x.f()`, naming the filter that does the same."""
    name, subject = "", "x"
    if isinstance(callee, Name):
        name = callee.name
    elif isinstance(callee, Attribute):
        name = callee.name
        subject = callee.subject.name if isinstance(callee.subject, Name) else "x"
    pattern = _AS_FILTERS.get(name, "{x} | " + (name or "filter"))
    hint = f"values are changed by filters: `{pattern.format(x=subject)}`"
    called = f"'{name}' cannot be called" if name else "a value cannot be called"
    fail(f"{called}; calls are not supported", callee.start, token.end, hint, "call-refused")


def refuse_start(token: Token) -> NoReturn:
    """Refuse a token that cannot begin a value."""
    if token.kind == "end":
        fail("the expression ends too early", token.start, token.end, "a value is missing at the end")
    message, hint = REFUSED_OPERATORS.get(token.kind, (None, None))
    if message:
        fail(message, token.start, token.end, hint, "operator-refused")
    if token.kind == ".":
        hint = "write a name before the `.`"
    fail(f"expected a value, found `{token.text}`", token.start, token.end, hint)
