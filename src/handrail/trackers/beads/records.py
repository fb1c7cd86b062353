"""Issues of beads as Handrail sees them.

1. In beads anybody is a plain name, `ann`; in Handrail that is the person `person:ann`. Agents have one name in both.
2. bd cannot change a comment. What Handrail rewrites, the progress of a run, is therefore in the issue's metadata,
   under a name that begins with `handrail_`, and is shown as a comment.
"""

import hashlib
from typing import cast

from handrail.model.actors import make_person, parse_actor
from handrail.model.issue_events import Record
from handrail.model.issue_records import LocalIssue
from handrail.model.issues import BEADS, Claim
from handrail.model.workflow.values import JsonValue
from handrail.trackers.local.fold import CLAIMED
from handrail.trackers.local.times import parse_time
from handrail.trackers.local.tracker import OURS

MARKER = "handrail_marker"
"""The metadata that identifies what asked for an issue."""
PROGRESS = "handrail_progress_"
"""The beginning of the names of metadata that hold texts which Handrail rewrites."""
EXTRA = ("dependency_count", "dependent_count", "comment_count", "dependents", "parent")
"""What bd adds to a record in its answers."""


def actor_name(by: str) -> str:
    """Return the name of an actor in beads."""
    return by.removeprefix("person:") or OURS


def type_name(name: str) -> str:
    """Return the actor of a name in beads."""
    if name in ("", OURS):
        return name
    try:
        return str(parse_actor(name))
    except ValueError:
        return str(make_person(name))


def progress_key(marker: str) -> str:
    """Return the name of the metadata that holds the text of a marker."""
    return f"{PROGRESS}{hashlib.sha256(marker.encode()).hexdigest()[:16]}"


def read_issue(row: Record, repository: str, comments: list[Record] | None = None) -> LocalIssue:
    """Read an issue from an answer of bd; comments come with a call of their own."""
    record: Record = {name: value for name, value in row.items() if name not in EXTRA and name != "id"}
    issue = str(row.get("id", ""))
    for name in ("assignee", "created_by"):
        if isinstance(record.get(name), str):
            record[name] = type_name(str(record[name]))
    record["dependencies"] = cast("JsonValue", _links(issue, row))
    found = [_comment(each) for each in comments or ()]
    record["comments"] = cast("JsonValue", sorted([*found, *_progress(row)], key=_written))
    metadata = _metadata(row)
    return LocalIssue(
        id=issue,
        place=BEADS,
        repository=repository,
        record={name: value for name, value in record.items() if value not in (None, "", [], {})},
        marker=str(metadata.get(MARKER) or ""),
        claim=_claim(record),
        changes={str(each["id"]): 1 for each in found},
    )


def _metadata(row: Record) -> Record:
    found = row.get("metadata")
    return found if isinstance(found, dict) else {}


def _links(issue: str, row: Record) -> list[Record]:
    """Read dependencies: records of their own in lists and exports, or whole issues in `bd show`."""
    given = row.get("dependencies")
    rows = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    found = [
        each
        if "depends_on_id" in each
        else {"issue_id": issue, "depends_on_id": each.get("id"), "type": each.get("dependency_type") or "blocks"}
        for each in rows
    ]
    if not found and row.get("parent"):
        found.append({"issue_id": issue, "depends_on_id": row["parent"], "type": "parent-child"})
    return found


def _comment(row: Record) -> Record:
    return {
        "id": str(row.get("id", "")),
        "author": type_name(str(row.get("author") or "")),
        "text": str(row.get("text") or ""),
        "created_at": row.get("created_at"),
    }


def _progress(row: Record) -> list[Record]:
    found: list[Record] = []
    for name, value in sorted(_metadata(row).items()):
        if name.startswith(PROGRESS) and isinstance(value, str):
            at, _, text = value.partition("\n")
            found.append({"id": name, "author": OURS, "text": text, "created_at": at})
    return found


def _written(comment: Record) -> float:
    return parse_time(comment.get("created_at"))


def _claim(record: Record) -> Claim | None:
    by = record.get("assignee")
    if record.get("status") != CLAIMED or not isinstance(by, str) or not by:
        return None
    run = parse_actor(by).run if by != OURS else ""
    return Claim(by=by, run=run, at=parse_time(record.get("started_at") or record.get("updated_at")))
