"""Decides what an import does with each record of a file."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.issue_events import Record
from handrail.model.issue_records import LocalIssue
from handrail.model.secrets.redaction import Redactor
from handrail.trackers.local.ids import VALID, prefix_of, propose_ids
from handrail.trackers.local.leased import IssueStreams
from handrail.trackers.local.records import clean_record, require_valid

COUNTS = ("dependency_count", "dependent_count", "comment_count", "parent")
"""What an export adds to a record, and what follows from other fields."""


@frozen
class Importer:
    """What records are compared with."""

    streams: IssueStreams
    repository: str
    redactor: Redactor

    def plan(self, records: Iterable[Record]) -> "ImportPlan":
        """Compare records with the issues of a repository; of several with one id the last counts."""
        plan, wanted = ImportPlan(), dict[str, Record]()
        for number, record in enumerate(records, start=1):
            problem = self._add(record, wanted)
            if problem:
                plan.skipped += (f"record {number}: {problem}",)
        for issue, record in wanted.items():
            found = self.streams.load(issue)
            if not found.seq:
                plan.created.append((issue, record))
            elif found.repository != self.repository:
                plan.skipped += (f"{issue}: an issue of {found.repository} has this id",)
            elif _is_same(found, record):
                plan.unchanged += 1
            else:
                plan.updated.append((issue, record))
        return plan

    def _add(self, record: Record, wanted: dict[str, Record]) -> str:
        try:
            clean = require_valid(clean_record(record, self.redactor))
        except UsageError as error:
            return error.message
        issue = clean.pop("id", None)
        if issue is None:
            ids = propose_ids(prefix_of(self.repository), str(clean["title"]), len(wanted))
            issue = next(each for each in ids if each not in wanted)
        if not isinstance(issue, str) or not VALID.match(issue):
            return f"'{str(issue)[:50]}' cannot be the id of an issue"
        record = {name: value for name, value in clean.items() if name not in COUNTS}
        wanted[issue] = {"status": "open", "priority": 2, **record}
        return ""


@dataclass
class ImportPlan:
    """Which issues an import creates and which it replaces."""

    created: list[tuple[str, Record]] = field(default_factory=list[tuple[str, Record]])
    updated: list[tuple[str, Record]] = field(default_factory=list[tuple[str, Record]])
    unchanged: int = 0
    skipped: tuple[str, ...] = ()


def _is_same(found: LocalIssue, record: Record) -> bool:
    return {**found.record, **record} == found.record
