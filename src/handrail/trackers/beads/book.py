"""The issues of a repository that has beads: what people, agents and runs may do with them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import cast

from handrail.errors import HandrailError, NotFound, TrackerFault, UsageError
from handrail.frozen import frozen
from handrail.model.issue_events import Record
from handrail.model.issue_records import LINKS, MAX_LINK, IssueLine, LocalIssue
from handrail.model.issues import Claim, ClaimResult, TrackerKind
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue
from handrail.ports.issue_books import ImportCounts, ReadyIssues, ReadyOrder
from handrail.ports.log import Log
from handrail.trackers.beads.program import LONG_TIMEOUT, Bd, clean_line, clean_text, quote_labels, require_id, unwrap
from handrail.trackers.beads.records import MARKER, actor_name, progress_key, read_issue, type_name
from handrail.trackers.local.claims import find_stale_claims, parse_claim
from handrail.trackers.local.fold import CLAIMED, line_of
from handrail.trackers.local.records import clean_record, require_valid
from handrail.trackers.local.times import format_time
from handrail.trackers.local.tracker import OURS

OPTIONS = {
    "title": "--title",
    "design": "--design",
    "acceptance_criteria": "--acceptance",
    "notes": "--notes",
    "status": "--status",
    "priority": "--priority",
    "issue_type": "--type",
    "assignee": "--assignee",
    "defer_until": "--defer",
    "due_at": "--due",
    "external_ref": "--external-ref",
    "estimated_minutes": "--estimate",
}
"""The options that set fields; description, labels and closing have ways of their own."""


@frozen
class BeadsIssues:
    """The issues of one repository in beads."""

    bd: Bd
    log: Log
    clock: Callable[[], float]
    redactor: Redactor

    @property
    def tracker(self) -> TrackerKind:
        """Which tracker it is."""
        return "beads"

    @property
    def repository(self) -> str:
        """The main checkout of the repository."""
        return self.bd.folder

    def read(self, issue: str) -> LocalIssue:
        """Read an issue by its id, with its comments."""
        rows = self.bd.call_for_records("show", require_id(issue))
        if not rows or not rows[0].get("id"):
            raise NotFound(f"there is no issue '{issue}'", next_step="handrail issues list")
        comments: list[Record] = []
        if rows[0].get("comment_count") != 0:
            comments = self.bd.call_for_records("comments", str(rows[0]["id"]))
        return read_issue(rows[0], self.repository, [each for each in comments if "text" in each])

    def read_several(self, issues: Iterable[str]) -> tuple[LocalIssue, ...]:
        """Read issues for a list, with one call and without their comments."""
        wanted = tuple(issues)
        known = {each.id: each for each in self._list()} if wanted else {}
        return tuple(known[each] for each in wanted if each in known)

    def lines(self) -> tuple[IssueLine, ...]:
        """List the issues of the repository."""
        return tuple(map(line_of, self._list()))

    def _list(self) -> tuple[LocalIssue, ...]:
        rows = self.bd.call_for_records("list", "--all", "--limit=0")
        return tuple(read_issue(each, self.repository) for each in rows if each.get("id"))

    def create(self, record: Record, by: str, parent: str = "", marker: str = "") -> str:
        """Create an issue, or find the one that was created with this marker, and return its id."""
        record = require_valid(clean_record(record, self.redactor))
        if marker and (known := next((each.id for each in self._list() if each.marker == marker), "")):
            return known
        words = ["create", "--body-file=-"]
        fields = {name: value for name, value in record.items() if name not in ("status", "labels", "description")}
        words += self._options({name: value for name, value in fields.items() if value not in (None, "")})
        labels = [str(each) for each in _rows(record.get("labels"))]
        words += [f"--labels={quote_labels(labels)}"] if labels else []
        words += [f"--parent={require_id(parent)}"] if parent else []
        words += [f"--metadata={json.dumps({MARKER: marker})}"] if marker else []
        body = clean_text(str(record.get("description") or ""))
        rows = self.bd.call_for_records(*words, actor=actor_name(by), text=body)
        if not rows or not rows[0].get("id"):
            raise TrackerFault(f"bd {self.bd.version} did not name the issue that it created", next_step="bd list")
        return str(rows[0]["id"])

    def edit(self, issue: str, fields: Record, by: str) -> LocalIssue:
        """Set fields of an issue; what is already so stays."""
        found = self.read(issue)
        clean = clean_record(fields, self.redactor)
        news = {name: value for name, value in clean.items() if _differs(found.record.get(name), value)}
        closes = news.get("status") == "closed"
        reason = news.pop("close_reason", None)
        require_valid({**found.record, **news})
        if closes:
            del news["status"]
        self._update(found, news, by)
        if closes:
            why = clean_line(str(reason or "completed"))
            self.bd.call("close", found.id, f"--reason={why}", actor=actor_name(by))
        return self.read(found.id) if news or closes else found

    def _update(self, found: LocalIssue, news: Record, by: str) -> None:
        words = self._options({name: each for name, each in news.items() if name not in ("description", "labels")})
        body = ""
        if "description" in news:
            body = clean_text(str(news["description"] or ""))
            words += ["--body-file=-"] if body.strip() else ["--description="]
        if "labels" in news:
            wanted, known = [str(each) for each in _rows(news["labels"])], found.texts("labels")
            changes = {"--add-label": set(wanted) - set(known), "--remove-label": set(known) - set(wanted)}
            words += [f"{option}={quote_labels(sorted(each))}" for option, each in changes.items() if each]
        if words:
            self.bd.call("update", found.id, *words, actor=actor_name(by), text=body)

    def _options(self, fields: Record) -> list[str]:
        words: list[str] = []
        for name, value in fields.items():
            option = OPTIONS.get(name)
            if option is None:
                raise UsageError(f"bd {self.bd.version} cannot set '{name}'", next_step="bd update --help")
            text = "" if value is None else actor_name(str(value)) if name == "assignee" and value else str(value)
            text = clean_text(text) if name in ("design", "acceptance_criteria", "notes") else clean_line(text)
            words.append(f"{option}={text}" if text or name != "estimated_minutes" else f"{option}=0")
        return words

    def link(self, issue: str, on: str, kind: str, by: str) -> None:
        """Let an issue depend on another."""
        if not 0 < len(kind) <= MAX_LINK:
            raise UsageError(f"'{kind[:MAX_LINK]}' is not a kind of dependency", next_step=f"one of {', '.join(LINKS)}")
        found, other = self.read(issue), self.read(on)
        if not any(each == (other.id, kind) for each in _targets(found)):
            self.bd.call("dep", "add", found.id, other.id, f"--type={clean_line(kind)}", actor=actor_name(by))

    def unlink(self, issue: str, on: str, kind: str, by: str) -> bool:
        """Remove a dependency."""
        found = self.read(issue)
        if not any(target == on and kind in ("", each) for target, each in _targets(found)):
            return False
        self.bd.call("dep", "remove", found.id, require_id(on), actor=actor_name(by))
        return True

    def comment(self, issue: str, text: str, by: str, marker: str = "") -> str:
        """Write a comment, or rewrite the text of a marker for progress."""
        text = clean_text(str(clean_record({"text": text}, self.redactor)["text"]))
        found = self.read(issue)
        if marker.startswith("progress:"):
            return self._put_progress(found, text, marker)
        mark = f"<!-- handrail:{marker} -->" if marker else ""
        ours = [each for each in found.records("comments") if mark and each.get("author") == OURS]
        if known := next((str(each["id"]) for each in ours if mark in str(each.get("text"))), ""):
            return known
        words = ("comments", "add", found.id, "--file=/dev/stdin")
        whole = f"{text}\n\n{mark}" if mark else text
        rows = self.bd.call_for_records(*words, actor=actor_name(by), text=whole)
        return str(rows[0].get("id", "")) if rows else ""

    def _put_progress(self, found: LocalIssue, text: str, marker: str) -> str:
        key = progress_key(marker)
        known = next((each for each in found.records("comments") if each.get("id") == key), None)
        if known is None or known.get("text") != text:
            at = format_time(self.clock()) if known is None else str(known.get("created_at"))
            self.bd.call("update", found.id, f"--set-metadata={key}={at}\n{text}", actor=OURS)
        return key

    def claim(self, issue: str, claim: Claim) -> ClaimResult:
        """Claim an issue: bd compares and sets, so that of any number of processes one gets it."""
        by = type_name(actor_name(claim.by))
        held = self.read(issue)
        if held.claim is not None and held.claim.run and held.claim.by != by:
            self._release_stale((line_of(held),))
        refusal: HandrailError | None = None
        try:
            self.bd.call("update", held.id, "--claim", actor=actor_name(claim.by))
        except TrackerFault as error:
            refusal = error
        found = self.read(held.id)
        holder = found.claim or Claim(by=found.text("assignee"))
        if refusal is not None and (not holder.by or found.status not in ("open", CLAIMED)):
            raise refusal
        is_mine = found.claim is not None and holder.by == by
        return ClaimResult(replace(holder, by=claim.by, run=claim.run) if is_mine else holder, is_mine)

    def release(self, issue: str, claimed_by: str, by: str, why: str) -> bool:  # noqa: ARG002 - bd keeps no reason
        """End a claim, of anybody if nobody is named."""
        found = self.read(issue)
        holder = found.text("assignee")
        if found.status != CLAIMED or (claimed_by and holder != type_name(actor_name(claimed_by))):
            return False
        self.bd.call("update", found.id, "--status=open", "--assignee=", actor=actor_name(by))
        return True

    def find_ready(self, order: ReadyOrder = "priority", *, explain: bool = False) -> ReadyIssues:
        """Release stale claims, and list what bd says is ready."""
        released = self._release_stale(self.lines())
        rows = self.bd.call_for_records("ready", "--limit=0", f"--sort={order}")
        ready = tuple(line_of(read_issue(each, self.repository)) for each in rows if each.get("id"))
        reasons = self._explain({each.id for each in ready}) if explain else {}
        return ReadyIssues(ready=ready, reasons=reasons, released=tuple(released))

    def _explain(self, ready: set[str]) -> dict[str, str]:
        blocked = {str(each.get("id")): each.get("blocked_by") for each in self.bd.call_for_records("blocked")}
        reasons: dict[str, str] = {}
        for line in self.lines():
            if line.id in ready or line.status == "closed":
                continue
            if blockers := [str(each) for each in _rows(blocked.get(line.id))]:
                reasons[line.id] = f"it is blocked by {', '.join(blockers)}"
            elif line.status != "open":
                reasons[line.id] = f"its status is {line.status}"
            else:
                reasons[line.id] = "bd does not list it as ready"
        return reasons

    def _release_stale(self, lines: Sequence[IssueLine]) -> list[tuple[str, str]]:
        stale = find_stale_claims(self.log, lines, self.clock())
        return [(line.id, why) for line, why in stale if self.release(line.id, parse_claim(line).by, OURS, why)]

    def put_records(
        self, records: Iterable[Record], by: str, on_progress: Callable[[int], None] | None = None
    ) -> ImportCounts:
        """Let bd create or replace issues from records of a file."""
        known = {line.id for line in self.lines()}
        clean = [clean_record(each, self.redactor) for each in records]
        text = "".join(f"{json.dumps(each)}\n" for each in clean)
        if clean:
            self.bd.call("import", "-", actor=actor_name(by), text=text, timeout=LONG_TIMEOUT)
        if on_progress is not None:
            on_progress(len(clean))
        updated = sum(str(each.get("id", "")) in known for each in clean)
        return ImportCounts(created=len(clean) - updated, updated=updated)

    def export_records(self) -> tuple[dict[str, JsonValue], ...]:
        """Return the records of all issues, as bd exports them."""
        lines = self.bd.call_for_lines("export").splitlines()
        rows = [cast("Record", unwrap(json.loads(line))) for line in lines if line.strip()]
        issues = [each for each in rows if each.pop("_type", "issue") == "issue"]
        return tuple(sorted(issues, key=lambda each: str(each.get("id"))))


def _rows(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _targets(issue: LocalIssue) -> list[tuple[str, str]]:
    return [
        (str(each.get("depends_on_id")), str(each.get("type") or "blocks")) for each in issue.records("dependencies")
    ]


def _differs(old: JsonValue, new: JsonValue) -> bool:
    return old != new and not (old is None and new in (None, "", []))
