"""The tracker in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from handrail.errors import TrackerFault
from handrail.model.issues import (
    Attachment,
    Claim,
    ClaimResult,
    Dependency,
    Issue,
    IssueChange,
    IssueDraft,
    IssueFilter,
    IssueRef,
    Marker,
    TrackerKind,
)
from handrail.ports.trackers import CommentPage
from handrail.trackers.memory.service import OURS, MemoryService, StoredIssue

BLOCKING = frozenset({"blocks", "conditional-blocks"})


class MemoryTracker:
    """The issues of one place of a service in memory, seen by one login."""

    def __init__(self, service: MemoryService, place: str, login: str = OURS) -> None:
        self._service = service
        self._place = place
        self._login = login

    @property
    def kind(self) -> TrackerKind:
        """Which tracker it is."""
        return "memory"

    async def me(self) -> str:
        """Return the login under which Handrail writes."""
        async with self._service.call("me"):
            return self._login

    async def read(self, ref: IssueRef) -> Issue:
        """Read an issue with its comments, attachments, dependencies and parent."""
        async with self._service.call("read"):
            stored = self._service.issue(ref)
            comments = tuple(each.comment for each in stored.comments)
            return replace(stored.issue, comments=comments, looked=str(self._service.ticks))

    async def find(self, wanted: IssueFilter) -> tuple[Issue, ...]:
        """List issues, the most recently changed first."""
        async with self._service.call("find"):
            found = [stored.issue for stored in self._stored() if _matches(stored.issue, wanted)]
            found.sort(key=lambda issue: issue.updated_at, reverse=True)
            return tuple(replace(issue, attachments=()) for issue in found[: wanted.limit])

    async def list_ready(self, limit: int) -> tuple[Issue, ...]:
        """List the issues that can be worked on now."""
        async with self._service.call("list_ready"):
            ready = [stored.issue for stored in self._stored() if self._is_ready(stored)]
            ready.sort(key=lambda issue: (issue.priority, -issue.created_at))
            return tuple(ready[:limit])

    async def create(self, draft: IssueDraft, marker: Marker) -> IssueRef:
        """Create an issue, or find the one that was created with this marker."""
        async with self._service.call("create"):
            for ref, stored in self._service.issues.items():
                if self._is_ours(stored.marker, stored.issue.author, marker) and ref.place == self._place:
                    return ref
            ref = IssueRef(self._place, str(self._service.next_number(self._place)))
            self._service.add_issue(
                ref,
                draft.title,
                self._login,
                body=draft.body,
                labels=draft.labels,
                parent=draft.parent,
                dependencies=draft.depends_on,
                priority=draft.priority,
                kind=draft.kind,
            )
            self._service.issue(ref).marker = marker
            return ref

    async def change(self, ref: IssueRef, change: IssueChange) -> None:
        """Change an issue; what is already so stays."""
        async with self._service.call("change"):
            stored = self._service.issue(ref)
            changed = _changed(stored.issue, change)
            if changed != stored.issue:
                stored.issue = replace(changed, updated_at=self._service.clock())
                self._service.tick()

    async def add_dependency(self, ref: IssueRef, on: IssueRef, kind: str = "blocks") -> None:
        """Let an issue depend on another."""
        async with self._service.call("add_dependency"):
            stored = self._service.issue(ref)
            self._service.issue(on)
            wanted = Dependency(on=on.id, kind=kind)
            if wanted not in stored.issue.dependencies:
                stored.issue = replace(stored.issue, dependencies=(*stored.issue.dependencies, wanted))
                self._service.tick()

    async def put_comment(self, ref: IssueRef, text: str, marker: Marker) -> str:
        """Write the comment of a marker, in place if there is one already."""
        async with self._service.call("put_comment"):
            for each in self._service.issue(ref).comments:
                if self._is_ours(each.marker, each.comment.author, marker):
                    if each.comment.body != text:
                        self._service.edit_comment(each, text)
                    return each.comment.id
            return self._service.write_comment(ref, self._login, text, marker).comment.id

    async def comments_since(self, looks: Mapping[IssueRef, str]) -> Mapping[IssueRef, CommentPage]:
        """List the comments that came or changed since an earlier look at each issue."""
        async with self._service.call("comments_since"):
            return {ref: self._page(ref, int(look or 0)) for ref, look in looks.items()}

    def _page(self, ref: IssueRef, last: int) -> CommentPage:
        news = [each for each in self._service.issue(ref).comments if each.changed > last]
        newest = max([last, *(each.changed for each in news)])
        return CommentPage(tuple(each.comment for each in news), str(newest))

    async def may_decide(self, ref: IssueRef, login: str) -> bool:
        """Whether somebody has write permission."""
        async with self._service.call("may_decide"):
            self._service.issue(ref)
            return self._service.may_decide(login)

    async def claim(self, ref: IssueRef, claim: Claim) -> ClaimResult:
        """Claim an issue: of any number that try at once, one gets it."""
        async with self._service.call("claim"):
            stored = self._service.issue(ref)
            if stored.issue.state == "closed":
                message = f"Issue {ref} is closed and cannot be claimed."
                raise TrackerFault(message)
            if not any(each.is_same(claim) for each in stored.claims):
                stored.claims.append(replace(claim, id=str(self._service.tick())))
            holder = stored.claims[0]
            if not holder.is_same(claim):
                stored.claims = [each for each in stored.claims if not each.is_same(claim)]
            return ClaimResult(holder, holder.is_same(claim))

    async def release_claim(self, ref: IssueRef, claim: Claim) -> None:
        """Give up a claim; one that is gone already is ignored."""
        async with self._service.call("release_claim"):
            stored = self._service.issue(ref)
            stored.claims = [each for each in stored.claims if not each.is_same(claim)]

    async def claims(self, ref: IssueRef) -> tuple[Claim, ...]:
        """List the claims, the one that counts first."""
        async with self._service.call("claims"):
            return tuple(self._service.issue(ref).claims)

    async def download(self, attachments: Sequence[Attachment], folder: Path) -> tuple[Attachment, ...]:
        """Store the attachments whose content the service has."""
        async with self._service.call("download"):
            return tuple(self._store(each, folder / f"{n}") for n, each in enumerate(attachments, start=1))

    def _store(self, attachment: Attachment, path: Path) -> Attachment:
        content = self._service.files.get(attachment.url)
        if content is None:
            return replace(attachment, problem="there is no such file")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return replace(attachment, path=str(path), size=len(content))

    def _stored(self) -> list[StoredIssue]:
        return [stored for ref, stored in self._service.issues.items() if ref.place == self._place]

    def _is_ready(self, stored: StoredIssue) -> bool:
        issue = stored.issue
        return issue.status == "open" and issue.state == "open" and not stored.claims and not self._is_blocked(issue)

    def _is_blocked(self, issue: Issue) -> bool:
        blockers = [each.on for each in issue.dependencies if each.kind in BLOCKING]
        found = (self._service.issues.get(IssueRef(self._place, each)) for each in blockers)
        return any(stored is not None and stored.issue.state == "open" for stored in found)

    def _is_ours(self, found: Marker | None, author: str, wanted: Marker) -> bool:
        return found is not None and author == self._login and (found.what, found.key) == (wanted.what, wanted.key)


def _matches(issue: Issue, wanted: IssueFilter) -> bool:
    text = wanted.text.casefold()
    return (
        wanted.state in ("all", issue.state)
        and set(wanted.labels) <= set(issue.labels)
        and (not wanted.assignee or wanted.assignee in issue.assignees)
        and (text in issue.title.casefold() or text in issue.body.casefold())
    )


def _changed(issue: Issue, change: IssueChange) -> Issue:
    status = "closed" if change.close is not None else change.status or issue.status
    labels = [each for each in issue.labels if each not in change.remove_labels]
    assignees = [each for each in issue.assignees if each not in change.remove_assignees]
    return replace(
        issue,
        title=issue.title if change.title is None else change.title,
        body=issue.body if change.body is None else change.body,
        status=status,
        state="closed" if status == "closed" else "open",
        labels=tuple(dict.fromkeys((*labels, *change.add_labels))),
        assignees=tuple(dict.fromkeys((*assignees, *change.add_assignees))),
        priority=issue.priority if change.priority is None else change.priority,
    )
