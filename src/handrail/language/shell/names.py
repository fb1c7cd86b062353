"""Decides which `${...}` of a shell command are Handrail's, and the variables that carry them."""

import re
from collections.abc import Callable, Collection

from handrail.language.expressions.filters import FILE_FILTER
from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Expression, Filter
from handrail.language.expressions.unparse import quote, unparse
from handrail.language.problems import LanguageError, Problem
from handrail.language.shell.syntax import Binding, ValueMark
from handrail.language.templates.interpolate import actions_warning
from handrail.language.templates.lexer import find_close
from handrail.model.suggest import did_you_mean

_CAPITALS = re.compile(r"[A-Z_][A-Z0-9_]*\Z|\d+\Z|[@*#?$!-]\Z", re.ASCII)
_ROOT = re.compile(r"\s*(?:not\s+)?([A-Za-z_]\w*)", re.ASCII)
_EXPANSION = re.compile(
    r"[#!]?([A-Za-z_]\w*|\d+)(?:\[[^\]]*\])?(:[-=?+]?|[-=?+](?!\s)|%%?|##?|//?|\^\^?|,,?|@[A-Za-z])(.*)", re.DOTALL
)
_INDIRECT = re.compile(r"[#!]([A-Za-z_]\w*)(\[[@*]\]|[@*])?\Z", re.ASCII)
_ELEMENT = re.compile(r"([A-Za-z_]\w*)\[[^\]]*\]\Z", re.ASCII)


class Names:
    """Decides about each placeholder and assigns variables, one for each different expression."""

    def __init__(self, text: str, known: Callable[[str], bool], suggestions: Collection[str]) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._known = known
        self._suggestions = suggestions
        self._bindings: dict[tuple[str, bool], Binding] = {}

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The variables in the order of their first use."""
        return tuple(self._bindings.values())

    def report(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        """Record a problem."""
        self.problems.append(Problem(code, message, start, end, hint))

    def actions(self, start: int) -> None:
        """Warn about `${{`."""
        self.warnings.append(actions_warning(self.text, start))

    def find_placeholder(self, start: int) -> tuple[str, ValueMark] | None:
        """Return the variable and the place of the `${...}` at an offset, or None if it is left to the shell."""
        close = find_close(self.text, start + 2, "}")
        if close < 0:
            return None
        inner = self.text[start + 2 : close]
        mark = ValueMark(self.text[start : close + 1], start, close + 1)
        if self._is_shells(inner, mark):
            return None
        root = _ROOT.match(inner)
        if root is not None and root[1] not in ("true", "false", "none") and not self._known(root[1]):
            self._unknown(inner, root[1], mark)
            return None
        try:
            expression = parse(inner, start + 2)
        except LanguageError as error:
            self.problems.append(error.problem)
            return None
        return self._variable(expression), mark

    def is_ours(self, start: int) -> ValueMark | None:
        """Like `find_placeholder`, without a variable: for places where no value is allowed."""
        before = dict(self._bindings)
        found = self.find_placeholder(start)
        self._bindings = before
        return found[1] if found else None

    def _variable(self, expression: Expression) -> str:
        as_file = isinstance(expression, Filter) and expression.name == FILE_FILTER and not expression.arguments
        if as_file and isinstance(expression, Filter):
            expression = expression.subject
        key = unparse(expression), as_file
        if key not in self._bindings:
            self._bindings[key] = Binding(f"HR_{len(self._bindings) + 1}", expression, as_file)
        return self._bindings[key].variable

    def _is_shells(self, inner: str, mark: ValueMark) -> bool:
        if not inner or _CAPITALS.match(inner):
            return True
        indirect = _INDIRECT.match(inner)
        if indirect:
            if self._known(indirect[1]):
                hint = f"write `${{{indirect[1]} | length}}`" if inner[0] == "#" else None
                self._expansion(indirect[1], mark, hint)
            return True
        element = _ELEMENT.match(inner)
        if element and not self._known(element[1]):
            return True
        return self._expands(inner, mark)

    def _expands(self, inner: str, mark: ValueMark) -> bool:
        match = _EXPANSION.match(inner)
        if match is None:
            return False
        name, operator, rest = match[1], match[2], match[3]
        if not self._known(name):
            # Only a shell's variable has such an operator; `run-tests.x` is a name of Handrail's, written wrong.
            return operator not in ("-", "+") or "." not in rest
        if operator in ("-", "+"):
            return False
        default = operator in (":-", ":=", "=")
        hint = f"write `${{{name} | default({quote(rest)})}}`" if default else None
        self._expansion(name, mark, hint)
        return True

    def _expansion(self, name: str, mark: ValueMark, hint: str | None) -> None:
        message = f"'{name}' is a value of the workflow; the shell's `{mark.source}` cannot use it"
        hint = hint or f"use a filter, or assign it to a shell variable first: `v=${{{name}}}`"
        self.report("shell-syntax", message, mark.start, mark.end, hint)

    def _unknown(self, inner: str, root: str, mark: ValueMark) -> None:
        message = f"unknown variable '{root}'{did_you_mean(root, self._suggestions)}"
        hint = None
        if inner.strip() == root:
            hint = f"if it is a shell variable, write `${root}` or `$${{{root}}}`: `{self._suggest_fix(root, mark)}`"
        self.report("unknown-shell-name", message, mark.start, mark.end, hint)

    def _suggest_fix(self, root: str, mark: ValueMark) -> str:
        begin = self.text.rfind("\n", 0, mark.start) + 1
        end = self.text.find("\n", mark.end)
        end = len(self.text) if end < 0 else end
        after = self.text[mark.end : mark.end + 1]
        glued = after.isalnum() or after in ("_", "[") or "'" in self.text[begin : mark.start]
        right = f"$${{{root}}}" if glued and after else f"${root}"
        return (self.text[begin : mark.start] + right + self.text[mark.end : end]).strip()
