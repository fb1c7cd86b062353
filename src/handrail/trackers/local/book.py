"""The issues of one repository: what people, agents and runs may do with them."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, cast

from handrail.errors import TrackerFault, UsageError, VersionConflict
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model import issue_events as ev
from handrail.model.issue_events import IssueEvent, Record
from handrail.model.issue_records import LINKS, MAX_LINK, IssueLine, LocalIssue
from handrail.model.issues import Claim, ClaimResult, TrackerKind
from handrail.model.workflow.values import JsonValue
from handrail.ports.issue_books import ImportCounts, ReadyIssues, ReadyOrder
from handrail.ports.log import Log
from handrail.trackers.local.claims import find_stale_claims, parse_claim
from handrail.trackers.local.readiness import Readiness

if TYPE_CHECKING:
    from handrail.model.secrets.redaction import Redactor
    from handrail.trackers.local import cycles, fold, ids, import_plan, leased
    from handrail.trackers.local import records as record_rules
else:
    # `ready` and `list` read lines alone: what changes issues is not loaded for them.
    cycles = late_import("handrail.trackers.local.cycles")
    fold = late_import("handrail.trackers.local.fold")
    ids = late_import("handrail.trackers.local.ids")
    import_plan = late_import("handrail.trackers.local.import_plan")
    leased = late_import("handrail.trackers.local.leased")
    record_rules = late_import("handrail.trackers.local.records")

BATCH = 200
"""How many issues of an import are one commit."""


@frozen
class LocalIssues:
    """The issues of one repository in a log."""

    log: Log
    repository: str
    clock: Callable[[], float]
    find_redactor: "Callable[[], Redactor]"
    """Returns what removes secrets from the texts of issues; it is asked for with the first text."""

    @property
    def tracker(self) -> TrackerKind:
        """Which tracker it is."""
        return "local"

    @property
    def _streams(self) -> "leased.IssueStreams":
        return leased.IssueStreams(self.log, self.clock)

    def read(self, issue: str) -> LocalIssue:
        """Read an issue by its id."""
        return self._streams.read(issue)

    def read_several(self, issues: Iterable[str]) -> tuple[LocalIssue, ...]:
        """Read issues for a list."""
        return tuple(map(self.read, issues))

    def lines(self) -> tuple[IssueLine, ...]:
        """List the issues of the repository."""
        return self.log.issue_lines(self.repository)

    def create(self, record: Record, by: str, parent: str = "", marker: str = "") -> str:
        """Create an issue, or find the one that was created with this marker, and return its id."""
        record = record_rules.require_valid(record_rules.clean_record(record, self.find_redactor()))
        lines = self.lines()
        if marker and (known := next((line.id for line in lines if line.marker == marker), "")):
            return known
        events: list[IssueEvent] = [
            ev.IssueCreated(repository=self.repository, record=record, marker=marker, by=by, at=self.clock())
        ]
        if parent:
            self.read(parent)
            events.append(ev.DependencyAdded(on=parent, link="parent-child", by=by, at=self.clock()))
            proposed = ids.propose_children(parent, {line.id for line in lines})
        else:
            content = f"{record.get('title')}|{record.get('description')}|{by}|{self.clock()}|{marker}"
            proposed = ids.propose_ids(ids.prefix_of(self.repository), content, len(lines))
        for issue in proposed:
            try:
                self.log.append([self._streams.begin(issue, events)], [])
            except VersionConflict:
                continue
            return issue
        raise AssertionError("ids never end")

    def edit(self, issue: str, fields: Record, by: str) -> LocalIssue:
        """Set fields of an issue; what is already so stays."""
        clean = record_rules.clean_record(fields, self.find_redactor())

        def decide(found: LocalIssue) -> Sequence[IssueEvent]:
            news = {name: value for name, value in clean.items() if _differs(found.record.get(name), value)}
            if not news:
                return ()
            record_rules.require_valid({**found.record, **news})
            return (ev.IssueEdited(fields=news, by=by, at=self.clock()),)

        return self._streams.change(issue, decide)

    def link(self, issue: str, on: str, kind: str, by: str) -> None:
        """Let an issue depend on another."""
        if not 0 < len(kind) <= MAX_LINK:
            raise UsageError(f"'{kind[:MAX_LINK]}' is not a kind of dependency", next_step=f"one of {', '.join(LINKS)}")
        self.read(on)

        def decide(found: LocalIssue) -> Sequence[IssueEvent]:
            if _has_link(found, on, kind):
                return ()
            if cycle := cycles.find_cycle(self.log.issue_lines(found.repository), issue, on, kind):
                raise UsageError(
                    f"{issue} cannot depend on {on}: {' -> '.join(cycle)} would be a cycle",
                    next_step=f"remove one of these dependencies first: handrail issues dep remove {on} ISSUE",
                )
            return (ev.DependencyAdded(on=on, link=kind, by=by, at=self.clock()),)

        self._streams.change(issue, decide)

    def unlink(self, issue: str, on: str, kind: str, by: str) -> bool:
        """Remove a dependency."""
        removed: list[str] = []

        def decide(found: LocalIssue) -> Sequence[IssueEvent]:
            kinds = [str(each.get("type")) for each in found.records("dependencies") if each.get("depends_on_id") == on]
            removed.extend(each for each in kinds if not kind or each == kind)
            return [ev.DependencyRemoved(on=on, link=each, by=by, at=self.clock()) for each in removed]

        self._streams.change(issue, decide)
        return bool(removed)

    def comment(self, issue: str, text: str, by: str, marker: str = "") -> str:
        """Write a comment, or change the one of a marker."""
        text = cast("str", record_rules.clean_record({"text": text}, self.find_redactor())["text"])
        written: list[str] = []

        def decide(found: LocalIssue) -> Sequence[IssueEvent]:
            known = next((each for each, mark in found.comment_markers.items() if marker and mark == marker), "")
            if not known:
                taken = {str(each.get("id")) for each in found.records("comments")}
                written.append(next(str(n) for n in count(len(taken) + 1) if str(n) not in taken))
                return (ev.CommentWritten(id=written[0], text=text, marker=marker, by=by, at=self.clock()),)
            written.append(known)
            same = any(str(each.get("id")) == known and each.get("text") == text for each in found.records("comments"))
            return () if same else (ev.CommentEdited(id=known, text=text, at=self.clock()),)

        self._streams.change(issue, decide)
        return written[0]

    def claim(self, issue: str, claim: Claim) -> ClaimResult:
        """Claim an issue: of any number of processes one gets it."""
        self._release_stale(self.log.issue_lines(self.repository), only=issue)

        def decide(found: LocalIssue) -> Sequence[IssueEvent]:
            if found.status == "open" and found.text("assignee") in ("", claim.by):
                return (ev.IssueClaimed(by=claim.by, run=claim.run, at=self.clock()),)
            if found.status not in ("open", fold.CLAIMED):
                raise TrackerFault(
                    f"{issue} cannot be claimed: its status is {found.status}",
                    next_step=f"handrail issues update {issue} --status open",
                )
            return ()

        found = self._streams.change(issue, decide)
        holder = found.claim or Claim(by=found.text("assignee"))
        return ClaimResult(holder, holder.by == claim.by)

    def release(self, issue: str, claimed_by: str, by: str, why: str) -> bool:
        """End a claim, of anybody if nobody is named."""
        released: list[str] = []

        def decide(found: LocalIssue) -> Sequence[IssueEvent]:
            holder = found.claim.by if found.claim else found.text("assignee")
            if found.status != fold.CLAIMED or (claimed_by and holder != claimed_by):
                return ()
            released.append(holder)
            return (ev.ClaimReleased(claimed_by=holder, why=why, by=by, at=self.clock()),)

        self._streams.change(issue, decide)
        return bool(released)

    def find_ready(self, order: ReadyOrder = "priority", *, explain: bool = False) -> ReadyIssues:
        """Release stale claims, and list what is ready."""
        lines = self.lines()
        released = self._release_stale(lines)
        readiness = Readiness(self.lines() if released else lines, self.clock())
        reasons = {each.id: each.why for each in readiness.list_reasons()} if explain else {}
        return ReadyIssues(ready=tuple(readiness.list_ready(order)), reasons=reasons, released=tuple(released))

    def put_records(
        self, records: Iterable[Record], by: str, on_progress: Callable[[int], None] | None = None
    ) -> ImportCounts:
        """Create or replace issues from records of a file."""
        plan = import_plan.Importer(self._streams, self.repository, self.find_redactor()).plan(records)
        fact = partial(ev.IssueImported, repository=self.repository, by=by, at=self.clock())
        for start in range(0, len(plan.created), BATCH):
            batch = plan.created[start : start + BATCH]
            self.log.append([self._streams.begin(issue, [fact(record=record)]) for issue, record in batch], [])
            if on_progress is not None:
                on_progress(start + len(batch))
        for number, (issue, record) in enumerate(plan.updated, start=len(plan.created) + 1):
            self._streams.change(issue, partial(_replace_with, fact(record=record)))
            if on_progress is not None and number % BATCH == 0:
                on_progress(number)
        return ImportCounts(
            created=len(plan.created), updated=len(plan.updated), unchanged=plan.unchanged, skipped=plan.skipped
        )

    def export_records(self) -> tuple[dict[str, JsonValue], ...]:
        """Return the records of all issues of the repository, by id."""
        issues = [self.read(each) for each in sorted(line.id for line in self.lines())]
        return tuple({"id": issue.id, **issue.record} for issue in issues)

    def _release_stale(self, lines: Sequence[IssueLine], only: str = "") -> list[tuple[str, str]]:
        released: list[tuple[str, str]] = []
        for line, why in find_stale_claims(self.log, lines, self.clock()):
            by = parse_claim(line).by
            if (not only or line.id == only) and self.release(line.id, by, "", why):
                released.append((line.id, why))
        return released


def _replace_with(event: IssueEvent, _: LocalIssue) -> Sequence[IssueEvent]:
    return (event,)


def _differs(old: JsonValue, new: JsonValue) -> bool:
    return old != new and not (old is None and new in (None, "", []))


def _has_link(found: LocalIssue, on: str, kind: str) -> bool:
    return any((each.get("depends_on_id"), each.get("type")) == (on, kind) for each in found.records("dependencies"))
