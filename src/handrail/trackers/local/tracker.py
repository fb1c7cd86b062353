"""The issues that a repository keeps on this machine, behind the port that all trackers share."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.actors import parse_actor
from handrail.model.issue_events import Record
from handrail.model.issue_records import IssueLine, LocalIssue
from handrail.model.issues import (
    LOCAL,
    Attachment,
    Claim,
    ClaimResult,
    Comment,
    Dependency,
    Issue,
    IssueChange,
    IssueDraft,
    IssueFilter,
    IssueRef,
    Marker,
    TrackerKind,
)
from handrail.model.workflow.values import JsonValue
from handrail.ports.issue_books import IssueBook
from handrail.ports.trackers import CommentPage
from handrail.trackers.local.times import parse_time

OURS = "handrail"
"""The author of what Handrail writes itself."""


@frozen
class LocalTracker:
    """The issues of a repository in the user's own log, or in beads."""

    issues: IssueBook
    place: str = LOCAL

    @property
    def kind(self) -> TrackerKind:
        """Which tracker it is."""
        return self.issues.tracker

    async def me(self) -> str:
        """Return the author of what Handrail writes itself."""
        return OURS

    async def read(self, ref: IssueRef) -> Issue:
        """Read an issue with its comments, dependencies and parent."""
        return issue_of(await asyncio.to_thread(self.issues.read, self._id(ref)), self.place)

    async def find(self, wanted: IssueFilter) -> tuple[Issue, ...]:
        """List issues, the most recently changed first."""
        return await asyncio.to_thread(self._find, wanted)

    def _find(self, wanted: IssueFilter) -> tuple[Issue, ...]:
        lines = sorted(self.issues.lines(), key=lambda line: (-line.updated, line.id))
        chosen = [line.id for line in lines if _matches(line, wanted)]
        if not wanted.text:
            chosen = chosen[: wanted.limit]
        found = [replace(issue_of(each, self.place), comments=()) for each in self.issues.read_several(chosen)]
        text = wanted.text.casefold()
        return tuple(each for each in found if text in f"{each.title}\n{each.body}".casefold())[: wanted.limit]

    async def list_ready(self, limit: int) -> tuple[Issue, ...]:
        """List the issues that can be worked on now; stale claims are released first."""
        ready = (await asyncio.to_thread(self.issues.find_ready)).ready
        found = await asyncio.to_thread(self.issues.read_several, [line.id for line in ready[:limit]])
        return tuple(replace(issue_of(each, self.place), comments=()) for each in found)

    async def create(self, draft: IssueDraft, marker: Marker) -> IssueRef:
        """Create an issue, or find the one that was created with this marker."""
        record: Record = {
            "title": draft.title,
            "description": draft.body,
            "status": "open",
            "priority": draft.priority,
            "issue_type": draft.kind,
            "labels": list(draft.labels),
        }
        issue = await asyncio.to_thread(self.issues.create, record, OURS, draft.parent, mark_of(marker))
        for each in draft.depends_on:
            await asyncio.to_thread(self.issues.link, issue, each.on, each.kind, OURS)
        return IssueRef(self.place, issue)

    async def change(self, ref: IssueRef, change: IssueChange) -> None:
        """Change an issue; what is already so stays."""
        found = await asyncio.to_thread(self.issues.read, self._id(ref))
        await asyncio.to_thread(self.issues.edit, found.id, _fields(found, change), OURS)

    async def add_dependency(self, ref: IssueRef, on: IssueRef, kind: str = "blocks") -> None:
        """Let an issue depend on another."""
        await asyncio.to_thread(self.issues.link, self._id(ref), self._id(on), kind, OURS)

    async def put_comment(self, ref: IssueRef, text: str, marker: Marker) -> str:
        """Write the comment of a marker, in place if there is one already."""
        return await asyncio.to_thread(self.issues.comment, self._id(ref), text, OURS, mark_of(marker))

    async def comments_since(self, looks: Mapping[IssueRef, str]) -> Mapping[IssueRef, CommentPage]:
        """List the comments that came or changed since an earlier look at each issue."""
        return {ref: await self._page(ref, look) for ref, look in looks.items()}

    async def _page(self, ref: IssueRef, since: str) -> CommentPage:
        found = await asyncio.to_thread(self.issues.read, self._id(ref))
        last = int(since or 0)
        comments = [each for each in comments_of(found) if not since or found.changes.get(each.id, 0) > last]
        return CommentPage(tuple(comments), str(found.seq))

    async def may_decide(self, ref: IssueRef, login: str) -> bool:
        """Whether it is a person: whoever can reach the log may write, but no agent decides, and no unproven name."""
        await asyncio.to_thread(self.issues.read, self._id(ref))
        return ref.knows_authors and is_person(login)

    async def claim(self, ref: IssueRef, claim: Claim) -> ClaimResult:
        """Claim an issue: of any number of processes one gets it."""
        return await asyncio.to_thread(self.issues.claim, self._id(ref), claim)

    async def release_claim(self, ref: IssueRef, claim: Claim) -> None:
        """Give up a claim; one that is gone already is ignored."""
        await asyncio.to_thread(self.issues.release, self._id(ref), claim.by, claim.by, "given up")

    async def claims(self, ref: IssueRef) -> tuple[Claim, ...]:
        """List the claim that holds, if there is one."""
        found = await asyncio.to_thread(self.issues.read, self._id(ref))
        return () if found.claim is None else (found.claim,)

    async def download(self, attachments: Sequence[Attachment], folder: Path) -> tuple[Attachment, ...]:  # noqa: ARG002
        """Refuse attachments: a local issue has none."""
        return tuple(replace(each, problem=f"an issue of {self.kind} has no attachments") for each in attachments)

    def _id(self, ref: IssueRef) -> str:
        if ref.place != self.place:
            raise NotFound(f"{ref} is not an issue of {self.place}", next_step="handrail issues list")
        return ref.id


