"""`${...}` in the values of a workflow file, and conditions in every form that older files use."""

import re

from handrail.frozen import frozen
from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Attribute, Expression, Name
from handrail.language.expressions.unparse import quote, unparse
from handrail.language.problems import LanguageError, Problem
from handrail.language.templates.lexer import find_close
from handrail.language.templates.parse import go_style

_OPENING = re.compile(r"\$\$\{|\$\{\{|\$\{")
_SHELL_DEFAULT = re.compile(r"\s*([A-Za-z_][\w.]*)\s*:?[-=]([^}]*)$", re.ASCII)


@frozen
class Placeholder:
    """One `${...}`; the positions include its marks."""

    expr: Expression
    start: int
    end: int


@frozen
class InterpolatedText:
    """Text with placeholders."""

    parts: tuple[str | Placeholder, ...]
    warnings: tuple[Problem, ...] = ()

    @property
    def sole_expression(self) -> Expression | None:
        """The expression, if the text is exactly one placeholder, whose value then retains its type."""
        match self.parts:
            case (Placeholder(expr),):
                return expr
            case _:
                return None


def parse_text(text: str) -> InterpolatedText:
    """Parse a value of a workflow file."""
    parts: list[str | Placeholder] = []
    warnings: list[Problem] = []
    at = 0
    pending = ""
    while match := _OPENING.search(text, at):
        pending += text[at : match.start()]
        at = match.end()
        if match[0] == "$${":
            pending += "${"
        elif match[0] == "${{":
            pending += match[0]
            warnings.append(actions_warning(text, match.start()))
        else:
            close = find_close(text, at, "}")
            parts += [pending] if pending else []
            pending = ""
            parts.append(Placeholder(_parse_placeholder(text, at, close), match.start(), close + 1))
            at = close + 1
    pending += text[at:]
    parts += [pending] if pending or not parts else []
    return InterpolatedText(tuple(parts), tuple(warnings))


def actions_warning(text: str, start: int) -> Problem:
    """Warn that `${{` is another system's syntax."""
    close = text.find("}}", start)
    message = "`${{ ... }}` is GitHub Actions' syntax and is left unchanged"
    end = close + 2 if close >= 0 else start + 3
    return Problem("actions-placeholder", message, start, end, "for a value of this workflow write `${name}`")


def _parse_placeholder(text: str, start: int, close: int) -> Expression:
    if close < 0:
        hint = "add `}`, or write `$${` if you mean the literal text"
        raise LanguageError(Problem("template-syntax", "`${` is never closed", start - 2, start, hint))
    inner = text[start:close]
    if not inner.strip():
        message = "`${}` is empty"
        raise LanguageError(Problem("template-syntax", message, start - 2, close + 1, "write `${name}`"))
    try:
        return parse(inner, start)
    except LanguageError as error:
        shell = _SHELL_DEFAULT.match(inner)
        if shell is None:
            raise
        problem = error.problem
        hint = f"a default is written `${{{shell[1]} | default({quote(shell[2])})}}`"
        raise LanguageError(Problem(problem.code, problem.message, problem.start, problem.end, hint)) from None


@frozen
class Condition:
    """A condition, and its bare form for authors who wrote it with marks around it."""

    expr: Expression
    bare: str
    wrapped: bool


_MARKS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\$\{|\{\{""", re.DOTALL)


def parse_condition(text: str) -> Condition:
    """Parse a condition: bare, in `${...}`, in `{{...}}`, or with such marks around names inside it."""
    bare = _strip_marks(text)
    expr = parse(bare)
    wrapped = bare != text
    return Condition(expr, unparse(expr) if wrapped else text.strip(), wrapped)


def _strip_marks(text: str) -> str:
    result = ""
    at = 0
    while match := _MARKS.search(text, at):
        mark = match[0]
        result += text[at : match.start()]
        if mark[0] in "'\"":
            _refuse_quoted(match)
            result += mark
            at = match.end()
            continue
        closer = "}" if mark == "${" else "}}"
        close = find_close(text, match.end(), closer)
        if close < 0:
            raise LanguageError(
                Problem("expression-syntax", f"`{mark}` is never closed", match.start(), match.end(), f"add `{closer}`")
            )
        result += _unwrap_mark(text[match.end() : close], closer)
        at = close + len(closer)
    return result + text[at:]


def _unwrap_mark(inner: str, closer: str) -> str:
    # The result has as many characters as the input, so that every offset stays right.
    inner = go_style(inner) if closer == "}}" else inner
    opening, closing = (" (", ")") if not _is_path(inner) else ("  ", " ")
    return opening + inner + closing.ljust(len(closer))


def _is_path(text: str) -> bool:
    try:
        expression = parse(text)
    except LanguageError:
        return False
    while isinstance(expression, Attribute):
        expression = expression.subject
    return isinstance(expression, Name)


def _refuse_quoted(match: re.Match[str]) -> None:
    inside = re.search(r"\$\{\s*([\w.]+)\s*\}", match[0])
    if inside is not None:
        message = f"`{inside[0]}` is inside quotes and is plain text there"
        hint = f"write `{inside[1]}` without quotes"
        raise LanguageError(Problem("expression-syntax", message, match.start(), match.end(), hint))
