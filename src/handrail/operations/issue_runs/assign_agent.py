"""Gives a new run its number among the agents on an issue: once, whatever processes try at the same time.

1. The number is a fact, recorded under the lease of the work on the issue, before the run exists.
2. The process that assigns it holds the lease of the run's stream until the run has started. So a number whose run
   does not exist is either about to be used by the process that holds it, or was left behind by one that died: then it
   is assigned again.
"""

import time
import uuid
from hashlib import sha256
from typing import NamedTuple

from handrail.engine.issues.run_names import candidate_names
from handrail.errors import UsageError
from handrail.model.actors import make_agent
from handrail.model.history.issue_work import AgentAssigned, CommentsSeen
from handrail.model.issues import Claim, Issue, IssueRef
from handrail.ports.log import Log
from handrail.runtime.run_writer import RunClaim, RunWriter
from handrail.runtime.work_stream import WorkLedger, hold_work, read_work


class StatusRules(NamedTuple):
    """What is configured about the status of issues."""

    close: bool = True
    """Whether a run that finished its issue closes it."""
    blocked_label: str = ""
    """The label that an issue has while its run needs a person; empty: none."""


NO_RULES = StatusRules()


class AlreadyStarted(UsageError):
    """A start that was made before: its run is there, or another process is just starting it."""

    code = "already-started"

    def __init__(self, run: str) -> None:
        super().__init__(f"{run} was already started by this request", next_step=f"handrail status {run}")
        self.run = run


def assign_agent(
    writer: RunWriter, issue: Issue, claim: RunClaim, rules: StatusRules = NO_RULES, once: str = ""
) -> str:
    """Return the id of a new run for an issue; `claim` holds its leases afterwards.

    A start that has the same `once` as an earlier one raises `AlreadyStarted`.
    """
    log = writer.log
    once = sha256(once.encode(errors="replace")).hexdigest()[:16] if once else ""
    with hold_work(log, issue.ref, writer.redactor, claim.name) as work:
        for each in work.state.agents:
            if once and each.once == once:
                if log.last(each.run).seq or claim.begin(each.run) is None:
                    raise AlreadyStarted(each.run)
                return each.run
        for each in work.state.agents:
            if not each.once and not once and not log.last(each.run).seq and claim.begin(each.run) is not None:
                return each.run
        number = 1 + max((each.number for each in work.state.agents), default=0)
        while True:
            run = _claim_name(log, issue, number, claim)
            if run:
                break
            number += 1
        _record(
            work,
            issue,
            AgentAssigned(
                run=run,
                number=number,
                at=time.time(),
                nonce=uuid.uuid4().hex[:12],
                once=once,
                **rules._asdict(),
            ),
        )
        return run


def claim_of(log: Log, ref: IssueRef, run: str) -> Claim:
    """Return the claim of a run on its issue, which no run of another machine can have."""
    assigned = read_work(log, ref).agent(run)
    nonce = "" if assigned is None else assigned.nonce
    return Claim(by=str(make_agent(run)), at=time.time(), run=run, nonce=nonce)


def _claim_name(log: Log, issue: Issue, number: int, claim: RunClaim) -> str:
    """Claim the first free id for a number; empty if other processes have them all."""
    for run in candidate_names(issue.ref, number):
        if not log.last(run).seq and claim.begin(run) is not None:
            return run
    return ""


def _record(work: WorkLedger, issue: Issue, assigned: AgentAssigned) -> None:
    # What was written before the first run answers none of its questions, whatever the clocks of both sides say.
    old = () if work.state.agents else tuple(each.id for each in issue.comments)
    look = "" if work.state.since else issue.looked
    seen = (CommentsSeen(ids=old, since=look, at=assigned.at),) if old or look else ()
    work.record(assigned, *seen)
