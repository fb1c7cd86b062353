"""Performs a step of any kind and concludes it: its proofs are tried, and a snapshot of the worktree is taken."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from handrail.engine.prompts.conversation_summary import format_changed_files, needs_changed_files
from handrail.engine.state.agent_calls import GUIDED
from handrail.engine.state.position import find_current_step
from handrail.engine.state.scope import MissingDiff, evaluate_expression, value_of
from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import (
    Event,
    FilesCompared,
    ItemEnded,
    QuestionAsked,
    StepBegan,
    StepEnded,
    StepRefused,
    TreeRestored,
    WorkReported,
    WorkspaceReady,
)
from handrail.model.history.run_state import Pending, RunState
from handrail.model.names import make_identifier
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.proofs import FilesProof
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import is_played
from handrail.ports.workspaces import Snapshot
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.runtime.handlers.commands.handler import CommandHandler, keep_intent
from handrail.runtime.handlers.proofs.file_evidence import RECORDED, ProofContext
from handrail.runtime.handlers.proofs.handler import ProofHandler
from handrail.runtime.handlers.proofs.results import feedback, record
from handrail.runtime.handlers.trees import TreeHandler, run_in_thread

if TYPE_CHECKING:
    from handrail.engine.decide import judge_agent_step as demanded
    from handrail.runtime import recorded_diffs
    from handrail.runtime.handlers import guided
    from handrail.runtime.handlers.commands import required_programs
    from handrail.runtime.handlers.items import ItemHandler
    from handrail.runtime.handlers.trackers.handler import TrackerHandler
else:
    demanded = late_import("handrail.engine.decide.judge_agent_step")
    recorded_diffs = late_import("handrail.runtime.recorded_diffs")
    guided = late_import("handrail.runtime.handlers.guided")
    required_programs = late_import("handrail.runtime.handlers.commands.required_programs")

STEP_OUTCOMES = StepEnded | StepRefused | QuestionAsked | ItemEnded | WorkspaceReady | TreeRestored
"""Outcomes of a step, of the runs that it started, or of making a worktree."""
TREE_STEPS = frozenset({"commit", "merge"})
TRACKER_STEPS = frozenset({"pull-request", "create-issues"})
TRACKED = frozenset({"title", "items"})
"""Keys of the intent of such a step; one that the holder of the run began to perform has neither."""


@frozen
class StepHandler:
    """Performs steps."""

    commands: CommandHandler
    agents: AgentHandler
    trees: TreeHandler
    proofs: ProofHandler
    make_items: "Callable[[], ItemHandler]"
    """Creates the handler of fan-outs, which most runs do not need."""
    make_trackers: "Callable[[], TrackerHandler]"
    """Creates the handler of pull requests and issues, which most runs do not need either."""

    @property
    def items(self) -> "ItemHandler":
        """The handler of fan-outs."""
        return self.make_items()

    @property
    def agent_names(self) -> AgentNames:
        """The names by which people call the agents that perform steps here."""
        return self.agents.agents.catalog.names

    async def settle(self, state: RunState) -> WorkspaceReady | TreeRestored:
        """Bring the worktree to the state that the run expects."""
        return await self.trees.settle(state)

    def needs_settling(self, state: RunState) -> bool:
        """Whether the files are not in the state that the run expects, and somebody may still need them."""
        if state.status == "running":
            unseen = state.tree is not None and not state.snapshot
            return bool(state.restore) or state.source is not None or unseen or self.trees.is_gone(state)
        return bool(state.restore) and state.status in ("waiting", "blocked")

    async def perform(self, plan: Plan, state: RunState, pending: Pending, began: StepBegan) -> tuple[Event, ...]:
        """Perform a step, conclude it, and add what a person should know of it."""
        step = _step(plan, state)
        self.trees.note_step(state)
        if began.action == "agent":
            self._require_programs(plan, state, pending, began)
            event = await self.agents.perform(state, pending, began, None if step is None else step.returns)
        elif began.action in TREE_STEPS:
            event = await self.trees.perform(state, pending, began)
        elif began.action in TRACKER_STEPS and TRACKED & began.spec.keys():
            event = await self.make_trackers().perform(plan, state, pending, began)
        else:
            event = await self.commands.perform(state, pending, began)
        if not isinstance(event, StepEnded):
            return await self.add_notices(state, (event,))
        return await self.add_notices(state, await self._judge_outcome(plan, state, step, began, event))

    async def conclude(
        self, plan: Plan, state: RunState, pending: Pending, began: StepBegan, report: WorkReported
    ) -> tuple[Event, ...]:
        """Verify what a connected agent submitted."""
        step = _step(plan, state)
        if began.action in GUIDED:
            events = guided.conclude(plan, state, pending, report, self.trees.clock())
            return await self._verify_guided(plan, state, pending, began, events)
        event = self.agents.judge_report(pending, began, report, None if step is None else step.returns)
        return await self._judge_outcome(plan, state, step, began, event)

    async def _judge_outcome(
        self, plan: Plan, state: RunState, step: Step | None, began: StepBegan, ended: StepEnded
    ) -> tuple[Event, ...]:
        """Check an outcome against the demands of its step, then against its proofs."""
        demands = began.spec.get("assessments") or began.spec.get("capabilities")
        events: tuple[Event, ...] = (ended,)
        if demands and step is not None and (ended.status == "succeeded" or "feedback" in ended.details):
            events = demanded.judge_agent_step(plan, state, step, ended)
        over = next(each for each in events if isinstance(each, StepEnded))
        kept = await self._record_changed_files(plan, state, await self._prove_and_snapshot(state, step, began, over))
        return tuple(kept if each is over else each for each in events)

    async def guide(
        self, plan: Plan, state: RunState, pending: Pending, began: StepBegan, refused: StepRefused | None
    ) -> tuple[Event, ...]:
        """Perform a guided step, and keep the worktree."""
        self.trees.note_step(state)
        events = await guided.GuidedHandler(self.agents).perform(plan, state, pending, began, refused)
        events = await self._verify_guided(plan, state, pending, began, events)
        return tuple([await self._attach_snapshot(state, each) for each in events])

    async def _verify_guided(
        self, plan: Plan, state: RunState, pending: Pending, began: StepBegan, events: tuple[Event, ...]
    ) -> tuple[Event, ...]:
        """Let a guided step be over only if its proof holds; otherwise refuse it, as for any other demand."""
        step = _step(plan, state)
        ended = next((each for each in events if isinstance(each, StepEnded) and each.status == "succeeded"), None)
        if step is None or not step.done_when or ended is None:
            return events
        taken = await self.trees.snapshot(state, _snapshot_before(state, ended.address))
        proven = await self._prove_step(state, step, began, ended, "" if taken is None else taken.tree)
        if proven.status == "succeeded":
            return tuple(proven if each is ended else each for each in events)
        return guided.refuse_without_proof(state, pending, events, proven)

    async def add_notices(self, state: RunState, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """Add to an outcome what it changed in the settings by which the user's git starts programs."""
        if not any(isinstance(each, STEP_OUTCOMES) for each in events):
            return events
        ready = next((each.tree for each in events if isinstance(each, WorkspaceReady)), None)
        lacks = () if ready is None else await self.trees.report_unused_filters(state, ready)
        return (*events, *lacks, *await self.trees.look_at_settings(state, ready or state.tree))

    async def stop(self, state: RunState, pending: Pending, began: StepBegan) -> None:
        """End every process that a step started, with all descendants."""
        await self.commands.stop(state, pending, began)
        await self.proofs.stop(state.run, pending.seq)
        if began.action == "agent":
            await self.agents.stop(state, pending, began)
        elif began.action in GUIDED:
            await guided.GuidedHandler(self.agents).stop(state, pending, began)
        # A later run of the repository has to know what the stopped step did.
        with suppress(WorkspaceFault):
            await self.trees.look_at_settings(state, state.tree)

    def find_step_to_record(self, plan: Plan, state: RunState) -> Step | None:
        """Return the step that begins, where it must leave ignored files alone: they are recorded first."""
        step = _step(plan, state)
        proofs = () if step is None else step.done_when
        return step if any(isinstance(each, FilesProof) and each.ignored for each in proofs) else None

    def _require_programs(self, plan: Plan, state: RunState, pending: Pending, began: StepBegan) -> None:
        """Stop before the first call that costs anything, where a program is missing that the run needs later."""
        first = not state.spent.agent_calls and not self.agents.has_begun(state, pending, began)
        # In a workflow's tests other commands run, and played agents cost nothing.
        if first and self.commands.instead is keep_intent and not is_played(began.spec.get("agent")):
            variables = self.agents.starts.environments.environment_of(state.run).variables(state.pass_env)
            required_programs.require_programs(plan, state, variables)

    async def _attach_snapshot(self, state: RunState, event: Event) -> Event:
        """Take a snapshot of the files as a call left them; work on a refused result continues there."""
        if not isinstance(event, StepEnded | StepRefused):
            return event
        taken = await self.trees.snapshot(state, _snapshot_before(state, event.address))
        if taken is None:
            return event
        return replace(event, details={**event.details, **_snapshot_details(taken)})

    async def _prove_and_snapshot(
        self, state: RunState, step: Step | None, began: StepBegan, ended: StepEnded
    ) -> StepEnded:
        before = _snapshot_before(state, ended.address)
        taken = await self.trees.snapshot(state, before)
        if step is not None and step.done_when and ended.status == "succeeded":
            ended = await self._prove_step(state, step, began, ended, "" if taken is None else taken.tree)
            # Checks may leave files behind: the snapshot must hold what the next step finds.
            taken = await self.trees.snapshot(state, before)
        return ended if taken is None else replace(ended, details={**ended.details, **_snapshot_details(taken)})

    async def _record_changed_files(self, plan: Plan, state: RunState, ended: StepEnded) -> StepEnded:
        """Record which files a step changed, where a later prompt mentions them."""
        before = state.steps[ended.address].before
        is_same = ended.details.get("files") == state.files and before == state.snapshot
        if ended.status == "failed" or is_same or not needs_changed_files(plan):
            return ended
        paths = await self.trees.list_changed_paths(state, before)
        return replace(ended, details={**ended.details, "changed": format_changed_files(paths)}) if paths else ended

    async def _prove_step(
        self, state: RunState, step: Step, began: StepBegan, ended: StepEnded, tree: str
    ) -> StepEnded:
        given = began.spec.get("input")
        names: dict[str, JsonValue] = {**given} if isinstance(given, dict) else {}
        if step.output:
            names[make_identifier(step.output)] = ended.output
        if "steps" in repr(step.done_when):
            # A cheap test first: few proofs name another step.
            state = await recorded_diffs.load_diffs(self.trees, state, step, names)
        before = state.steps[ended.address].before
        changed = await self.trees.list_changed_paths(state, before)
        ctx = replace(_proof_context(state, step, ended, names), tree=tree, changed=lambda: changed)
        ctx = replace(ctx, ignored=partial(self.trees.list_ignored_files, state))
        if RECORDED in began.spec:
            ctx = replace(ctx, differing=partial(self._list_differing_files, state, began))
        results = await self.proofs.establish(ctx)
        details: dict[str, JsonValue] = {**ended.details, "proofs": [record(each) for each in results]}
        bad = [each for each in results if not each.ok]
        if not bad:
            return replace(ended, details=details)
        error = "; ".join(f"not proven: {each.what}" for each in bad)
        return replace(ended, status="failed", error=error, details={**details, "feedback": feedback(results)})

    async def _list_differing_files(self, state: RunState, began: StepBegan, globs: tuple[str, ...]) -> tuple[str, ...]:
        """List the files that differ from what was recorded when a step began."""
        known = cast("dict[str, Any]", began.spec[RECORDED])
        unknown = [glob for glob in globs if glob not in known["globs"]]
        if unknown:
            raise WorkspaceFault(f"{', '.join(unknown)} was not among the globs when the step started")
        return await self.trees.list_differing_files(state, globs, str(known["record"]))


