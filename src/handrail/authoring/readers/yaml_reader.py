"""Parses YAML to a positioned tree: a strict subset of YAML 1.2, limited in size, depth and aliases.

The tree is built from the parser's events with an explicit stack, so that hostile nesting meets the depth limit and not
the end of the C stack. What is not a syntax error is reported, and reading continues.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from handrail.authoring.readers.limits import (
    BOM,
    MAX_DEPTH,
    MAX_NODES,
    SURROGATE,
    ReadingStopped,
    SyntaxProblem,
    check_size,
    duplicate_key,
    report_too_deep,
    report_too_many,
)
from handrail.authoring.readers.yaml_events import Event, YamlSyntaxError, events
from handrail.authoring.readers.yaml_scalars import NOT_ALWAYS_TEXT, plain_value
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, ScalarValue, Sequence, SourceText, Span, Style

if TYPE_CHECKING:
    from handrail.authoring.readers import yaml_refusals
else:
    yaml_refusals = late_import("handrail.authoring.readers.yaml_refusals")

_STYLES: dict[str | None, Style] = {
    None: "plain",
    "": "plain",
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
# Three small sets: one set of all of them takes ten times as long to compile.
_REFUSED_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]|[\ud800-\udfff\ufeff]|[\ufffe\uffff]")
_PROPERTIES = re.compile(r"(?:(?:&[^\s,\[\]{}]*|!<[^>\s]*>|![^\s,\[\]{}]*)(?:\s+(?:#[^\n]*\s+)*|$)?)*")


def read_yaml(source: SourceText, report: Report) -> Node | None:
    """Parse one YAML document; None when nothing usable could be read, which is then reported."""
    if not check_size(source, report) or not _is_text(source, report):
        return None
    shift = 1 if source.text.startswith(BOM) else 0
    return build_tree(source, report, events(source.text[shift:]))


def build_tree(source: SourceText, report: Report, stream: Iterator[Event]) -> Node | None:
    """Build the tree from the events of a text without its byte order mark."""
    builder = _Builder(source, report)
    try:
        root = builder.run(stream)
    except YamlSyntaxError as broken:
        from handrail.authoring.readers.yaml_errors import explain  # noqa: PLC0415 (most files are not broken)

        _report_broken(explain(source, broken, builder.last), report)
        return None
    except ReadingStopped:
        return None
    if root is None:
        hint = "a workflow starts with `name:` and has `steps:`"
        report.error("yaml-syntax", "the file is empty", Span(source, 0, 0), hint)
    return root


def _report_broken(found: SyntaxProblem, report: Report) -> None:
    # A refused value usually breaks the rest of its line too; it is reported only once.
    place = (found.at.source.path, found.at.source.position(found.at.start).line)
    if not any(other.is_error and (other.file, other.line) == place for other in report):
        report.error(found.code or "yaml-syntax", found.message, found.at, found.hint)


def _is_text(source: SourceText, report: Report) -> bool:
    found = _REFUSED_CHARACTER.search(source.text, 1 if source.text.startswith(BOM) else 0)
    if found is None:
        return True
    message = f"the character U+{ord(found[0]):04X} is not allowed in YAML"
    hint = 'remove it, or write it as an escape in double quotes, such as "\\u001b"'
    report.error("yaml-syntax", message, Span(source, found.start(), found.end()), hint)
    return False


class _Frame:
    """A collection that is still open; a sequence has no entries."""

    __slots__ = ("anchor", "entries", "flow", "height", "items", "key", "size", "start")

    def __init__(self, start: int, entries: dict[str, Entry] | None, *, flow: bool = False) -> None:
        self.start = start
        self.entries = entries
        self.items: list[Node] = []
        self.key: Scalar | None = None
        self.flow = flow
        self.anchor: str | None = None
        self.size = 1
        self.height = 0


class _AnchoredNode:
    """A finished node with an anchor, and the cost of an alias to it."""

    __slots__ = ("height", "node", "size")

    def __init__(self, node: Node, size: int, height: int) -> None:
        self.node = node
        self.size = size
        self.height = height


class _Builder:
    """Processes events and holds the open collections."""

    def __init__(self, source: SourceText, report: Report) -> None:
        self.source = source
        self.report = report
        self.last: Scalar | None = None
        self._shift = 1 if source.text.startswith(BOM) else 0
        self._root = _Frame(0, None)
        self._stack = [self._root]
        self._anchors: dict[str, _Frame | _AnchoredNode] = {}
        self._count = 0
        self._end = 0
        self._dropped = Scalar(None, Span(source, 0, 0), "made")

    def run(self, stream: Iterator[Event]) -> Node | None:
        """Process all events of the first document and return its root, or None if it is empty."""
        take = {
            "ScalarEvent": self._scalar,
            "MappingStartEvent": self._mapping,
            "SequenceStartEvent": self._sequence,
            "MappingEndEvent": self._close,
            "SequenceEndEvent": self._close,
            "AliasEvent": self._alias,
        }
        for event in stream:
            kind = type(event).__name__
            if kind in take:
                take[kind](event)
            elif kind == "DocumentStartEvent" and self._root.items:
                at = Span(self.source, event.start_mark.index + self._shift, event.end_mark.index + self._shift)
                hint = "keep one workflow per file and remove the `---` line"
                self.report.error("many-documents", "the file contains more than one YAML document", at, hint)
                break
        return self._first()

    def _first(self) -> Node | None:
        root = self._root.items[0] if self._root.items else None
        is_nothing = isinstance(root, Scalar) and root.value is None and root.span.start >= root.span.end
        return None if is_nothing else root

    def _scalar(self, event: Event) -> None:
        start, end = event.start_mark.index + self._shift, event.end_mark.index + self._shift
        text = event.value
        style = _STYLES[event.style]
        if event.tag is not None and yaml_refusals.refuse_tag(self.source, start, self.report):
            # A condition after a `!` has been reported; a value that matches avoids a second message about it.
            text, style = "true", "plain"
        elif event.tag is not None or event.anchor is not None:
            found = _PROPERTIES.match(self.source.text, start)
            start = min(found.end(), end) if found else start
        span = Span(self.source, start, end)
        value: ScalarValue = text
        if style == "plain":
            if not text or text[0] in NOT_ALWAYS_TEXT:
                value = plain_value(text, span, self.report)
        elif style == "double" and not text.isascii():
            value = self._replace_surrogates(text, span)
        node = Scalar(value, span, style)
        self.last = node
        self._end = end
        self._add(node, 1, 0)
        if event.anchor is not None:
            self._anchors[event.anchor] = _AnchoredNode(node, 1, 0)

    def _mapping(self, event: Event) -> None:
        self._open(event, {})

    def _sequence(self, event: Event) -> None:
        self._open(event, None)

    def _open(self, event: Event, entries: dict[str, Entry] | None) -> None:
        start = event.start_mark.index + self._shift
        if len(self._stack) > MAX_DEPTH:
            raise report_too_deep(self.source, start, self.report)
        if event.tag is not None or event.anchor is not None:
            if event.tag is not None:
                yaml_refusals.refuse_tag(self.source, start, self.report)
            start = event.end_mark.index + self._shift - (1 if event.flow_style else 0)
        frame = _Frame(start, entries, flow=event.flow_style)
        frame.anchor = event.anchor
        if event.anchor is not None:
            self._anchors[event.anchor] = frame
        self._end = start
        self._stack.append(frame)

    def _close(self, event: Event) -> None:
        frame = self._stack.pop()
        if frame.flow:
            self._end = event.end_mark.index + self._shift
        span = Span(self.source, frame.start, self._end)
        node = Sequence(tuple(frame.items), span) if frame.entries is None else Mapping(frame.entries, span)
        self._add(node, frame.size, frame.height + 1)
        if frame.anchor is not None and self._anchors.get(frame.anchor) is frame:
            self._anchors[frame.anchor] = _AnchoredNode(node, frame.size, frame.height + 1)

    def _alias(self, event: Event) -> None:
        span = Span(self.source, event.start_mark.index + self._shift, event.end_mark.index + self._shift)
        self._end = span.end
        name = event.anchor or ""
        known = self._anchors.get(name)
        match known:
            case _AnchoredNode():
                self._reuse(known, span)
            case _Frame():
                message = f"the alias `*{name}` refers to a value that contains it"
                self.report.error("alias-refused", message, span, "write the value out")
                self._add(Scalar(None, span, "made"), 1, 0)
            case None:
                yaml_refusals.unknown_alias(span, self.report)
                self._add(Scalar(f"*{name}", span, "plain"), 1, 0)

    def _reuse(self, known: _AnchoredNode, span: Span) -> None:
        if len(self._stack) - 1 + known.height > MAX_DEPTH:
            raise report_too_deep(self.source, span.start, self.report)
        self._count += known.size - 1
        if self._count >= MAX_NODES:
            message = f"aliases expand the file to more than {MAX_NODES:,} values"
            self.report.error("alias-refused", message, span, "write the values out")
            raise ReadingStopped
        self._add(known.node, known.size, known.height)

    def _add(self, node: Node, size: int, height: int) -> None:
        self._count += 1
        if self.report.dropped:
            # Each further finding would copy its line again, which is expensive in a file of a single line.
            raise ReadingStopped
        if self._count > MAX_NODES:
            raise report_too_many(self.source, node.span.start, self.report)
        frame = self._stack[-1]
        frame.size += size
        if height:
            frame.height = max(frame.height, height)
        if frame.entries is None:
            frame.items.append(node)
        elif frame.key is None:
            frame.key = self._key(frame.entries, node)
        else:
            if frame.key is not self._dropped:
                frame.entries[str(frame.key.value)] = Entry(frame.key, node)
            frame.key = None

    def _key(self, entries: dict[str, Entry], node: Node) -> Scalar:
        if not isinstance(node, Scalar):
            yaml_refusals.key_not_scalar(node, self.report)
            return self._dropped
        key = node if isinstance(node.value, str) else yaml_refusals.key_not_text(node, self.report)
        name = str(key.value)
        if name == "<<" and key.style == "plain":
            hint = "write the keys out, or use `defaults:`"
            self.report.error("merge-key-refused", "merge keys (`<<`) are not supported", key, hint)
            return self._dropped
        if name in entries:
            duplicate_key(name, entries[name].key.span, key.span, self.report)
            return self._dropped
        return key

    def _replace_surrogates(self, text: str, span: Span) -> str:
        if not SURROGATE.search(text):
            return text
        message = "the text contains half of a character (a lone surrogate)"
        self.report.error("yaml-syntax", message, span, 'write the whole character, such as "\\U0001f600"')
        return SURROGATE.sub("\ufffd", text)
