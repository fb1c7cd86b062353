"""Folds the facts of an issue, and computes its line in lists."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from handrail.model import issue_events as ev
from handrail.model.issue_events import IssueEvent, Record
from handrail.model.issue_records import IssueLine, LocalIssue
from handrail.model.issues import Claim
from handrail.model.workflow.values import JsonValue
from handrail.trackers.local.times import format_time, parse_time

CLAIMED = "in_progress"
"""The status of an issue that somebody works on."""


def fold_events(issue: LocalIssue, events: Iterable[IssueEvent]) -> LocalIssue:
    """Apply facts to an issue."""
    for event in events:
        issue = replace(_apply(issue, event), seq=issue.seq + 1)
    return issue


def _apply(issue: LocalIssue, event: IssueEvent) -> LocalIssue:
    match event:
        case ev.IssueCreated():
            times: Record = {"created_at": format_time(event.at), "updated_at": format_time(event.at)}
            record = {**event.record, **times, "created_by": event.by}
            return replace(issue, repository=event.repository, record=_tidy(record), marker=event.marker)
        case ev.IssueImported():
            record = {"created_at": format_time(event.at), **event.record}
            record.setdefault("updated_at", record["created_at"])
            return replace(issue, repository=event.repository, record=_tidy(record), claim=None)
        case ev.IssueEdited():
            return _edit(issue, event.fields, event.at)
        case ev.IssueClaimed():
            taken: Record = {"status": CLAIMED, "assignee": event.by, "started_at": format_time(event.at)}
            claim = Claim(by=event.by, run=event.run, at=event.at, id=str(issue.seq + 1))
            return replace(_edit(issue, taken, event.at), claim=claim)
        case ev.ClaimReleased():
            freed: Record = {"status": "open", "assignee": None, "started_at": None}
            return replace(_edit(issue, freed, event.at), claim=None)
        case ev.DependencyAdded() | ev.DependencyRemoved():
            return _link(issue, event)
        case ev.CommentWritten() | ev.CommentEdited():
            return _comment(issue, event)


def _edit(issue: LocalIssue, fields: Record, at: float) -> LocalIssue:
    record: Record = {**issue.record, **fields, "updated_at": format_time(at)}
    status = record.get("status", "open")
    if status == "closed":
        record["closed_at"] = record.get("closed_at") or format_time(at)
    else:
        record |= {"closed_at": None, "close_reason": None}
    claim = issue.claim if status == CLAIMED else None
    return replace(issue, record=_tidy(record), claim=claim)


def _link(issue: LocalIssue, event: ev.DependencyAdded | ev.DependencyRemoved) -> LocalIssue:
    others = [
        each
        for each in issue.records("dependencies")
        if (each.get("depends_on_id"), each.get("type")) != (event.on, event.link)
    ]
    if isinstance(event, ev.DependencyAdded):
        others.append(
            {
                "issue_id": issue.id,
                "depends_on_id": event.on,
                "type": event.link,
                "created_at": format_time(event.at),
                "created_by": event.by,
            }
        )
    return _edit(issue, {"dependencies": cast("JsonValue", others)}, event.at)


def _comment(issue: LocalIssue, event: ev.CommentWritten | ev.CommentEdited) -> LocalIssue:
    comments = issue.records("comments")
    changes = {**issue.changes, event.id: issue.seq + 1}
    if isinstance(event, ev.CommentEdited):
        edited: Record = {"text": event.text, "updated_at": format_time(event.at)}
        comments = [{**each, **edited} if str(each.get("id")) == event.id else each for each in comments]
        return replace(_edit(issue, {"comments": cast("JsonValue", comments)}, event.at), changes=changes)
    written: Record = {"id": event.id, "issue_id": issue.id, "author": event.by, "text": event.text}
    comments.append({**written, "created_at": format_time(event.at)})
    markers = {**issue.comment_markers, event.id: event.marker} if event.marker else issue.comment_markers
    changed = _edit(issue, {"comments": cast("JsonValue", comments)}, event.at)
    return replace(changed, comment_markers=markers, changes=changes)


def _tidy(record: Record) -> Record:
    """Leave out what says nothing: None, and empty texts and lists."""
    return {name: value for name, value in record.items() if value is not None and value not in ("", [])}


def line_of(issue: LocalIssue) -> IssueLine:
    """Compute the line of an issue in lists."""
    record, claim = issue.record, issue.claim
    links = [_link_line(each) for each in issue.records("dependencies")]
    hidden = bool(record.get("pinned") or record.get("ephemeral") or issue.status == "pinned")
    return IssueLine(
        id=issue.id,
        title=issue.text("title"),
        status=issue.status,
        priority=issue.priority,
        kind=issue.text("issue_type") or "task",
        assignee=issue.text("assignee"),
        labels=list(issue.texts("labels")),
        created=parse_time(record.get("created_at")),
        updated=parse_time(record.get("updated_at")),
        deferred_until=parse_time(record.get("defer_until")),
        hidden=int(hidden),
        claimed="" if claim is None else f"{claim.by} {claim.run} {claim.at}",
        links=links,
        marker=issue.marker,
        repository=issue.repository,
    )


def _link_line(link: Record) -> list[str]:
    return [str(link.get("depends_on_id", "")), str(link.get("type") or "blocks"), _gate(link.get("metadata"))]


def _gate(metadata: object) -> str:
    """Return when a `waits-for` is met: `any-children`, or empty for all of them."""
    try:
        found: Any = json.loads(metadata) if isinstance(metadata, str) and metadata else metadata
    except ValueError:
        return ""
    gate = cast("dict[str, Any]", found).get("gate") if isinstance(found, dict) else None
    return "any-children" if gate == "any-children" else ""


def summary_of(issue: LocalIssue) -> dict[str, JsonValue]:
    """Build what the log stores beside an issue's facts, for lists."""
    line = line_of(issue)
    return {
        "status": line.status,
        "repository": line.repository,
        "born": max(line.created, 0.0),
        "issue_line": cast("JsonValue", list(line)),
    }