def _step(plan: Plan, state: RunState) -> Step | None:
    """Return the step of the plan that is performed; None for a part of a composite step."""
    return None if state.stack[-1].work is not None or state.flow is not None else find_current_step(plan, state)[0]


def _snapshot_before(state: RunState, address: str) -> str:
    """Return the snapshot on which a step began."""
    known = state.steps.get(address)
    return state.snapshot if known is None else known.before or state.snapshot


def _snapshot_details(taken: Snapshot) -> dict[str, JsonValue]:
    omitted: dict[str, JsonValue] = {"omitted": list(taken.omitted)} if taken.omitted else {}
    return {"snapshot": taken.id, "files": taken.tree, "head": taken.head, **omitted}


def _proof_context(state: RunState, step: Step, ended: StepEnded, names: Mapping[str, JsonValue]) -> ProofContext:
    known = state.steps[ended.address]
    return ProofContext(
        run=state.run,
        seq=ended.began,
        workspace=state.workspace,
        tree="",
        proofs=step.done_when,
        evaluate=lambda expression: evaluate_expression(expression, state, names),
        value=lambda value: value_of(value, state, names),
        changed=tuple,
        timeout=step.timeout,
        project=state.project,
        began_at=known.began_at,
    )


MAX_DIFF_LINES = 1000
MAX_DIFF_BYTES = 60_000
"""What fits into one variable of a command's environment, for which the kernel allows at most 131,072 bytes."""


async def compare(trees: TreeHandler, wanted: MissingDiff, run: str) -> FilesCompared:
    """Compute the difference between two snapshots; of a large one the beginning is recorded."""
    try:
        text = await run_in_thread(trees.workspaces.readable_diff, wanted.tree, wanted.since, wanted.until)
    except (WorkspaceFault, OSError) as error:
        text = f"(the difference cannot be read: {error})\n"
    command = f"handrail diff {run} {wanted.step}".rstrip()
    return FilesCompared(since=wanted.since, until=wanted.until, diff=limit_diff(text, command), at=trees.clock())


def limit_diff(text: str, command: str) -> str:
    """Return the beginning of a difference that is too large to be stored, and the command that shows the rest."""
    lines = text.splitlines(keepends=True)
    room, kept = MAX_DIFF_BYTES, 0
    for line in lines[:MAX_DIFF_LINES]:
        room -= len(line.encode(errors="replace"))
        if room < 0:
            break
        kept += 1
    if kept == len(lines):
        return text
    return f"{''.join(lines[:kept])}... {len(lines) - kept} more lines: {command}\n"
