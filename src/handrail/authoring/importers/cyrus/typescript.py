"""Reads what a TypeScript file declares as plain data, statement by statement, and skips everything else."""

from dataclasses import dataclass, field

from handrail.authoring.importers.cyrus.typescript_literals import Literals
from handrail.authoring.importers.cyrus.typescript_tokens import Token, UnsupportedSyntax, tokens
from handrail.model.source import Node, SourceText


@dataclass(slots=True)
class Declarations:
    """What a file declares: constants by name, the result of `resolve`, and what could not be read."""

    constants: dict[str, Node] = field(default_factory=dict[str, Node])
    resolved: Node | None = None
    resolve_at: int | None = None
    """The offset at which `resolve` does more than return a constant; None if it never does."""
    problems: list[UnsupportedSyntax] = field(default_factory=list[UnsupportedSyntax])


def read_declarations(source: SourceText) -> Declarations:
    """Read every constant that is plain data."""
    declared = Declarations()
    try:
        found = tokens(source.text)
    except UnsupportedSyntax as problem:
        declared.problems.append(problem)
        return declared
    _File(source, found, declared).run()
    return declared


class _File(Literals):
    def __init__(self, source: SourceText, found: list[Token], declared: Declarations) -> None:
        super().__init__(source, found)
        self.constants = declared.constants
        self._declared = declared

    def run(self) -> None:
        while self.now.kind != "end":
            word = self.now.text if self.now.kind == "word" else ""
            if word in ("const", "let", "var") and self.ahead().kind == "word":
                self._constant()
            elif word == "function":
                self._function()
            elif word == "default":
                self.move()
                self._default()
            elif word in ("export", "async"):
                self.move()
            else:
                self.skip_statement()

    def _constant(self) -> None:
        name = self.ahead().text
        self.move(2)
        self.skip_to("=")
        if self.now.text != "=":
            return
        self.move()
        start = self._at
        try:
            value = self.value()
            self._expect_end()
            self._declared.constants[name] = value
        except UnsupportedSyntax as problem:
            self._at = start
            if name == "resolve":
                self._arrow()
            else:
                self._declared.problems.append(UnsupportedSyntax(f"in `{name}`, {problem.message}", problem.at))
            self.skip_statement()

    def _default(self) -> None:
        if self.now.text in ("function", "async", "class"):
            return
        start = self._at
        try:
            self._declared.constants.setdefault("default", self.value())
        except UnsupportedSyntax as problem:
            self._declared.problems.append(problem)
            self._at = start
        self.skip_statement()

    def _function(self) -> None:
        name = self.ahead().text
        self.move(2)
        self.skip_to("(")
        self.skip_balanced()
        self.skip_to("{")
        if name == "resolve" and self.now.text == "{":
            self._body()
            return
        self.skip_balanced()

    def _arrow(self) -> None:
        first = self._at
        self.skip_to("=>")
        is_arrow = self.now.text == "=>"
        self.move()
        if not is_arrow:
            self._logic(first)
        elif self.now.text == "{":
            self._body()
        else:
            self._read_returned(self._at)

    def _body(self) -> None:
        start = self._at
        self.move()
        first = self._at
        if self.now.text == "return":
            self.move()
            self._read_returned(first)
        else:
            self._logic(first)
            self._last_return(start)
        if self.now.text == ";":
            self.move()
        if self.now.text != "}" and self._declared.resolve_at is None:
            self._logic(self._at)
        self._at = start
        self.skip_balanced()

    def _read_returned(self, first: int) -> None:
        try:
            self._declared.resolved = self.value()
        except UnsupportedSyntax:
            self._logic(first)

    def _logic(self, at: int) -> None:
        self._declared.resolve_at = self._tokens[min(at, len(self._tokens) - 1)].start

    def _last_return(self, start: int) -> None:
        """Read the value of the last `return` of a plain constant, if there is one."""
        self._at = start
        self.skip_balanced()
        end = self._at
        for at in range(end - 1, start, -1):
            if self._tokens[at].text == "return" and self._tokens[at].kind == "word":
                self._at = at + 1
                try:
                    self._declared.resolved = self.value()
                except UnsupportedSyntax:
                    continue
                break
        self._at = end

    def _expect_end(self) -> None:
        token = self.now
        previous = self._tokens[self._at - 1]
        new_line = "\n" in self.source.text[previous.end : token.start]
        if token.kind != "end" and token.text != ";" and not (new_line and token.kind == "word"):
            raise UnsupportedSyntax(f"`{token.text}` follows a value", token.start)
