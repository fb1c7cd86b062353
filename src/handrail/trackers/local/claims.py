"""Which claims are stale: those of runs that are over or gone, and have no open pull request."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.model.history.run_lines import Filter
from handrail.model.issue_records import IssueLine
from handrail.model.issues import Claim
from handrail.ports.log import Log

if TYPE_CHECKING:
    from handrail.model import pull_requests
else:
    pull_requests = late_import("handrail.model.pull_requests")

OVER = ("succeeded", "failed", "cancelled")
"""The statuses of runs that do no more work."""
GRACE = 600.0
"""Seconds after a claim in which its run need not exist: an issue is claimed before its run is started."""


def parse_claim(line: IssueLine) -> Claim:
    """Read the claim in a line."""
    by, _, rest = line.claimed.partition(" ")
    run, _, at = rest.partition(" ")
    return Claim(by=by, run=run, at=float(at or 0))


def find_stale_claims(log: Log, lines: Sequence[IssueLine], now: float) -> Iterator[tuple[IssueLine, str]]:
    """Yield the lines whose claim is stale, with the reason; the claim of a person never is."""
    for line in lines:
        claim = parse_claim(line) if line.claimed else None
        if claim is None or not claim.run:
            continue
        rows = log.summaries(Filter(key=claim.run))
        status = rows[0].document.get("status") if rows else None
        if status in OVER:
            if not _has_open_pull_request(log, claim.run):
                yield line, f"its run {claim.run} is over ({status})"
        elif not rows and now - claim.at > GRACE:
            yield line, f"its run {claim.run} does not exist"


def _has_open_pull_request(log: Log, run: str) -> bool:
    wanted = Filter(prefix=pull_requests.STREAM, runs_only=False, root=run, status="open", limit=1)
    return bool(log.keys(wanted))
