"""Finds and repairs damage to local issues: truncates what cannot be read, and rebuilds lists from the rest."""

from collections.abc import Iterator

from handrail.errors import HandrailError, StorageDamaged
from handrail.model.history.run_lines import Filter
from handrail.model.issue_records import LocalIssue
from handrail.model.issues import LOCAL, STREAM
from handrail.ports.log import Append, Holder, Log
from handrail.ports.log_care import Finding, TruncatedStream
from handrail.trackers.local.fold import line_of, summary_of
from handrail.trackers.local.leased import IssueStreams

PREFIX = f"{STREAM}{LOCAL}#"
HOLDER = "doctor"


class LocalIssueCare:
    """Implements the port `IssueCare` for the local tracker."""

    def examine(self, log: Log) -> tuple[Finding, ...]:
        """Report issues that cannot be read, and those that lists do not show as they are."""
        found, lists = list[Finding](), _Lists(log)
        for name in _names(log):
            try:
                issue = _read(log, name)
            except StorageDamaged as error:
                found.append(Finding("issue", name, error.message, error.intact))
            except HandrailError as error:
                found.append(Finding("issue", name, error.message))
            else:
                if not lists.shows(issue):
                    found.append(Finding("issue", name, "it is missing from lists, or is not listed as it is"))
        return tuple(found)

    def repair(self, log: Log) -> tuple[TruncatedStream, ...]:
        """Truncate issues to the events that can be read, and write their lines again."""
        cuts = [cut for cut in (_cut(log, name) for name in _names(log)) if cut is not None]
        lists = _Lists(log)
        for name in _names(log):
            try:
                issue = _read(log, name)
            except HandrailError:
                # The findings already report what is still wrong with it.
                continue
            if not lists.shows(issue):
                _write(log, issue)
        return tuple(cuts)


def _names(log: Log) -> Iterator[str]:
    return (stream.removeprefix(PREFIX) for stream in log.streams() if stream.startswith(PREFIX))


def _read(log: Log, name: str) -> LocalIssue:
    return IssueStreams(log, float).read(name)


class _Lists:
    """What lists say about all issues."""

    def __init__(self, log: Log) -> None:
        self._lines = {line.stream: line for line in log.issue_lines()}
        rows = log.summaries(Filter(prefix=PREFIX, runs_only=False))
        self._rows = {row.key: row.document for row in rows}

    def shows(self, issue: LocalIssue) -> bool:
        """Whether an issue is listed as its facts leave it."""
        stream = issue.ref.stream
        return self._lines.get(stream) == line_of(issue) and self._rows.get(stream) == summary_of(issue)


def _cut(log: Log, name: str) -> TruncatedStream | None:
    try:
        _read(log, name)
    except StorageDamaged as error:
        lease = log.acquire(error.stream, HOLDER)
        if isinstance(lease, Holder):
            return None
        try:
            return log.cut(lease, error.intact)
        finally:
            log.release(lease)
    except HandrailError:
        return None
    return None


def _write(log: Log, issue: LocalIssue) -> None:
    lease = log.acquire(issue.ref.stream, HOLDER)
    if isinstance(lease, Holder):
        # Whoever changes it writes the line with its commit.
        return
    try:
        log.append([Append(issue.ref.stream, issue.seq, summary=summary_of(issue))], [lease])
    finally:
        log.release(lease)
