"""Starts the runs of a fan-out's items, and collects their results."""

import json
import re
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

import rfc8785

from handrail.engine.state.budgets import enclosing_budget, remaining_budget
from handrail.engine.state.codec import step_rows
from handrail.engine.state.given import names_given
from handrail.engine.state.position import enclosing_step
from handrail.engine.state.scope import names_inside
from handrail.errors import EnvironmentFault, VersionConflict, WorkspaceFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.codec import encode
from handrail.model.history.events import Event, ItemEnded, Parent, RunStarted
from handrail.model.history.run_state import RunState, WorkState
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.workspaces import Workspaces
from handrail.runtime.handlers.children import OVER
from handrail.runtime.handlers.trees import add_run_trailer, run_in_thread, work_title
from handrail.runtime.history import build_first_append, plan_of, state_of
from handrail.runtime.ports import Clock

if TYPE_CHECKING:
    from handrail.engine.composite import fan_out
    from handrail.engine.state import run_outputs
else:
    fan_out = late_import("handrail.engine.composite.fan_out")
    run_outputs = late_import("handrail.engine.state.run_outputs")

Data = dict[str, JsonValue]
MAX_NAME_LENGTH = 60
"""How much of a key its branch is named by, in characters."""


@frozen
class ItemHandler:
    """Performs fan-outs."""

    log: Log
    environments: RunEnvironments
    workspaces: Workspaces
    clock: Clock

    async def perform(self, plan: Plan, state: RunState) -> tuple[Event, ...]:
        """Start the runs of all started items; return the results of those that are over."""
        work = cast("WorkState", state.stack[-1].work)
        started, results = cast("dict[str, str]", work.data["started"]), cast("Data", work.data["results"])
        events: list[Event] = []
        for key, child in started.items():
            if key in results:
                continue
            if not self.log.last(child).seq:
                await run_in_thread(self._start, plan, state, key, child)
            ended = await run_in_thread(self._collect_item, work, key, child)
            if ended is not None:
                events.append(ended)
        return tuple(events)

    def list_running(self, state: RunState) -> tuple[str, ...]:
        """List the runs of items that are not over."""
        return fan_out.running_items(state)

    def _start(self, plan: Plan, state: RunState, key: str, child: str) -> None:
        work, step, tree = cast("WorkState", state.stack[-1].work), enclosing_step(plan, state), state.tree
        if step is None or tree is None or not tree.owned:
            why = f"step '{work.address}' needs its own worktree, but the run works in a plain folder"
            raise EnvironmentFault(why, next_step="start the run inside a git repository, without --in")
        inner = rfc8785.dumps(encode(fan_out.item_plan(plan, step)))
        names = names_inside(state, {str(work.data["item"]): _item(work, key)})
        # Its inputs are those of this run, and are read before the names around it.
        own = names_given(state.inputs)
        names = {name: value for name, value in names.items() if name not in own}
        seen = {"names": names, "latest": dict(state.latest.items()), "steps": step_rows(state)}
        scope = json.dumps({**seen, "previous": state.previous})
        started = RunStarted(
            run=child,
            workflow=state.workflow,
            definition=state.definition,
            plan=self.log.put_blob(inner),
            inputs=state.inputs,
            workspace="",
            checks=state.checks,
            project=state.project,
            env=state.env,
            calls=state.calls,
            task=state.task,
            parent=Parent(state.run, work.address, state.seq),
            root=state.family,
            generation=state.generation + 1,
            source=self._prepare_source(state, tree, work, key),
            agent=state.agent,
            agents=state.agents,
            script=state.script,
            pass_env=state.pass_env,
            scope=self.log.put_blob(scope.encode()),
            prefix=f"{work.address}[{key}]/",
            allowance=remaining_budget(plan, state, None, ""),
            around=enclosing_budget(plan, state, None),
            admission=None if state.admission is None else replace(state.admission, key="", if_running="queue"),
            at=self.clock(),
        )
        redactor = self.environments.environment_of(state.run).redactor
        try:
            self.log.append([build_first_append(self.log, redactor, child, started)], [])
        except VersionConflict:
            return

    def _prepare_source(self, state: RunState, tree: Tree, work: WorkState, key: str) -> TreeSource:
        """Build the source of an item's worktree; uncommitted work of the parent run is committed first."""
        message = add_run_trailer(f"Work of {state.run} before {work.address}", state.run)
        commit = self.workspaces.commit(tree, message)
        after = cast("dict[str, list[str]]", work.data["after"])[key]
        results = cast("dict[str, Data]", work.data["results"])
        # Any key becomes a valid branch name; where two become the same, the second gets a variant that is free.
        name = re.sub(r"[^A-Za-z0-9_]+", "-", key)[:MAX_NAME_LENGTH].strip("-") or "item"
        around = state.pinned
        return TreeSource(
            repository=tree.repository,
            base=tree.branch,
            commit=commit,
            branch=f"{tree.branch}-{name}",
            merge=tuple(str(results[other]["commit"]) for other in after),
            copy=around.copy if around is not None else (),
            setup=around.setup if around is not None else (),
            setup_timeout=around.setup_timeout if around is not None else 600,
        )

    def _collect_item(self, work: WorkState, key: str, child: str) -> ItemEnded | None:
        found = state_of(self.log, child)
        if found.status not in OVER:
            return None
        good = found.status == "succeeded"
        commit = "" if found.tree is None else self._commit(found, found.tree)
        named: JsonValue = cast("JsonValue", run_outputs.results_of(plan_of(self.log, found.plan), found))
        last = found.steps.get(found.previous)
        result = fan_out.result_of(
            key,
            _item(work, key),
            "succeeded" if good else "failed",
            branch="" if found.tree is None else found.tree.branch,
            commit=commit,
            output=named or (None if last is None else last.output),
            error="" if good else found.message or found.status,
            cost=found.spent.usd,
            after=cast("JsonValue", cast("dict[str, list[str]]", work.data["after"])[key]),
            run=child,
        )
        # What names a file in it may be read by a later step; a failed one may be tried again, and people look at it.
        if good and found.tree is not None and found.tree.path not in json.dumps(result):
            with suppress(WorkspaceFault, OSError):
                self.workspaces.release(found.tree, child)
        return ItemEnded(address=work.address, key=key, result=result, spent=asdict(found.spent), at=self.clock())

    def _commit(self, found: RunState, tree: Tree) -> str:
        """Commit what an item left; its worktree is gone where we died before the result was recorded."""
        if self.workspaces.is_there(tree):
            return self.workspaces.commit(tree, add_run_trailer(work_title(found), found.run))
        return self.workspaces.released_commit(tree, found.files)


def _item(work: WorkState, key: str) -> JsonValue:
    keys = cast("list[str]", work.data["keys"])
    return cast("list[JsonValue]", work.data["items"])[keys.index(key)]
