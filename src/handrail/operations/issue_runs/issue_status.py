"""Changes the issue itself because of a run: only when the run starts, is blocked, or ends.

An issue is closed only if its run finished all of it: the run succeeded without a step that failed or was passed over,
no other run works on the issue, and no pull request is meant to close it by being merged. A code host closes its issue
with the pull request; an issue that only this machine knows is closed here, once the pull request is seen merged.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from handrail.engine.issues.progress_text import RunProgress
from handrail.model.history.issue_work import IssueStep, StatusChanged
from handrail.model.history.run_lines import Filter
from handrail.model.history.run_state import RunState
from handrail.model.issues import IssueChange, IssueRef
from handrail.model.parts import walk_steps
from handrail.operations.issue_runs.assign_agent import NO_RULES, StatusRules, claim_of
from handrail.operations.issue_runs.issue_forks import find_runs
from handrail.operations.views.pull_requests import find_pull_requests
from handrail.ports.trackers import Tracker
from handrail.runtime.history import plan_of
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.work_stream import read_work, record_work

NO_CHANGE = IssueChange()
OVER = ("succeeded", "failed", "cancelled")


@dataclass(slots=True)
class IssueStatus:
    """Brings the status of an issue in line with a run."""

    writer: RunWriter
    find_tracker: Callable[[], Tracker]
    rules: StatusRules = NO_RULES

    async def bring_up_to_date(self, ref: IssueRef, state: RunState, progress: RunProgress) -> None:
        """Change the issue if the run's state wants that, and record it."""
        wanted = self._wanted(ref, state, progress)
        before = read_work(self.writer.log, ref).steps.get(state.run, "")
        if wanted == before or not wanted or (wanted == "unblocked" and before != "blocked"):
            return
        await self._change(ref, state.run, wanted)
        changed = StatusChanged(run=state.run, step=wanted, at=time.time())
        await record_work(self.writer.log, ref, self.writer.redactor, changed)

    def _wanted(self, ref: IssueRef, state: RunState, progress: RunProgress) -> "IssueStep | None":
        if state.status == "blocked":
            return "blocked"
        if state.status in ("failed", "cancelled"):
            return "released"
        if state.status == "succeeded":
            return "closed" if self.rules.close and self._is_finished(ref, state, progress) else "unblocked"
        return "unblocked"

    def _is_finished(self, ref: IssueRef, state: RunState, progress: RunProgress) -> bool:
        log = self.writer.log
        if ref.is_hosted:
            steps = walk_steps(plan_of(log, state.plan).steps)
            if progress.pull_request or any(step.action.kind == "pull-request" for _, step in steps):
                return False
        elif any(each.status != "merged" for each in find_pull_requests(log, state.run)):
            return False
        if any(each.status in ("failed", "passed_over", "stopped") for each in progress.steps):
            return False
        others = [run for run in find_runs(log, ref, read_work(log, ref)) if run != state.run]
        return all(log.keys(Filter(key=run, statuses=OVER)) for run in others)

    async def _change(self, ref: IssueRef, run: str, wanted: "IssueStep") -> None:
        label = (self.rules.blocked_label,) if self.rules.blocked_label else ()
        if wanted == "released":
            await self.find_tracker().release_claim(ref, claim_of(self.writer.log, ref, run))
        change = {
            "blocked": IssueChange(add_labels=label, status=None if ref.is_hosted else "blocked"),
            "unblocked": IssueChange(remove_labels=label, status=None if ref.is_hosted else "in_progress"),
            "released": IssueChange(remove_labels=label),
            "closed": IssueChange(close="completed", remove_labels=label),
        }.get(wanted, NO_CHANGE)
        if change != NO_CHANGE:
            await self.find_tracker().change(ref, change)
