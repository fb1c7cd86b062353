"""Performs the steps that hand work to a tracker: prepares it, with the command that lets a person complete it."""

import os
from pathlib import Path
from typing import Any, cast

from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.ports.environments import RunEnvironments
from handrail.ports.workspaces import Workspaces
from handrail.runtime.handlers.trackers.create_issues import prepare_issues
from handrail.runtime.handlers.trackers.pull_request import PullRequests
from handrail.runtime.handlers.trees import run_in_thread
from handrail.runtime.ports import Clock


@frozen
class TrackerHandler:
    """Performs `pull-request` and `create-issues` steps."""

    workspaces: Workspaces
    environments: RunEnvironments
    folder: Path
    clock: Clock

    async def perform(self, state: RunState, pending: Pending, began: StepBegan) -> StepEnded:
        """Prepare what the step asks for."""
        spec = cast("dict[str, Any]", began.spec)
        folder = self.folder / state.run / f"delivery-{pending.seq}"
        if began.action == "create-issues":
            issues = await run_in_thread(prepare_issues, spec, folder)
            return self._end_step(pending, issues.output, {"summary": issues.summary})
        if state.tree is None or not state.tree.branch:
            why = f"step '{pending.address}' needs a branch of a git repository, but the run has none"
            raise EnvironmentFault(why, next_step="start the run inside a git repository")
        folders = (
            self.environments.environment_of(state.run).variables(state.pass_env).get("PATH", "").split(os.pathsep)
        )
        has_cli = any(os.access(Path(folder) / "gh", os.X_OK) for folder in folders if folder)
        requests = PullRequests(self.workspaces, has_cli)
        found = await run_in_thread(requests.prepare, state.run, state.tree, spec, folder)
        details = {"commit": found.commit, "branch": state.tree.branch, "summary": found.summary}
        return self._end_step(pending, found.output, details)

    def _end_step(self, pending: Pending, output: object, details: dict[str, Any]) -> StepEnded:
        return StepEnded(
            address=pending.address,
            began=pending.seq,
            status="succeeded",
            output=cast("Any", output),
            details={name: value for name, value in details.items() if value},
            at=self.clock(),
        )
