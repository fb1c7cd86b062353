"""Issues as JSON lines, the form in which beads and its viewers exchange them.

A reader takes what any of them wrote: a line without `_type` is an issue, one of another type or without a title is
skipped, and so is a `tombstone`; ids of comments may be numbers; `wisp` is an older word for `ephemeral`; a status
that is not known is a custom one; and fields that are not known are kept.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

from handrail.frozen import frozen
from handrail.model.issue_events import Record
from handrail.model.workflow.values import JsonValue

ORDER = (
    *("id", "title", "description", "design", "acceptance_criteria", "notes", "status", "priority", "issue_type"),
    *("assignee", "estimated_minutes", "created_at", "created_by", "updated_at", "started_at", "closed_at"),
    *("close_reason", "due_at", "defer_until", "external_ref", "metadata", "labels", "dependencies", "comments"),
)
"""The order of fields in a line; others follow by name."""
MAX_LINE = 64 * 1024 * 1024
"""The most bytes of a line."""


@frozen
class ReadLines:
    """The issues in a file, and what was skipped."""

    records: tuple[Record, ...]
    skipped: tuple[str, ...]


def read_lines(data: bytes) -> ReadLines:
    """Read the issues of a file; a line that cannot be used is skipped with the reason."""
    records, skipped = list[Record](), list[str]()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        found = _read_line(line)
        if isinstance(found, str):
            skipped.append(f"line {number}: {found}")
        else:
            records.append(found)
    return ReadLines(tuple(records), tuple(skipped))


def _read_line(line: bytes) -> Record | str:
    try:
        data: Any = json.loads(line.removeprefix(b"\xef\xbb\xbf")) if len(line) <= MAX_LINE else None
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {error}"
    if not isinstance(data, dict):
        return "it is not an object"
    record = cast("Record", data)
    kind = record.pop("_type", "issue")
    if kind != "issue":
        return f"its type is '{kind}'"
    if not isinstance(record.get("title"), str) or not str(record["title"]).strip():
        return "it has no title"
    if record.get("status") == "tombstone":
        return "the issue was deleted"
    return _normalize(record)


def _normalize(record: Record) -> Record:
    if record.pop("wisp", False):
        record["ephemeral"] = True
    comments = record.get("comments")
    if isinstance(comments, list):
        record["comments"] = [
            {**each, "id": str(each["id"])} if isinstance(each, dict) and "id" in each else each for each in comments
        ]
    links = record.get("dependencies")
    if isinstance(links, list):
        record["dependencies"] = [
            {**each, "type": each.get("type") or "blocks"} for each in links if isinstance(each, dict)
        ]
    return record


def write_lines(records: Iterable[Mapping[str, JsonValue]]) -> bytes:
    """Write records as lines: the same records give the same bytes."""
    found = tuple(records)
    needed = Counter(on for record in found for on in _targets(record))
    return b"".join(_write_line(record, needed[str(record["id"])]) for record in found)


def _write_line(record: Mapping[str, JsonValue], dependents: int) -> bytes:
    rest = sorted(record.keys() - set(ORDER))
    fields: dict[str, JsonValue] = {name: record[name] for name in (*ORDER, *rest) if name in record}
    fields.setdefault("status", "open")
    fields.setdefault("priority", 2)
    comments = record.get("comments")
    counts: dict[str, JsonValue] = {
        "dependency_count": len(_targets(record)),
        "dependent_count": dependents,
        "comment_count": len(comments) if isinstance(comments, list) else 0,
    }
    line = {"_type": "issue", **fields, **counts, **_parent(record)}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _links(record: Mapping[str, JsonValue]) -> list[Record]:
    links = record.get("dependencies")
    return [each for each in links if isinstance(each, dict)] if isinstance(links, list) else []


def _targets(record: Mapping[str, JsonValue]) -> list[str]:
    return [str(each.get("depends_on_id")) for each in _links(record)]


def _parent(record: Mapping[str, JsonValue]) -> Record:
    found = [each.get("depends_on_id") for each in _links(record) if each.get("type") == "parent-child"]
    return {"parent": found[0]} if found else {}
