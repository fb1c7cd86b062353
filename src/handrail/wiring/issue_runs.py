"""Runs on issues, as seen from a place: finds and reads the issue that is meant, and starts the run on it."""

import asyncio
from typing import TYPE_CHECKING, Any

from handrail.frozen import frozen
from handrail.operations.issue_runs.issue_record import build_record
from handrail.operations.issue_runs.issue_reference import find_issue
from handrail.operations.issue_runs.issue_settings import default_workflow, status_rules
from handrail.operations.issue_runs.start_on_issue import IssueDesk
from handrail.wiring.session import Session

if TYPE_CHECKING:
    from handrail.model.issues import Issue
    from handrail.operations.runs.lifecycle import Request
    from handrail.runtime.run_writer import RunClaim
    from handrail.sources.tiers import Location


@frozen
class IssueStart:
    """An issue that was read, and the run that is started on it."""

    place: "Location"
    issue: "Issue"
    record: dict[str, Any]

    def options(self, workflow: str) -> dict[str, Any]:
        """Return what the issue says about the run: its workflow, unless one is named, its task and its record."""
        chosen = default_workflow(self.place, workflow)
        return {"workflow": chosen, "task": str(self.record["title"]), "issue": self.record}

    async def start(self, session: Session, request: "Request", claim: "RunClaim") -> str:
        """Start the run, and return its id."""
        return await desk_of(session).start(self.issue, request, claim)


def desk_of(session: Session) -> IssueDesk:
    """Return what starts runs on issues in a session."""
    system = session.system
    return IssueDesk(session.writer, system.trackers, system.folder / "runs", status_rules(session.place))


def remote_of(session: Session) -> str:
    """Return the URL of the remote of the repository of a session; empty if there is none."""
    root = session.place.repository
    return "" if root is None else session.machine.repositories.remote_url(root)


async def read_issue(session: Session, words: str) -> IssueStart:
    """Find the issue that a person means, and read it."""
    remote = await asyncio.to_thread(remote_of, session)
    ref = find_issue(words, remote, session.system.trackers)
    issue = await desk_of(session).read(ref)
    return IssueStart(session.place, issue, build_record(issue, session.machine.redactor()))
