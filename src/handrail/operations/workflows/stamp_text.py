"""Puts a stamp into the text of a workflow and leaves every other character as it is."""

from collections.abc import Iterator

from handrail.authoring.read import read_bundle
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, Entry, Node, Scalar, SourceText, plain
from handrail.operations.workflows.staleness import STAMP_KEYS

AFTER = {"native": ("description", "name"), "workrail": ("version", "description", "name", "id")}
"""The keys below which a new stamp is written; the first that exists counts."""


def insert_stamp(document: Document, version: int) -> str | None:
    """Return the text with the stamp in it; None if the layout leaves no safe place for it."""
    text = document.bundle.source.text
    key = STAMP_KEYS[document.dialect]
    present = document.root.get(key)
    ways = _replace_stamp(text, present, version) if present is not None else _insert_key(text, document, key, version)
    expected = {**_plain_root(document), key: version}
    return next((new for new in ways if _reads_as(new, document, expected)), None)


def _replace_stamp(text: str, node: Node, version: int) -> Iterator[str]:
    if isinstance(node, Scalar):
        yield text[: node.span.start] + str(version) + text[node.span.end :]


def _insert_key(text: str, document: Document, key: str, version: int) -> Iterator[str]:
    entries = document.root.entries
    anchor = next((entries[name] for name in AFTER[document.dialect] if name in entries), None)
    if anchor is None:
        return
    if document.dialect == "workrail":
        yield _insert_json_member(text, anchor, f'"{key}": {version}')
    elif text[document.root.span.start] == "{":
        yield _splice(text, anchor.value.span.end, f", {key}: {version}")
    else:
        yield from _insert_yaml_line(text, anchor, f"{key}: {version}")


def _insert_json_member(text: str, anchor: Entry, member: str) -> str:
    lead = _lead(text, anchor.key.span.start)
    own_line = lead != "" and lead.isspace() and "\n" in text[: anchor.key.span.start]
    between = f",{_line_break(text)}{lead}" if own_line else ", "
    return _splice(text, anchor.value.span.end, between + member)


def _insert_yaml_line(text: str, anchor: Entry, line: str) -> Iterator[str]:
    """Try below the last non-blank line of the value, then below all of it: blank lines may be part of it."""
    line = _lead(text, anchor.key.span.start).removeprefix("\ufeff") + line
    value = text[: anchor.value.span.end]
    for end in (len(value.rstrip()), len(value)):
        at = text.find("\n", max(end - 1, 0)) + 1
        if at == 0:
            yield text + _line_break(text) + line
        else:
            yield _splice(text, at, line + _line_break(text))


def _lead(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _line_break(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _splice(text: str, at: int, new: str) -> str:
    return text[:at] + new + text[at:]


def _plain_root(document: Document) -> dict[str, object]:
    return {name: plain(entry.value) for name, entry in document.root.entries.items()}


def _reads_as(text: str, document: Document, expected: dict[str, object]) -> bool:
    """Whether the new text, parsed again, says the same as before plus the stamp."""
    main = document.bundle.main
    again = read_bundle(Bundle(main, {main: SourceText(main, text)}), Report())
    return again is not None and _plain_root(again) == expected
