"""A position in a list of tokens, with the counters that bound what is read."""

from typing import NoReturn

from handrail.language.expressions.lexer import REFUSED_OPERATORS, Token, fail
from handrail.language.expressions.syntax import Expression, Name

MAX_DEPTH = 64
"""Levels of nesting, both of the text and of the tree."""


class TokenReader:
    """What every part of the parser needs."""

    __slots__ = ("at", "depth", "height", "tokens")

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at: int = 0
        self.depth: int = 0
        self.height: int = 0

    def comma(self, closing: str) -> bool:
        """Consume a comma if there is one; anything but it and the closing bracket is refused."""
        token = self.tokens[self.at]
        if token.kind == "for":
            hint = "use `| map('field')` or `| where('field', value)`"
            fail("comprehensions are not supported", token.start, token.end, hint, "operator-refused")
        if token.kind not in (",", closing):
            self.refuse_token(token, None)
        self.at += token.kind == ","
        return token.kind == ","

    def expect(self, kind: str, opening: Token) -> int:
        """Consume a token of a kind and return its end, or refuse."""
        token = self.tokens[self.at]
        if token.kind != kind:
            if token.kind == "end" and opening.kind in ("(", "[", "{"):
                fail(f"`{opening.kind}` is never closed", opening.start, opening.end, f"add `{kind}`")
            if token.kind in REFUSED_OPERATORS:
                self.refuse_token(token, None)
            fail(f"expected `{kind}`, found {_describe_token(token)}", token.start, token.end)
        self.at += 1
        return token.end

    def grow(self, height: int) -> None:
        """Record that a node is above trees of this height and of the last one."""
        self.height = max(height, self.height) + 1
        if self.height > MAX_DEPTH:
            self.refuse_too_deep()

    def refuse_too_deep(self) -> NoReturn:
        """Refuse text that nests too deeply."""
        token = self.tokens[self.at]
        message = f"the expression nests deeper than {MAX_DEPTH} levels"
        fail(message, token.start, token.end, "split it over several steps", "expression-too-large")

    def refuse_token(self, token: Token, before: Expression | None) -> NoReturn:
        """Refuse a token that is not allowed here."""
        message, hint = REFUSED_OPERATORS.get(token.kind, (None, None))
        if message:
            fail(message, token.start, token.end, hint, "operator-refused")
        if token.kind == "end":
            fail("the expression ends too early", token.start, token.end)
        if isinstance(before, Name) and token.kind in ("name", "string"):
            hint = f"if it is text, put it in quotes: '{before.name} {token.text.strip(chr(39))} ...'"
        fail(f"unexpected {_describe_token(token)}", token.start, token.end, hint)


def _describe_token(token: Token) -> str:
    return "the end of the expression" if token.kind == "end" else f"`{token.text[:40]}`"
