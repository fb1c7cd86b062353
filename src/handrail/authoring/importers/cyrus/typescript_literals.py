"""Parses literals of plain data in TypeScript to positioned trees: objects, arrays, texts, numbers, constants."""

from typing import TypeVar

from handrail.authoring.importers.cyrus.typescript_tokens import Token, UnsupportedSyntax, unquote
from handrail.model.source import Entry, Mapping, Node, Scalar, ScalarValue, Sequence, SourceText, Span

MAX_DEPTH = 32
MAX_VALUES = 20_000
STATEMENTS = frozenset({"const", "let", "var", "function", "async", "export", "interface", "type", "import", "class"})
_CONSTANTS: dict[str, ScalarValue] = {"true": True, "false": False, "null": None, "undefined": None}
_Kind = TypeVar("_Kind", Mapping, Sequence)
_OPEN = {"(": ")", "[": "]", "{": "}"}


class Literals:
    """A cursor over the tokens of a file that reads values and skips everything else."""

    def __init__(self, source: SourceText, found: list[Token]) -> None:
        self.source = source
        self.constants: dict[str, Node] = {}
        self._tokens = found
        self._at = 0
        self._values = 0

    @property
    def now(self) -> Token:
        """The current token."""
        return self._tokens[self._at]

    def ahead(self, by: int = 1) -> Token:
        """Return a token further on, or the end."""
        return self._tokens[min(self._at + by, len(self._tokens) - 1)]

    def move(self, by: int = 1) -> None:
        """Advance, at most to the end."""
        self._at = min(self._at + by, len(self._tokens) - 1)

    def value(self, depth: int = 0) -> Node:
        """Read a value, refusing anything but plain data."""
        self._values += 1
        token = self.now
        if depth > MAX_DEPTH or self._values > MAX_VALUES:
            raise UnsupportedSyntax("the data is nested too deeply or is too large", token.start)
        value = self._members(self._primary(token, depth))
        while self.now.text in ("as", "satisfies") and self.now.kind == "word":
            self.move()
            self._skip_type()
        return value

    def _primary(self, token: Token, depth: int) -> Node:
        match token.text if token.kind == "sign" else token.kind:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case "(":
                self.move()
                value = self.value(depth + 1)
                self._take(")")
                return value
            case "text" | "template" | "number" | "-" | "word":
                return self._leaf(token)
            case _:
                raise UnsupportedSyntax(f"`{token.text}` is not plain data", token.start)

    def _leaf(self, token: Token) -> Node:
        self.move()
        if token.kind in ("text", "template"):
            if token.kind == "template" and "${" in token.text:
                raise UnsupportedSyntax("a template string with `${` is not plain data", token.start)
            return self._scalar(unquote(token), token)
        if token.kind == "word":
            return self._word(token)
        if token.kind == "sign":
            number = self.now
            if number.kind != "number":
                raise UnsupportedSyntax("`-` is not plain data", token.start)
            self.move()
            return self._scalar(_number("-" + number.text), number)
        return self._scalar(_number(token.text), token)

    def _word(self, token: Token) -> Node:
        if token.text in _CONSTANTS:
            return self._scalar(_CONSTANTS[token.text], token)
        known = self.constants.get(token.text)
        if known is None:
            raise UnsupportedSyntax(f"`{token.text}` is not a constant of plain data", token.start)
        return known

    def _members(self, value: Node) -> Node:
        while self.now.text in (".", "[", "(", "?.") and self.now.kind == "sign":
            token = self.now
            name = self.ahead()
            if token.text == "." and name.kind == "word":
                self.move(2)
            elif token.text == "[" and name.kind == "text":
                self.move(2)
                self._take("]")
            else:
                raise UnsupportedSyntax("a call or computed access is not plain data", token.start)
            key = unquote(name) if name.kind == "text" else name.text
            found = value.get(key) if isinstance(value, Mapping) else None
            if found is None:
                raise UnsupportedSyntax(f"there is no `{key}` in it", name.start)
            value = found
        return value

    def _object(self, depth: int) -> Mapping:
        start = self.now.start
        self.move()
        entries: dict[str, Entry] = {}
        while self.now.text != "}":
            if self.now.text == "...":
                self.move()
                entries.update(self._spread(depth, Mapping).entries)
            else:
                entry = self._property(depth)
                entries[entry.name] = entry
            self._separator("}")
        end = self.now.end
        self.move()
        return Mapping(entries, Span(self.source, start, end))

    def _property(self, depth: int) -> Entry:
        token = self.now
        if token.kind not in ("word", "text", "number"):
            raise UnsupportedSyntax(f"`{token.text}` is not the name of a property", token.start)
        self.move()
        key = self._scalar(unquote(token) if token.kind == "text" else token.text, token)
        if self.now.text == ":":
            self.move()
            return Entry(key, self.value(depth + 1))
        if self.now.text in (",", "}") and token.kind == "word":
            return Entry(key, self._word(token))
        raise UnsupportedSyntax(f"`{token.text}` is a function, not plain data", token.start)

    def _array(self, depth: int) -> Sequence:
        start = self.now.start
        self.move()
        items: list[Node] = []
        while self.now.text != "]":
            if self.now.text == "...":
                self.move()
                items.extend(self._spread(depth, Sequence).items)
            else:
                items.append(self.value(depth + 1))
            self._separator("]")
        end = self.now.end
        self.move()
        return Sequence(tuple(items), Span(self.source, start, end))

    def _spread(self, depth: int, kind: type[_Kind]) -> _Kind:
        token = self.now
        found = self.value(depth + 1)
        if not isinstance(found, kind):
            raise UnsupportedSyntax("only data of the same kind can be spread", token.start)
        # Spreads of spreads double the data each time, so what they copy counts towards the limit.
        self._values += len(found.items) if isinstance(found, Sequence) else len(found.entries)
        return found

    def _separator(self, closing: str) -> None:
        if self.now.text == ",":
            self.move()
        elif self.now.text != closing:
            raise UnsupportedSyntax(f"expected `,` or `{closing}`", self.now.start)

    def _take(self, text: str) -> None:
        if self.now.text != text:
            raise UnsupportedSyntax(f"expected `{text}`", self.now.start)
        self.move()

    def _scalar(self, value: ScalarValue, token: Token) -> Scalar:
        return Scalar(value, Span(self.source, token.start, token.end), "json")

    def _skip_type(self) -> None:
        while self.now.kind in ("word", "text") or self.now.text in (".", "|", "<", ">", "[", "]", "{"):
            if self.now.text == "{":
                self.skip_balanced()
            elif (self.now.kind == "word" and self.now.text in STATEMENTS - {"const"}) or (
                self.now.text == "]" and self._tokens[self._at - 1].text != "["
            ):
                return
            else:
                self.move()

    def skip_to(self, text: str) -> None:
        """Advance to a sign, at most to the end of the statement."""
        while self.now.kind != "end" and self.now.text not in (text, ";"):
            if self.now.text in _OPEN and self.now.text != text:
                self.skip_balanced()
            else:
                self.move()

    def skip_balanced(self) -> None:
        """Advance past the bracket that closes the current one."""
        depth = 0
        while self.now.kind != "end":
            if self.now.kind == "sign":
                depth += (self.now.text in _OPEN) - (self.now.text in _OPEN.values())
            self.move()
            if depth <= 0:
                return

    def skip_statement(self) -> None:
        """Advance to the next statement."""
        first = self._at
        while self.now.kind != "end":
            if self._at > first and self.now.kind == "word" and self.now.text in STATEMENTS - {"type", "async"}:
                return
            if self.now.text == ";" and self.now.kind == "sign":
                self.move()
                return
            if self.now.text in _OPEN and self.now.kind == "sign":
                self.skip_balanced()
            else:
                self.move()


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    return float(plain) if set(plain) & set(".eE") else int(plain)
