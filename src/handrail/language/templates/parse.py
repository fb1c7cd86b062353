"""Parses templates, as prompts are written: `{{ value }}`, `{% if %}`, `{% for %}`, `{% raw %}`, `{# comment #}`."""

import re
from collections.abc import Container
from typing import NoReturn

from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Expression
from handrail.language.problems import LanguageError, Problem
from handrail.language.templates.check import check_template, template_refs
from handrail.language.templates.lexer import Piece, pieces, refuse
from handrail.language.templates.render import OutputValue, render, render_parts
from handrail.language.templates.syntax import Branch, For, If, Output, Part, Template, Text
from handrail.model.suggest import did_you_mean

__all__ = [
    "OutputValue",
    "Template",
    "check_template",
    "parse_template",
    "placeholders",
    "render",
    "render_parts",
    "template_refs",
    "templates_in_value",
]

MAX_DEPTH = 32
"""Levels of nested tags."""

_TAG = re.compile(r"\s*(\w+)")
_FOR = re.compile(r"\s*([A-Za-z_]\w*)\s+in\b", re.ASCII)
_GO = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<![\w.)\]}])\.(?=[A-Za-z])""", re.DOTALL)
_PLACEHOLDER = re.compile(r"(?<!\$)\$\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}", re.ASCII)
_IN_VALUE = re.compile(r"(?<![${])\{\{-?([^{}]{1,200}?)-?\}\}")
_ROOT = re.compile(r"([A-Za-z_]\w*)(?=[.\[]|\s*\||\Z)", re.ASCII)

_REFUSED = {
    "set": "a template cannot assign values; use a step's `output`",
    "macro": "macros are not supported; write the text where it is needed",
    "include": "prompts cannot include files; write the text here, or use a step's `input`",
    "import": "prompts cannot import; write the text here",
    "from": "prompts cannot import; write the text here",
    "extends": "prompts cannot inherit; write the text here",
    "call": "macros are not supported",
    "filter": "apply filters in outputs: `{{ x | upper }}`",
    "block": "prompts cannot inherit; leave out the tag",
    "with": "a template cannot assign values; write the expression where it is needed",
    "range": "write `{% for x in items %}` ... `{% endfor %}`",
    "end": "write `{% endif %}` or `{% endfor %}`",
    "do": "a template cannot run statements",
    "break": "filter the list instead: `{% for x in items | where('field', value) %}`",
    "continue": "filter the list instead: `{% for x in items | where('field', value) %}`",
    "autoescape": "values are never escaped; leave out the tag",
}
_TAGS = ("if", "elif", "else", "endif", "for", "endfor", "raw", "endraw")


def parse_template(text: str) -> Template:
    """Parse a template."""
    return Template(_Parser(pieces(text)).parse_all())


def placeholders(text: str) -> tuple[Problem, ...]:
    """Find every `${name}` in a prompt, where it is only text; the message is the path it names."""
    found = _PLACEHOLDER.finditer(text)
    return tuple(
        Problem("placeholder-in-prompt", match[1], match.start(), match.end(), f"write `{{{{ {match[1]} }}}}`")
        for match in found
    )


def templates_in_value(text: str, known: Container[str]) -> tuple[Problem, ...]:
    """Find every `{{ name }}` with a known name in a value or a command, where it is only text.

    Go's `{{.name}}` and `${{ name }}` belong to other programs, as does every name that is not known here.
    """
    found: list[Problem] = []
    for match in _IN_VALUE.finditer(text) if "{{" in text else ():
        inner = match[1].strip()
        root = _ROOT.match(inner)
        if root is not None and root[1] in known:
            message = f"`{match[0]}` is plain text here; only prompts use `{{{{ ... }}}}`"
            found.append(Problem("template-in-value", message, *match.span(), f"write `${{{inner}}}`"))
    return tuple(found)


class _Parser:
    def __init__(self, found: list[Piece]) -> None:
        self._pieces = found
        self._at = 0
        self._depth = 0
        self._outputs = 0

    def parse_all(self) -> tuple[Part, ...]:
        parts, ending = self._parse_body(())
        if ending is not None:
            _refuse_tag(ending)
        return parts

    def _parse_body(self, endings: tuple[str, ...]) -> tuple[tuple[Part, ...], Piece | None]:
        parts: list[Part] = []
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            self._at += 1
            if piece.kind == "text":
                parts.append(Text(piece.text))
            elif piece.kind == "output":
                parts.append(Output(_expression(piece.text, piece.start, piece), self._outputs))
                self._outputs += 1
            elif piece.kind == "tag":
                name = _name(piece)
                if name in endings:
                    return tuple(parts), piece
                parts += self._tag(name, piece)
        return tuple(parts), None

    def _tag(self, name: str, piece: Piece) -> list[Part]:
        if name in ("raw", "endraw"):
            return []
        if name not in ("if", "for"):
            _refuse_tag(piece)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse(f"tags nest deeper than {MAX_DEPTH} levels", piece.start, piece.end)
        part = self._parse_if(piece) if name == "if" else self._parse_for(piece)
        self._depth -= 1
        return [part]

    def _parse_if(self, piece: Piece) -> If:
        opening, current = piece, piece
        branches: list[Branch] = []
        while True:
            keyword = _TAG.match(current.text)
            begin = keyword.end() if keyword else 0
            condition = _expression(current.text[begin:], current.start + begin, current)
            body, ending = self._parse_body(("elif", "else", "endif"))
            branches.append(Branch(condition, body))
            if ending is None or _name(ending) != "elif":
                break
            current = ending
        otherwise: tuple[Part, ...] = ()
        if ending is not None and _name(ending) == "else":
            otherwise, ending = self._parse_body(("endif",))
        _require_closed(ending, opening, "endif")
        return If(tuple(branches), otherwise)

    def _parse_for(self, piece: Piece) -> For:
        keyword = _TAG.match(piece.text)
        begin = keyword.end() if keyword else 0
        match = _FOR.match(piece.text, begin)
        if match is None:
            hint = "write `{% for item in items %}`; for a map, use `item.key` and `item.value`"
            refuse("`for` needs one name and `in`", piece.start, piece.end - 2, hint)
        name = match[1]
        if name == "loop" or name.startswith("_"):
            refuse(f"'{name}' cannot be the name of an item", piece.start + match.start(1), piece.start + match.end(1))
        source = _expression(piece.text[match.end() :], piece.start + match.end(), piece)
        body, ending = self._parse_body(("else", "endfor"))
        otherwise: tuple[Part, ...] = ()
        if ending is not None and _name(ending) == "else":
            otherwise, ending = self._parse_body(("endfor",))
        _require_closed(ending, piece, "endfor")
        return For(name, source, body, otherwise)


def _require_closed(ending: Piece | None, opening: Piece, word: str) -> None:
    if ending is None:
        message = f"`{{% {_name(opening)} %}}` is never closed"
        refuse(message, opening.start, opening.end, f"add `{{% {word} %}}`")


def _name(piece: Piece) -> str:
    match = _TAG.match(piece.text)
    return match[1] if match else ""


def _expression(text: str, offset: int, piece: Piece) -> Expression:
    if not text.strip():
        refuse("an expression is missing", piece.start, piece.end)
    return parse(go_style(text), offset)


def go_style(text: str) -> str:
    """Read Go's `.x.y` as `x.y`, preserving every offset."""
    return _GO.sub(lambda match: match[1] or " ", text) if "." in text else text


def _refuse_tag(piece: Piece) -> NoReturn:
    name = _name(piece)
    start, end = piece.start, piece.end - 2
    if name in _REFUSED:
        raise LanguageError(Problem("tag-unknown", f"`{{% {name} %}}` is not supported", start, end, _REFUSED[name]))
    if name in _TAGS:
        refuse(f"`{{% {name} %}}` without an opening tag", start, end)
    message = f"unknown tag '{name}'{did_you_mean(name, _TAGS)}" if name else "an empty tag"
    hint = "the tags are if, elif, else, endif, for, endfor, raw, endraw"
    raise LanguageError(Problem("tag-unknown", message, start, end, hint))
