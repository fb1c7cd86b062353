"""Reads a TOML file into plain tables, and finds the positions of its tables and keys for messages."""

import re
from pathlib import Path
from typing import Any

from handrail.model.diagnostics import Report
from handrail.model.source import SourceText, Span
from handrail.sources.foreign_files import NOT_THERE, Refusal, decode, printable, read_bytes

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlFile:
    """A file's tables with the text they come from; empty when there is no file or it cannot be read."""

    __slots__ = ("source", "tables")

    def __init__(self, source: SourceText, tables: dict[str, Any]) -> None:
        self.source = source
        self.tables = tables

    def table(self, name: str, report: Report) -> dict[str, Any]:
        """Return a table; any other value in its place is reported."""
        found = self.tables.get(name, {})
        if isinstance(found, dict):
            return found  # pyright: ignore[reportUnknownVariableType] (TOML's tables have text keys)
        report.error("config-value", f"'{name}' must be a table", self.place(name), f"write [{name}]")
        return {}

    def place(self, table: str, key: str = "") -> Span:
        """Find a table's header or one of its keys by pattern; the beginning of the file where none matches."""
        name = rf"(?:{re.escape(table)}|\"{re.escape(table)}\"|'{re.escape(table)}')"
        header = re.search(rf"^[ \t]*\[?[ \t]*({name})[ \t]*[\].=]", self.source.text, re.MULTILINE)
        if header is None:
            return Span(self.source, 0, 0)
        if key:
            quoted = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
            found = re.compile(rf"^[ \t]*({quoted})[ \t]*=", re.MULTILINE).search(self.source.text, header.end())
            header = found or header
        return Span(self.source, header.start(1), header.end(1))

    def find_nested_place(self, table: str, name: str, key: str = "") -> Span:
        """Find a table within a table or one of its keys by pattern; the outer table where none matches."""
        inner = rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')"
        headers = re.compile(rf"^[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\.[ \t]*({inner})[ \t]*([.\]])", re.MULTILINE)
        found = next(headers.finditer(self.source.text), None)
        if found is None:
            return self.place(table, name)
        if key:
            rest = re.compile(rf"^(?:[ \t]*\[[^\n]*\.)?[ \t]*({re.escape(key)})[ \t]*[=.\]]", re.MULTILINE)
            found = rest.search(self.source.text, found.end(), self._end_of(inner, found.end())) or found
        return Span(self.source, found.start(1), found.end(1))

    def _end_of(self, inner: str, start: int) -> int:
        """Find where the tables of a name end: at the first header without it."""
        header = re.compile(rf"^[ \t]*\[(?!\[?[^\n]*\.[ \t]*{inner}[ \t]*[.\]])", re.MULTILINE)
        found = header.search(self.source.text, start)
        return len(self.source.text) if found is None else found.start()


def read_toml(path: Path, root: Path, report: Report, shown: str | None = None) -> TomlFile:
    """Read a TOML file inside a folder; a missing file counts as empty, a bad one is reported."""
    return parse_toml(read_bytes(path, root), printable(shown or str(path)), report)


def parse_toml(data: bytes | Refusal, name: str, report: Report) -> TomlFile:
    """Parse TOML from bytes; problems are reported under the name of the file."""
    text = data if isinstance(data, Refusal) else decode(data)
    if isinstance(text, Refusal):
        source = SourceText(name, "")
        if text != NOT_THERE:
            why = text.replace("workflow's folder", "repository")
            report.error("file-unreadable", f"the configuration is not used: {why}", Span(source, 0, 0))
        return TomlFile(source, {})
    source = SourceText(name, text)
    return TomlFile(source, _parse(source, report))


def _parse(source: SourceText, report: Report) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 (most commands meet no such file)

    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message, at = _explain_error(source, str(error))
        report.error("config-syntax", f"the configuration is not valid TOML: {message}", Span(source, at, at + 1))
    except (ValueError, RecursionError):
        report.error("config-syntax", "the configuration contains a value that cannot be read", Span(source, 0, 0))
    return {}


def _explain_error(source: SourceText, text: str) -> tuple[str, int]:
    found = _AT.search(text)
    if found is None:
        return text.lower(), 0
    message = text[: found.start()]
    at = source.offset(int(found[1]), int(found[2])) if found[1] else len(source.text)
    return message[:1].lower() + message[1:], at