def mark_of(marker: Marker) -> str:
    """Return the text by which a marker is stored."""
    return f"{marker.what}:{marker.key}"


def is_person(author: str) -> bool:
    """Whether the author of a comment is a person and not an agent or Handrail itself."""
    try:
        return parse_actor(author).decides
    except ValueError:
        return False


def comments_of(issue: LocalIssue) -> list[Comment]:
    """List the comments of an issue, oldest first."""
    return [
        Comment(
            id=str(each.get("id", "")),
            author=str(each.get("author", "")),
            body=str(each.get("text", "")),
            at=parse_time(each.get("created_at")),
            edited_at=parse_time(each.get("updated_at")),
            by_bot=not is_person(str(each.get("author", ""))) and str(each.get("id")) in issue.changes,
            is_marked=str(each.get("id")) in issue.comment_markers,
        )
        for each in issue.records("comments")
    ]


def issue_of(issue: LocalIssue, place: str) -> Issue:
    """Show a local issue as every tracker shows its issues."""
    links = [
        Dependency(on=str(each.get("depends_on_id", "")), kind=str(each.get("type") or "blocks"))
        for each in issue.records("dependencies")
    ]
    sections = [(name, issue.text(name)) for name in ("design", "acceptance_criteria", "notes")]
    more = "".join(f"\n\n## {name.replace('_', ' ').capitalize()}\n\n{text}" for name, text in sections if text)
    return Issue(
        ref=IssueRef(place, issue.id),
        title=issue.text("title"),
        body=(issue.text("description") + more).lstrip("\n"),
        state="closed" if issue.status == "closed" else "open",
        status=issue.status,
        labels=issue.texts("labels"),
        author=issue.text("created_by"),
        assignees=(issue.text("assignee"),) if issue.text("assignee") else (),
        created_at=parse_time(issue.record.get("created_at")),
        updated_at=parse_time(issue.record.get("updated_at")),
        comments=tuple(comments_of(issue)),
        dependencies=tuple(links),
        parent=issue.parent,
        priority=issue.priority,
        kind=issue.text("issue_type") or "task",
    )


def _matches(line: IssueLine, wanted: IssueFilter) -> bool:
    state = "closed" if line.status == "closed" else "open"
    return (
        wanted.state in ("all", state)
        and set(wanted.labels) <= set(line.labels)
        and (not wanted.assignee or wanted.assignee == line.assignee)
    )


def _fields(found: LocalIssue, change: IssueChange) -> Record:
    """Translate a change into fields of the record; None leaves a field alone here, so only what is set is returned."""
    labels = [each for each in found.texts("labels") if each not in change.remove_labels]
    labels = list(dict.fromkeys((*labels, *change.add_labels)))
    wanted: dict[str, JsonValue] = {
        "title": change.title,
        "description": change.body,
        "status": "closed" if change.close is not None else change.status,
        "close_reason": change.close,
        "priority": change.priority,
    }
    fields: Record = {name: value for name, value in wanted.items() if value is not None}
    if tuple(labels) != found.texts("labels"):
        fields["labels"] = cast("JsonValue", labels)
    if change.add_assignees:
        fields["assignee"] = change.add_assignees[0]
    elif found.text("assignee") in change.remove_assignees:
        fields["assignee"] = None
    return fields
