"""Diagnostics as SARIF 2.1.0, for code scanning services."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from handrail import __version__
from handrail.model.codes import CODES
from handrail.model.diagnostics import Diagnostic, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}


def sarif(diagnostics: Iterable[Diagnostic], base: Path) -> dict[str, Any]:
    """Build a SARIF log with one run; paths under `base` become relative."""
    found = tuple(diagnostics)
    codes = list(dict.fromkeys([*CODES, *(each.code for each in found)]))
    numbers = {code: number for number, code in enumerate(codes)}
    driver = {
        "name": "handrail",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": CODES.get(code, code)}} for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, numbers[each.code], base) for each in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(found: Diagnostic, number: int, base: Path) -> dict[str, Any]:
    text = f"{found.message}\n{found.hint}" if found.hint else found.message
    line, column = max(found.line, 1), max(found.column, 1)
    region = {"startLine": line, "startColumn": column, "endColumn": max(found.end_column, column)}
    place = {"artifactLocation": {"uri": _uri(found.file, base)}, "region": region}
    return {
        "ruleId": found.code,
        "ruleIndex": number,
        "level": LEVELS[found.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str, base: Path) -> str:
    path = Path(file)
    if not path.is_absolute():
        return quote(path.as_posix(), errors="replace")
    if path.is_relative_to(base):
        return quote(path.relative_to(base).as_posix(), errors="replace")
    return "file://" + quote(path.as_posix(), errors="replace")
