"""Converts WorkRail-style prompts to prompt files: sections, guidance, fragments."""

import re
from collections.abc import Callable

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.coven.go_templates import literal
from handrail.authoring.importers.nodes import items_of, line_of, map_of, maps_of, text_of, texts_of
from handrail.authoring.importers.workrail.conditions import Lookup, translate_condition
from handrail.frozen import frozen
from handrail.language.expressions.syntax import Attribute, Expression, Filter
from handrail.language.expressions.unparse import unparse
from handrail.model.source import Mapping, Node

_PLACE = re.compile(r"\{\{([^{}]{1,400})\}\}")
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_BINDING = re.compile(r"wr\.bindings\.([^\s{}]+)")


@frozen
class PromptScope:
    """What the prompt of one step may show, and where notes about it go."""

    lookup: Lookup
    known: Callable[[str], bool]
    slots: frozenset[str]
    functions: dict[str, str]
    lost: Callable[[int, str], None]


def render(step: Mapping, scope: PromptScope) -> str:
    """Render the whole prompt of a step."""
    parts = ["Goal of this run: {{ goal }}"]
    if (node := step.get("prompt")) is not None:
        parts.append(_translate_text(text_of(node) or "", line_of(node), scope))
    parts.extend(_blocks(step, scope))
    if guidance := texts_of(step.get("guidance")):
        lines = (f"- {_translate_text(text, line_of(step), scope)}" for text in guidance)
        parts.append("## Guidance\n\n" + "\n".join(lines))
    if (text := _flag_text(step)) is not None:
        parts.append(text)
    parts.extend(_functions(step, scope))
    parts.extend(_fragment(each, scope) for each in maps_of(step.get("promptFragments")))
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _flag_text(step: Mapping) -> str | None:
    node = step.get("askForFiles")
    is_asked = node is not None and getattr(node, "value", None) is True
    return "Ask for the files you need before you start." if is_asked else None


def _translate_text(text: str, line: int, scope: PromptScope) -> str:
    parts: list[str] = []
    at = 0
    for found in _PLACE.finditer(text):
        parts.append(literal(text[at : found.start()]))
        parts.append(_place(found[1].strip(), found[0], line, scope))
        at = found.end()
    parts.append(literal(text[at:]))
    return "".join(parts)


def _place(inside: str, source: str, line: int, scope: PromptScope) -> str:
    binding = _BINDING.fullmatch(inside)
    if binding and binding[1] in scope.slots:
        return "{{ bindings." + binding[1] + " }}"
    first = inside.partition(".")[0]
    if not _PATH.fullmatch(inside) or not scope.known(first):
        scope.lost(line, f"`{source}` is not known before this step; it was kept as plain text")
        return literal(source)
    return "{{ " + unparse(_path(inside, scope)) + " }}"


def _path(path: str, scope: PromptScope) -> Expression:
    first, *rest = path.split(".")
    found = scope.lookup(first, None)
    for name in rest:
        found = Filter(found, "length") if name == "length" else Attribute(found, name)
    return found


def _blocks(step: Mapping, scope: PromptScope) -> list[str]:
    blocks = map_of(step.get("promptBlocks"))
    if blocks is None:
        return []
    parts: list[str] = []
    if (goal := blocks.get("goal")) is not None:
        parts.append("## Goal\n\n" + _value(goal, scope))
    parts.extend(_list(blocks, "constraints", "## Constraints", scope))
    parts.extend(_list(blocks, "procedure", "## Procedure", scope))
    required = map_of(blocks.get("outputRequired"))
    if required is not None and required.entries:
        lines = (f"- **{literal(entry.name)}**: {_value(entry.value, scope)}" for entry in required)
        parts.append("## Output Required\n\n" + "\n".join(lines))
    parts.extend(_list(blocks, "verify", "## Verify", scope))
    for entry in blocks:
        if entry.name not in ("goal", "constraints", "procedure", "outputRequired", "verify"):
            scope.lost(line_of(entry), f"unknown prompt block '{entry.name}' was left out")
    return parts


def _list(blocks: Mapping, key: str, heading: str, scope: PromptScope) -> list[str]:
    items = items_of(blocks.get(key))
    if not items:
        return []
    marks = (f"{number}." if key == "procedure" else "-" for number in range(1, len(items) + 1))
    lines = (f"{mark} {_value(item, scope)}" for mark, item in zip(marks, items, strict=True))
    return [f"{heading}\n\n" + "\n".join(lines)]


def _value(node: Node, scope: PromptScope) -> str:
    text = text_of(node)
    if text is not None:
        return _translate_text(text, line_of(node), scope)
    return "".join(_part(part, scope) for part in maps_of(node))


def _part(part: Mapping, scope: PromptScope) -> str:
    reference = text_of(part.get("refId"))
    if reference is None:
        return _translate_text(text_of(part.get("text")) or "", line_of(part), scope)
    scope.lost(line_of(part), f"the text of the reference '{reference}' is not available; write it in the prompt")
    return f"(see {literal(reference)})"


def _functions(step: Mapping, scope: PromptScope) -> list[str]:
    own = {
        text_of(each.get("name")): text_of(each.get("definition")) for each in maps_of(step.get("functionDefinitions"))
    }
    named = [name.removesuffix("()") for name in texts_of(step.get("functionReferences"))]
    named += [text_of(each.get("name")) or "" for each in maps_of(step.get("functionCalls"))]
    found = {name: own.get(name) or scope.functions.get(name) for name in (*named, *(key or "" for key in own))}
    lines = [f"- `{name}()`: {literal(text)}" for name, text in found.items() if text]
    for name, text in found.items():
        if not text:
            scope.lost(line_of(step), f"the function '{name}' is not defined")
    return ["## Functions\n\n" + "\n".join(lines)] if lines else []


def _fragment(fragment: Mapping, scope: PromptScope) -> str:
    text = _translate_text(text_of(fragment.get("text")) or "", line_of(fragment), scope)
    when = fragment.get("when")
    if when is None:
        return text
    try:
        condition = unparse(translate_condition(when, scope.lookup))
    except Untranslatable as problem:
        scope.lost(
            line_of(when),
            f"the condition of a prompt fragment cannot be translated ({problem}); the fragment is always shown",
        )
        return text
    return "{% if " + condition + " %}\n" + text + "\n{% endif %}"
