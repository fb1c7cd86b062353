"""Parses tokens to a syntax tree: a Pratt parser with Jinja's precedence.

Two counters make hostile text harmless: `depth` bounds the parser's own recursion, `height` the tree that is
built (`a.b.c.d` and `x|f|f` grow to the left, without recursion here but with it in whoever walks the tree).
"""

from typing import TYPE_CHECKING, cast

from handrail.language.expressions.lexer import MAX_INT, Token, fail, tokens, unquote
from handrail.language.expressions.syntax import (
    TESTS,
    Attribute,
    Binary,
    BinaryOperator,
    Compare,
    CompareOperator,
    Conditional,
    Expression,
    Filter,
    Item,
    ListDisplay,
    Literal,
    Logic,
    LogicOperator,
    MapDisplay,
    Name,
    Test,
    Unary,
    UnaryOperator,
)
from handrail.language.expressions.token_reader import MAX_DEPTH, TokenReader
from handrail.late_import import late_import
from handrail.model.suggest import did_you_mean

if TYPE_CHECKING:
    from handrail.language.expressions import refusals
else:
    refusals = late_import("handrail.language.expressions.refusals")

CONDITIONAL, OR, AND, NOT, COMPARE, SUM, JOIN, PRODUCT, SIGN, FILTER, POSTFIX = range(1, 12)

_POWER: dict[str, int] = {
    "if": CONDITIONAL,
    "or": OR,
    "and": AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in", "not"), COMPARE),
    **dict.fromkeys(("+", "-"), SUM),
    "~": JOIN,
    **dict.fromkeys(("*", "/", "//", "%"), PRODUCT),
    **dict.fromkeys(("|", "is"), FILTER),
    **dict.fromkeys((".", "[", "("), POSTFIX),
}
_ARITHMETIC = frozenset({"+", "-", "~", "*", "/", "//", "%"})
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def parse(text: str, offset: int = 0) -> Expression:
    """Parse an expression; `offset` is added to every position."""
    return _Parser(tokens(text, offset)).parse_all()


