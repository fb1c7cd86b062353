"""Performs the steps that hand work to a tracker or a code host: pull requests and issues."""

from typing import Any, cast

from handrail.errors import EnvironmentFault, PushRefused, TrackerBusy, TrackerFault
from handrail.frozen import frozen
from handrail.model.history.events import RunBlocked, StepBegan, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.plan import Plan
from handrail.runtime.handlers.trackers.create_issues import IssueCreator
from handrail.runtime.handlers.trackers.finished_work import has_finished
from handrail.runtime.handlers.trackers.issue_drafts import read_drafts
from handrail.runtime.handlers.trackers.pull_request import PullRequestOpener
from handrail.runtime.handlers.trackers.pull_request_outcome import (
    NeedsPerson,
    OpenedPullRequest,
    PullRequestWish,
    describe_outcome,
    summarize_outcome,
)

SHOWN = 5
"""The number of issues that a summary names."""


@frozen
class TrackerHandler:
    """Performs `pull-request` and `create-issues` steps."""

    opener: PullRequestOpener
    issues: IssueCreator

    async def perform(self, plan: Plan, state: RunState, pending: Pending, began: StepBegan) -> StepEnded | RunBlocked:
        """Do what the step asks for."""
        spec = cast("dict[str, Any]", began.spec)
        try:
            if began.action == "create-issues":
                return await self._create_issues(state, pending, spec)
            return await self._open_pull_request(plan, state, pending, spec)
        except TrackerBusy as busy:
            details = {"hindrance": "wait", "after": max(1.0, busy.until - self.opener.clock())}
            return self._fail_step(pending, busy.message, details)
        except (PushRefused, TrackerFault) as fault:
            step = fault.next_step or "fix that"
            again = f"handrail resume {state.family}"
            hint = step if again in step else f"{step}; then: {again}"
            return self._block(pending, "fault", f"step '{pending.address}': {fault.message}", hint)

    async def _create_issues(self, state: RunState, pending: Pending, spec: dict[str, Any]) -> StepEnded:
        try:
            drafts = read_drafts(spec)
        except ValueError as error:
            return self._fail_step(pending, str(error), {})
        created = await self.issues.create(state, pending, drafts)
        names = [each.url or str(each.ref) for each in created]
        shown = f"{', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"
        summary = f"created {len(names)} issue{'' if len(names) == 1 else 's'}" + (f": {shown}" if names else "")
        details = {"summary": summary, "crossed": [f"issue {each}" for each in names]}
        return self._end_step(pending, [each.output for each in created], details)

    async def _open_pull_request(
        self, plan: Plan, state: RunState, pending: Pending, spec: dict[str, Any]
    ) -> StepEnded | RunBlocked:
        if state.tree is None or not state.tree.branch:
            why = f"step '{pending.address}' needs a branch of a git repository, but the run has none"
            raise EnvironmentFault(why, next_step="start the run inside a git repository")
        name = pending.address.rpartition("/")[2].partition("#")[0].partition("@")[0]
        wish = PullRequestWish(
            step=name,
            title=str(spec["title"]),
            body=str(spec["body"]),
            base=str(spec["base"]),
            key=str(spec.get("key") or ""),
            draft=bool(spec["draft"]),
            ready=bool(spec.get("ready")),
            labels=tuple(map(str, spec["labels"])),
            reviewers=tuple(map(str, spec["reviewers"])),
            finishes=has_finished(plan, state, name),
            again=f"handrail resume {state.family}",
        )
        found = await self.opener.deliver(state, state.tree, wish)
        if isinstance(found, NeedsPerson):
            return self._block(pending, found.reason, f"step '{pending.address}': {found.message}", found.next_step)
        details = {"commit": found.commit, "branch": found.branch, "summary": summarize_outcome(found)}
        if isinstance(found, OpenedPullRequest):
            crossed = [f"branch {found.branch}, which was pushed", f"pull request #{found.number}: {found.url}"]
            details |= {"crossed": crossed}
        return self._end_step(pending, describe_outcome(found), details)

    def _end_step(self, pending: Pending, output: object, details: dict[str, Any]) -> StepEnded:
        return StepEnded(
            address=pending.address,
            began=pending.seq,
            status="succeeded",
            output=cast("Any", output),
            details={name: value for name, value in details.items() if value},
            at=self.opener.clock(),
        )

    def _fail_step(self, pending: Pending, error: str, details: dict[str, Any]) -> StepEnded:
        return StepEnded(
            address=pending.address,
            began=pending.seq,
            status="failed",
            error=error,
            details=details,
            at=self.opener.clock(),
        )

    def _block(self, pending: Pending, reason: Any, message: str, next_step: str) -> RunBlocked:
        now = self.opener.clock()
        return RunBlocked(reason=reason, message=message, address=pending.address, next_step=next_step, at=now)
