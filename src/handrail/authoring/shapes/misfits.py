"""Messages about values that do not match their shape."""

import re

from handrail.authoring.readers.limits import quote
from handrail.authoring.shapes.shapes import Kind, Record, Tagged
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean

NAMES: dict[Kind, str] = {
    "text": "text",
    "number": "a number",
    "flag": "true or false",
    "nothing": "nothing",
    "list": "a list",
    "map": "a map",
}
SPOKEN_FLAGS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
MAX_SHOWN_LENGTH = 60
_HOLE = re.compile("VALUE|NAME")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PLAIN = re.compile(r"[A-Za-z./][\w ./=+-]*", re.ASCII)
"""Text that needs no quotes inside brackets and braces."""
NUMBER_TEXT = re.compile(r"-?\d+(\.\d+)?")


def kind_of(node: Node) -> Kind:
    """Return the kind of a node's value."""
    if isinstance(node, Mapping):
        return "map"
    if isinstance(node, Sequence):
        return "list"
    value = node.value
    if isinstance(value, str):
        return "text"
    if value is None:
        return "nothing"
    return "flag" if isinstance(value, bool) else "number"


def mismatch(wanted: str, node: Node, report: Report, hint: str | None = None) -> None:
    """Report a value of the wrong kind, with a specific hint where the value shows what was meant."""
    kind = kind_of(node)
    report.error("wrong-type", f"expected {wanted}, got {NAMES[kind]}", node, _repair(wanted, kind, node) or hint)


def _repair(wanted: str, kind: Kind, node: Node) -> str | None:
    if wanted == "a list" and kind == "map":
        return "start each item with `- `"
    if not isinstance(node, Scalar):
        return None
    if wanted == "text" and kind in ("number", "flag"):
        return f'quote it: "{source_excerpt(node)}"'
    return _suggest_bare(str(node.value).lower(), wanted) if kind == "text" else None


def _suggest_bare(text: str, wanted: str) -> str | None:
    """Return the hint for a text that was meant as a boolean or a number."""
    if wanted == "true or false" and text in SPOKEN_FLAGS:
        return f"write {SPOKEN_FLAGS[text]}, without quotes"
    is_number = wanted in ("a number", "a whole number") and NUMBER_TEXT.fullmatch(text) is not None
    return "write it without quotes" if is_number else None


def correct_slip(slips: dict[Kind, str], node: Node) -> str | None:
    """Fill the written value, as far as it can be repeated, into the suggested correction."""
    slip = slips.get(kind_of(node))
    if slip is None:
        return None
    text = _first_text(node)
    name = _NAME.search(text)
    filled = {"VALUE": _flow_text(text), "NAME": name[0] if name is not None else "name"}
    return _HOLE.sub(lambda found: filled[found[0]], slip)


def _first_text(node: Node) -> str:
    """Return the most telling part of a value: itself, a list's first item, or a map's name or first key."""
    match node:
        case Scalar():
            return str(node.value)
        case Sequence():
            return _first_text(node.items[0]) if node.items else ""
        case Mapping():
            named = node.get("name")
            return _first_text(named) if isinstance(named, Scalar) else next(iter(node.entries), "")


def _flow_text(text: str) -> str:
    if not text or len(text) > MAX_SHOWN_LENGTH or "\n" in text:
        return "..."
    return text if _PLAIN.fullmatch(text) else quote(text)


def source_excerpt(node: Scalar) -> str:
    """Return a scalar as written in its file, shortened."""
    span = node.span
    return str(node.value) if node.style == "made" else span.source.text[span.start : span.end][:60]


def short(value: str) -> str:
    """Format a text for a message: on one line, shortened."""
    value = value.replace("\n", " ")
    return value if len(value) <= 60 else value[:57] + "..."


def either(words: tuple[str, ...]) -> str:
    """Format words as `a, b or c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def head_of(node: Mapping) -> Node:
    """The first key of a mapping: a better place for a caret than its whole extent."""
    for entry in node:
        return entry.key
    return node


def unknown_key(shape: Record, entry: Entry, report: Report) -> None:
    """Report a key that a record does not have."""
    hint = shape.hints.get(entry.name)
    guess = "" if hint else did_you_mean(entry.name, shape.keys)
    if hint is None and not guess:
        hint = f"{shape.what} knows: " + ", ".join(sorted(shape.keys))
    report.error("unknown-key", f"unknown key '{short(entry.name)}' in {shape.what}{guess}", entry, hint)


def unknown_tag(shape: Tagged, tag: str | None, place: Node, report: Report) -> None:
    """Report a word that names no record of a tagged shape."""
    meant = shape.words.get(tag.lower()) if tag is not None else None
    if meant is not None:
        report.error("bad-value", f"unknown {shape.tag} '{tag}'", place, f"write `{shape.tag}: {meant}`")
        return
    words = tuple(shape.records)
    guess = did_you_mean(tag, words) if tag is not None else ""
    report.error("bad-value", f"unknown {shape.tag} '{tag}'{guess}", place, "use " + either(words))


def untagged(shape: Tagged, node: Mapping, report: Report) -> None:
    """Report a mapping of which nothing says what it is: mostly the key that decides is misspelt."""
    known = {name for record in shape.records.values() for name in record.keys}
    hints = {name: hint for record in shape.records.values() for name, hint in record.hints.items()}
    strange = [entry for entry in node if entry.name not in known]
    for entry in strange:
        guess = did_you_mean(entry.name, shape.implied)
        if guess or entry.name in hints:
            message = f"unknown key '{short(entry.name)}' in {shape.name}{guess}"
            report.error("unknown-key", message, entry, None if guess else hints[entry.name])
            return
    implied = ", ".join(f"'{key}'" for key in shape.implied)
    report.error(
        "missing-key", f"{shape.name} needs '{shape.tag}'", head_of(node), f"or a key that implies it: {implied}"
    )