class _Parser(TokenReader):
    __slots__ = ()

    def parse_all(self) -> Expression:
        first = self.tokens[0]
        if first.kind == "end":
            fail("the expression is empty", first.start, first.end)
        expression = self._expression(CONDITIONAL)
        rest = self.tokens[self.at]
        if rest.kind != "end":
            self.refuse_token(rest, expression)
        return expression

    def _expression(self, least: int) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse_too_deep()
        left = self._prefix(least)
        while True:
            token = self.tokens[self.at]
            power = _POWER.get(token.kind, 0)
            if power < least or not power:
                break
            self.at += 1
            left = self._infix(left, token, power)
        self.depth -= 1
        return left

    def _prefix(self, least: int) -> Expression:
        token = self.tokens[self.at]
        kind = token.kind
        self.at += 1
        self.height = 1
        if kind == "name":
            return Name(token.text, token.start, token.end)
        if kind == "string":
            return Literal(unquote(token), token.start, token.end)
        if kind in _CONSTANTS:
            return Literal(_CONSTANTS[kind], token.start, token.end)
        if kind in ("int", "float"):
            return _number(token)
        if kind in ("-", "+", "not"):
            return self._unary(token, least)
        return self._bracket(token)

    def _bracket(self, token: Token) -> Expression:
        match token.kind:
            case "(":
                inner = self._expression(CONDITIONAL)
                self.expect(")", token)
                return inner
            case "[":
                return self._list(token)
            case "{":
                return self._map(token)
            case _:
                refusals.refuse_start(token)
        return None

    def _unary(self, token: Token, least: int) -> Expression:
        if token.kind == "not" and least > NOT:
            fail("`not` is not allowed inside an operation", token.start, token.end, "put `(not ...)` in parentheses")
        operand = self._expression(NOT if token.kind == "not" else POSTFIX)
        self.grow(self.height)
        return Unary(cast("UnaryOperator", token.kind), operand, token.start, operand.end)

    def _infix(self, left: Expression, token: Token, power: int) -> Expression:
        kind = token.kind
        if power == POSTFIX:
            return self._postfix(left, token)
        if power == COMPARE:
            return self._compare(left, token)
        if kind in _ARITHMETIC:
            height = self.height
            right = self._expression(power + 1)
            self.grow(height)
            return Binary(cast("BinaryOperator", kind), left, right, left.start, right.end)
        if power <= AND:
            return self._conditional(left) if kind == "if" else self._logic(left, token, power)
        if kind == "|":
            return self._filter(left)
        return self._test(left)

    def _postfix(self, left: Expression, token: Token) -> Expression:
        # A parenthesis between them leaves a gap: the subject's end is inside it.
        if isinstance(left, Filter | Test) and self.tokens[self.at - 2].end == left.end:
            hint = "put the filter in parentheses: `(x | first).name`"
            fail(f"`{token.kind}` cannot follow a filter directly", token.start, token.end, hint)
        if token.kind == ".":
            return self._attribute(left, token)
        return self._item(left, token) if token.kind == "[" else refusals.refuse_call(left, token)

    def _logic(self, left: Expression, token: Token, power: int) -> Expression:
        height = self.height
        operands = [left]
        while True:
            operands.append(self._expression(power + 1))
            height = max(height, self.height)
            if self.tokens[self.at].kind != token.kind:
                break
            self.at += 1
        self.grow(height)
        return Logic(cast("LogicOperator", token.kind), tuple(operands), left.start, operands[-1].end)

    def _compare(self, left: Expression, token: Token) -> Expression:
        operator = token.kind
        if operator == "not":
            self.expect("in", token)
            operator = "not in"
        height = self.height
        right = self._expression(SUM)
        self.grow(height)
        after = self.tokens[self.at]
        if _POWER.get(after.kind) == COMPARE:
            hint = "compare twice: `a < b and b < c`"
            fail("comparisons do not chain", after.start, after.end, hint, "operator-refused")
        return Compare(cast("CompareOperator", operator), left, right, left.start, right.end)

    def _conditional(self, then: Expression) -> Expression:
        height = self.height
        condition = self._expression(OR)
        height = max(height, self.height)
        token = self.tokens[self.at]
        if token.kind != "else":
            fail("`if` without `else`", token.start, token.end, "write `value if condition else other`")
        self.at += 1
        otherwise = self._expression(CONDITIONAL)
        self.grow(height)
        return Conditional(then, condition, otherwise, then.start, otherwise.end)

    def _attribute(self, subject: Expression, dot: Token) -> Expression:
        token = self.tokens[self.at]
        self.at += 1
        self.grow(self.height)
        if token.kind == "int":
            hint = f"an item of a list is written `[{token.text}]`"
            fail("a field's name cannot be a number", token.start, token.end, hint)
        if not token.text.isidentifier():
            fail("a field's name must follow `.`", dot.start, dot.end)
        if token.text.startswith("_"):
            hint = f"a field with this name is written `['{token.text}']`"
            fail(f"field '{token.text}' starts with `_`", token.start, token.end, hint, "call-refused")
        return Attribute(subject, token.text, subject.start, token.end)

    def _item(self, subject: Expression, bracket: Token) -> Expression:
        height = self.height
        index = self._expression(CONDITIONAL) if self.tokens[self.at].kind != ":" else None
        token = self.tokens[self.at]
        if index is None or token.kind == ":":
            hint = "use `first`, `last`, `truncate` or one item"
            fail("slices are not supported", bracket.start, token.end, hint, "operator-refused")
        end = self.expect("]", bracket)
        self.grow(height)
        return Item(subject, index, subject.start, end)

    def _filter(self, subject: Expression) -> Expression:
        name = self.tokens[self.at]
        if not name.text.isidentifier():
            fail("a filter's name must follow `|`", name.start, name.end)
        self.at += 1
        height = self.height
        arguments: list[Expression] = []
        named: list[tuple[str, Expression]] = []
        end = name.end
        opening = self.tokens[self.at]
        if opening.kind == "(":
            self.at += 1
            while self.tokens[self.at].kind != ")":
                self._argument(arguments, named)
                height = max(height, self.height)
                if not self.comma(")"):
                    break
            end = self.expect(")", opening)
        self.grow(height)
        return Filter(subject, name.text, tuple(arguments), tuple(named), subject.start, end, name.start)

    def _argument(self, arguments: list[Expression], named: list[tuple[str, Expression]]) -> None:
        token = self.tokens[self.at]
        if token.kind == "name" and self.tokens[self.at + 1].kind == "=":
            self.at += 2
            named.append((token.text, self._expression(CONDITIONAL)))
            return
        if named:
            fail("an argument without a name follows one with a name", token.start, token.end)
        arguments.append(self._expression(CONDITIONAL))

    def _test(self, subject: Expression) -> Expression:
        token = self.tokens[self.at]
        negated = token.kind == "not"
        if negated:
            self.at += 1
            token = self.tokens[self.at]
        self.at += 1
        name = "none" if token.kind == "none" else token.text
        if name not in TESTS:
            hint = f"the tests after `is` are: {', '.join(sorted(TESTS))}; equality is written `==`"
            fail(f"unknown test '{token.text}'{did_you_mean(name, TESTS)}", token.start, token.end, hint)
        self.grow(self.height)
        return Test(subject, name, negated, subject.start, token.end)

    def _list(self, opening: Token) -> Expression:
        items: list[Expression] = []
        height = 0
        while self.tokens[self.at].kind != "]":
            items.append(self._expression(CONDITIONAL))
            height = max(height, self.height)
            if not self.comma("]"):
                break
        end = self.expect("]", opening)
        self.height = 0
        self.grow(height)
        return ListDisplay(tuple(items), opening.start, end)

    def _map(self, opening: Token) -> Expression:
        entries: dict[str, Expression] = {}
        height = 0
        while self.tokens[self.at].kind != "}":
            key = self.tokens[self.at]
            if key.kind != "string":
                fail("a key of a map must be quoted text", key.start, key.end, "write {'key': value}")
            self.at += 1
            self.expect(":", opening)
            if unquote(key) in entries:
                fail(f"key {key.text} appears twice", key.start, key.end)
            entries[unquote(key)] = self._expression(CONDITIONAL)
            height = max(height, self.height)
            if not self.comma("}"):
                break
        end = self.expect("}", opening)
        self.height = 0
        self.grow(height)
        return MapDisplay(tuple(entries.items()), opening.start, end)


def _number(token: Token) -> Literal:
    too_large = f"the number {token.text[:20]} is too large"
    if token.kind == "float":
        value = float(token.text)
        if value == float("inf"):
            fail(too_large, token.start, token.end)
        return Literal(value, token.start, token.end)
    if len(token.text) > 20 or int(token.text) > MAX_INT:
        fail(too_large, token.start, token.end, f"whole numbers go up to {MAX_INT}")
    return Literal(int(token.text), token.start, token.end)
