"""Translates Go text templates to prompts: values, conditions, lists, includes; the rest stays as is in `{% raw %}`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from handrail.authoring.importers.coven.go_expressions import (
    Resolver,
    translate_condition,
    translate_items,
    translate_value,
)
from handrail.authoring.importers.coven.go_syntax import (
    Call,
    Constant,
    GoValue,
    Reference,
    Untranslatable,
    actions,
    parse_action,
)
from handrail.authoring.importers.names import value_name
from handrail.frozen import frozen
from handrail.language.expressions.syntax import Attribute, Expression, Name
from handrail.language.expressions.unparse import unparse

MAX_INCLUDE_DEPTH = 5
_RANGE = re.compile(r"\$(\w+)\s*:=\s*(.+)", re.DOTALL)
_RANGE_BOTH = re.compile(r"\$\w+\s*,\s*\$(\w+)\s*:=\s*(.+)", re.DOTALL)
_COMMENT = re.compile(r"/\*.*\*/", re.DOTALL)
_OPENERS = re.compile(r"\{[{%#]")
_SHOWN = 60


def literal(text: str) -> str:
    """Escape text so that a prompt shows it literally."""
    if not _OPENERS.search(text):
        return text
    if "endraw" in text:
        return _OPENERS.sub(lambda found: "{% raw %}" + found[0] + "{% endraw %}", text)
    return "{% raw %}" + text + "{% endraw %}"


@frozen
class TemplateContext:
    """What a template may refer to: its variables, the texts it may include, and where notes go."""

    names: Resolver
    includes: Mapping[str, str]
    lost: Callable[[int, str], None]
    bound: Mapping[str, Expression] = field(default_factory=dict[str, Expression])
    opened: tuple[str, ...] = ()


def translate_template(text: str, around: TemplateContext) -> str:
    """Translate a whole template."""
    return _Template(around).run(text)


@dataclass(slots=True)
class _Block:
    kind: str
    dot: Expression | None
    variables: dict[str, Expression]


class _Template:
    def __init__(self, around: TemplateContext) -> None:
        self._around = around
        self._out: list[str] = []
        self._blocks: list[_Block] = []
        self._line = 1

    def run(self, text: str) -> str:
        at = 0
        trim = False
        for found in actions(text):
            self._text(text[at : found.start], trim_left=trim, trim_right=found.trims_left)
            self._line += text.count("\n", at, found.start)
            self._action(found.inside, text[found.start : found.end])
            self._line += text.count("\n", found.start, found.end)
            at, trim = found.end, found.trims_right
        self._text(text[at:], trim_left=trim, trim_right=False)
        self._close_all()
        return "".join(self._out)

    # Names are looked up through the blocks, so the translator is itself a resolver.
    def value(self, reference: Reference, like: object = None) -> Expression:
        bound = self._find_bound(reference)
        return bound if bound is not None else self._around.names.value(Reference("", reference.path), like)

    def condition(self, reference: Reference) -> Expression:
        bound = self._find_bound(reference)
        if bound is None:
            return self._around.names.condition(Reference("", reference.path))
        return translate_condition(Call("default", (Constant(""), reference)), self)

    def _find_bound(self, reference: Reference) -> Expression | None:
        start, path = reference.start, reference.path
        if start not in ("", "$"):
            return _fields(self._variable(start[1:]), path)
        dot = self._dot() if start == "" else None
        if dot is not None:
            return _fields(dot, path)
        if not path:
            raise Untranslatable("all variables at once")
        given = self._around.bound.get(path[0])
        return _fields(given, path[1:]) if given is not None else None

    def _variable(self, name: str) -> Expression:
        for block in reversed(self._blocks):
            if name in block.variables:
                return block.variables[name]
        raise Untranslatable(f"the variable `${name}`")

    def _dot(self) -> Expression | None:
        return next((block.dot for block in reversed(self._blocks) if block.dot is not None), None)

    def _text(self, text: str, *, trim_left: bool, trim_right: bool) -> None:
        text = text.lstrip() if trim_left else text
        text = text.rstrip() if trim_right else text
        if text:
            self._out.append(literal(text))

    def _action(self, action: str, source: str) -> None:
        word, _, rest = action.partition(" ")
        handler = {
            "if": self._open_if,
            "else": self._switch_to_else,
            "end": self._end,
            "range": self._open_range,
            "with": self._open_with,
            "include": self._include,
        }.get(word, self._plain)
        try:
            handler(action if handler == self._plain else rest.strip(), source)
        except Untranslatable as problem:
            self._note_lost(str(problem), source)
            if word in ("if", "range", "with", "block", "define"):
                self._blocks.append(_Block("raw", None, {}))

    def _note_lost(self, why: str, source: str) -> None:
        shown = source if len(source) <= _SHOWN else source[: _SHOWN - 1] + "…"
        self._around.lost(self._line, f"`{shown}` has no counterpart ({why}); it was kept as plain text")
        self._out.append(literal(source))

    def _plain(self, action: str, _: str) -> None:
        if _COMMENT.fullmatch(action):
            self._around.lost(self._line, "a comment of the template was left out")
            return
        if action.split(" ", maxsplit=1)[0] in ("define", "block", "template", "break", "continue") or ":=" in action:
            raise Untranslatable("it is a statement")
        self._out.append("{{ " + unparse(translate_value(parse_action(action), self)) + " }}")

    def _open_if(self, condition: str, _: str) -> None:
        expression = translate_condition(parse_action(condition), self)
        self._out.append("{% if " + unparse(expression) + " %}")
        self._blocks.append(_Block("if", None, {}))

    def _switch_to_else(self, rest: str, source: str) -> None:
        kind = self._blocks[-1].kind if self._blocks else ""
        if kind == "raw":
            self._out.append(literal(source))
        elif kind != "if":
            raise Untranslatable("`else` is outside of an `if`")
        elif rest.startswith("if "):
            expression = translate_condition(parse_action(rest[3:]), self)
            self._out.append("{% elif " + unparse(expression) + " %}")
        else:
            self._blocks[-1].dot = None
            self._out.append("{% else %}")

    def _end(self, _: str, source: str) -> None:
        if not self._blocks:
            raise Untranslatable("it closes nothing")
        kind = self._blocks.pop().kind
        self._out.append({"raw": literal(source)}.get(kind, "{% end" + kind + " %}"))

    def _open_range(self, rest: str, _: str) -> None:
        named = _RANGE_BOTH.fullmatch(rest) or _RANGE.fullmatch(rest)
        depth = sum(block.kind == "for" for block in self._blocks)
        name = value_name(named[1]) if named else "item" if not depth else f"item{depth + 1}"
        items = translate_items(parse_action(named[2] if named else rest), self)
        self._out.append("{% for " + name + " in " + unparse(items) + " %}")
        self._blocks.append(_Block("for", Name(name), {named[1]: Name(name)} if named else {}))

    def _open_with(self, rest: str, _: str) -> None:
        value = translate_value(parse_action(rest), self)
        condition = translate_condition(parse_action(rest), self)
        self._out.append("{% if " + unparse(condition) + " %}")
        self._blocks.append(_Block("if", value, {}))

    def _include(self, rest: str, _: str) -> None:
        call = parse_action("include " + rest)
        if not isinstance(call, Call) or not call.arguments or not isinstance(call.arguments[0], Constant):
            raise Untranslatable("the name of the included text is not constant")
        name, opened = str(call.arguments[0].value), self._around.opened
        if name in opened:
            raise Untranslatable(f"'{name}' includes itself: {' -> '.join((*opened, name))}")
        if len(opened) >= MAX_INCLUDE_DEPTH:
            raise Untranslatable(f"includes nest deeper than {MAX_INCLUDE_DEPTH} levels")
        if name not in self._around.includes:
            raise Untranslatable(f"the included text '{name}' is not among the files")
        self._out.append(self._translate_include(name, call.arguments[1:]))

    def _translate_include(self, name: str, arguments: tuple[GoValue, ...]) -> str:
        bound = dict(self._around.bound)
        for key, value in zip(arguments[::2], arguments[1::2], strict=False):
            if not isinstance(key, Constant):
                raise Untranslatable("the names passed to an include are not constant")
            bound[str(key.value)] = translate_value(value, self)

        def note_lost(line: int, message: str) -> None:
            self._around.lost(self._line, f"in the included '{name}', line {line}: {message}")

        inner = TemplateContext(self, self._around.includes, note_lost, bound, (*self._around.opened, name))
        return translate_template(self._around.includes[name].rstrip("\n"), inner)

    def _close_all(self) -> None:
        for block in reversed(self._blocks):
            self._around.lost(self._line, "a block of the template is never closed; it now ends at the end of the text")
            if block.kind != "raw":
                self._out.append("{% end" + block.kind + " %}")


def _fields(subject: Expression, path: tuple[str, ...]) -> Expression:
    for name in path:
        subject = Attribute(subject, name.replace("-", "_"))
    return subject
