"""Appends to the stream of an issue under its lease."""

import time
from collections.abc import Callable, Sequence

from handrail.errors import NotFound, TrackerBusy
from handrail.frozen import frozen
from handrail.model.issue_events import IssueEvent
from handrail.model.issue_records import LocalIssue
from handrail.ports.log import Append, Holder, Lease, Log
from handrail.trackers.local.fact_codec import decode_fact, encode_fact
from handrail.trackers.local.fold import fold_events, summary_of

HOLDER = "handrail issues"
MAX_WAIT = 20.0
"""Seconds to wait for another process, which holds the lease of an issue for milliseconds."""
_PAUSE = 0.005


@frozen
class IssueStreams:
    """Reads and appends the facts of issues."""

    log: Log
    clock: Callable[[], float]

    def read(self, issue: str) -> LocalIssue:
        """Fold the facts of an issue."""
        found = self.load(issue)
        if not found.seq:
            message = f"there is no issue '{issue}'"
            raise NotFound(message, next_step="handrail issues list --all")
        return found

    def load(self, issue: str) -> LocalIssue:
        """Fold the facts of an issue; one that does not exist has none."""
        empty = LocalIssue(id=issue)
        return fold_events(empty, map(decode_fact, self.log.read(empty.ref.stream)))

    def begin(self, issue: str, events: Sequence[IssueEvent]) -> Append:
        """Build the append that creates an issue: it needs no lease, and fails if the issue exists."""
        return self._append(LocalIssue(id=issue), events)

    def change(self, issue: str, decide: Callable[[LocalIssue], Sequence[IssueEvent]]) -> LocalIssue:
        """Decide on facts from the state of an issue, and append them, while nobody else can."""
        lease = self._acquire(LocalIssue(id=issue).ref.stream)
        try:
            found = self.read(issue)
            events = decide(found)
            if events:
                self.log.append([self._append(found, events)], [lease])
            return fold_events(found, events)
        finally:
            self.log.release(lease)

    def _append(self, found: LocalIssue, events: Sequence[IssueEvent]) -> Append:
        after = fold_events(found, events)
        facts = tuple(map(encode_fact, events))
        return Append(found.ref.stream, found.seq, facts, summary=summary_of(after))

    def _acquire(self, stream: str) -> Lease:
        started = time.monotonic()
        while True:
            lease = self.log.acquire(stream, HOLDER)
            if not isinstance(lease, Holder):
                return lease
            if time.monotonic() - started > MAX_WAIT:
                message = f"process {lease.pid} is changing {stream.partition('#')[2]}"
                raise TrackerBusy(message, until=self.clock() + MAX_WAIT, next_step="try it again")
            time.sleep(_PAUSE)
