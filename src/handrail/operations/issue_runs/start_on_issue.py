"""Starts runs on issues: assigns the run its number, claims the issue, downloads its attachments, and starts it.

A crash between these leaves nothing behind that a second try does not find: the number is assigned again to the same
run, whose claim is already the one that counts.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from handrail.errors import NotConfigured, UsageError, VersionConflict
from handrail.frozen import frozen
from handrail.model.history.events import Admission
from handrail.model.history.issue_work import StatusChanged
from handrail.model.issues import Claim, Issue, IssueRef
from handrail.operations.issue_runs.assign_agent import NO_RULES, StatusRules, assign_agent, claim_of
from handrail.operations.issue_runs.issue_record import add_attachments
from handrail.operations.runs.lifecycle import Request, Then, add_no_events, start
from handrail.ports.trackers import Tracker, TrackerCatalog
from handrail.runtime.handlers.agents.host import ATTACHMENTS
from handrail.runtime.run_writer import RunClaim, RunWriter
from handrail.runtime.work_stream import hold_work, read_work

USUAL = "fix-bug"
"""The workflow that is named as an example."""
MAX_READY = 100
"""The most ready issues that are taken at once."""


@frozen
class IssueDesk:
    """What starting a run on an issue needs."""

    writer: RunWriter
    trackers: TrackerCatalog
    folder: Path
    """The folder in which each run has one of its own."""
    rules: StatusRules = NO_RULES

    async def read(self, ref: IssueRef) -> Issue:
        """Read an issue."""
        return await self.trackers.tracker(ref.place).read(ref)

    async def list_ready(self, places: Sequence[str], labels: Sequence[str] = ()) -> tuple[Issue, ...]:
        """List the issues that can be worked on now, of the first place that has any, the most urgent first."""
        for place in places:
            found = await self.trackers.tracker(place).list_ready(MAX_READY)
            wanted = tuple(each for each in found if set(labels) <= set(each.labels))
            if wanted:
                return wanted
        return ()

    async def start(
        self, issue: Issue, request: Request, claim: RunClaim, *, alone: bool = False, then: Then = add_no_events
    ) -> str:
        """Start a run on an issue and return its id; `alone` refuses an issue on which any other run works.

        `then` returns what is recorded with the first event of the run, in the same append.
        """
        tracker = self.trackers.tracker(issue.ref.place)
        while True:
            run = assign_agent(self.writer, issue, claim, self.rules, request.once)
            try:
                await self._claim_issue(tracker, issue, run, alone=alone)
                found = await tracker.download(issue.attachments, self.folder / run / ATTACHMENTS)
                inputs = add_attachments(request.inputs, found)
                wanted = replace(request, inputs=inputs, issue=str(issue.ref), run=run)
                return start(self.writer, wanted, then, claim)
            except VersionConflict:
                # Work on an issue of the same number in another repository was just given this id.
                claim.free()
            except BaseException:
                claim.free()
                raise

    async def _claim_issue(self, tracker: Tracker, issue: Issue, run: str, *, alone: bool) -> None:
        result = await tracker.claim(issue.ref, claim_of(self.writer.log, issue.ref, run))
        if result.is_mine:
            with hold_work(self.writer.log, issue.ref, self.writer.redactor) as work:
                if work.state.steps.get(run) != "claimed":
                    work.record(StatusChanged(run=run, step="claimed", at=time.time()))
            return
        other = result.claim
        known = read_work(self.writer.log, issue.ref).agent(other.run)
        # A run of this log that does not exist yet is just being started by another process.
        of_this_log = issue.ref.is_local or other.nonce or self.writer.log.last(other.run).seq
        ours = known is not None and of_this_log and other.nonce in ("", known.nonce)
        if alone or not ours:
            raise IssueTaken(f"issue {issue.ref} is claimed by {other.run or other.by}", next_step=_way_on(other))


def _way_on(other: Claim) -> str:
    return f"wait until {other.run or other.by} has finished or released it, or choose another issue"


class IssueTaken(UsageError):
    """Somebody else works on the issue."""

    code = "issue-taken"


def limit_ready(request: Request, most: int) -> Request:
    """Return a request that waits for its turn among the runs on ready issues of its repository."""
    own = request.admission or Admission(request.source.repository if request.source else request.workspace)
    return replace(request, admission=replace(own, places=(*own.places, (f"{own.scope} (ready)", most))))


def ready_places(tracker: str, remote: str, catalog: TrackerCatalog) -> tuple[str, ...]:
    """List where ready issues are looked for: the local tracker and then the remote, unless one of them is set."""
    found = catalog.repository_of(remote) if remote and tracker != "local" else None
    if tracker == "remote" and found is None:
        message = (
            'ready issues are looked for at the remote ([issues] tracker = "remote"), but no remote is on a known host'
        )
        raise NotConfigured(message, next_step='add a remote, or set tracker = "local"')
    places = () if found is None else (str(found),)
    return places if tracker == "remote" else (catalog.own_place(), *places)


def choose_workflow(named: str, configured: Sequence[str], choices: Sequence[str]) -> str:
    """Return the workflow for an issue: the one that is named, else the first that is configured."""
    chosen = named or next((each for each in configured if each), "")
    if chosen:
        return chosen
    example = next(iter(choices), USUAL) if USUAL not in choices else USUAL
    hint = f'name one before --issue or --ready, or set a default in config.toml: [issues] workflow = "{example}"'
    message = f"no workflow was named, and none is configured for issues; there are {', '.join(choices)}"
    raise NotConfigured(message, next_step=hint)
