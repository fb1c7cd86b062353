"""Drives one run: fold, decide, record, perform, and again. The whole loop is `drive`.

The problem: steps take minutes to hours and have effects that cannot be taken back, while this process may die at any
point. So the run is nothing but its log. Folding the log gives the state, a pure function (`engine.decide.advance`)
decides what comes next, and the decision is recorded as an *intent* before it is performed. In each turn of the loop
the run is in one of these situations:

    the files are not in the    restore or make the worktree, and record that
    state that the run expects
    nothing is pending          record the next decision (a long walk through the plan is recorded in parts)
    an intent is pending        perform it, or adopt what an earlier driver started, and record the outcome together
                                with the next intent
    only the outside can move   return: a person, a time, a child run or another run has to move first, or the run
    the run                     is over

It is safe because a crash at any point leaves at most an intent without an outcome, which the next driver finds:

1. Only the holder of the lease appends; a driver that lost it stops at once, and leaves running work to the next one.
2. The outcome of a step and the intent of the next step are one commit.
3. What was started before a crash is looked for before anything is started again.
4. What a message ends (a stop, a rewind, a pause) is over, processes and child runs included, before that is recorded.
5. A driver returns when the run needs the outside: a person, a time, a child. Waiting costs nothing.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from handrail.engine.state.agent_calls import GUIDED, is_for_holder, is_holders
from handrail.engine.state.scope import MissingDiff
from handrail.errors import MessagesWaiting
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import (
    ChildStarted,
    Event,
    FilesCompared,
    RunReleased,
    StepBegan,
    StepRefused,
    WorkReported,
    WorkspaceReady,
)
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.agent_names import NO_AGENT_NAMES
from handrail.model.workflow.plan import Plan
from handrail.ports.environments import RunEnvironment, RunEnvironments
from handrail.ports.log import Holder, Lease, Log
from handrail.runtime.handlers.children import ChildHandler, is_over
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.proofs.file_evidence import RECORDED
from handrail.runtime.handlers.steps import TRACKER_STEPS, StepHandler, compare
from handrail.runtime.history import StateCache, is_readable, plan_of
from handrail.runtime.ports import Clock, Flows, is_set
from handrail.runtime.recorder import PendingCommit, Recorder
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.watched_effect import POLL_INTERVAL, EffectWatch

if TYPE_CHECKING:
    from handrail.runtime import admission, recorded_files
    from handrail.runtime.dynamic import handler as dynamic
    from handrail.runtime.watcher import Watcher
else:
    recorded_files = late_import("handrail.runtime.recorded_files")
    dynamic = late_import("handrail.runtime.dynamic.handler")

YIELD_INTERVAL = 0.01
"""Seconds after which other tasks get their turn, however fast the steps of a run are."""


class EffectResult(NamedTuple):
    """The result of performing an effect: no events yet when a message ended it."""

    state: RunState
    caused: tuple[Event, ...] = ()


@frozen
class Handlers:
    """Everything that performs the effects of runs, and the environments in which it does so."""

    environments: RunEnvironments
    commands: CommandHandler
    children: ChildHandler
    flows: Flows
    steps: StepHandler | None = None
    """Performs every step that is more than a command; without it only commands are performed."""


@dataclass(slots=True)
class Driver:
    """Drives one run, whose lease it holds."""

    log: Log
    lease: Lease
    handlers: Handlers
    clock: Clock
    known: StateCache = field(default_factory=StateCache)
    environment: RunEnvironment = field(init=False)
    writer: RunWriter = field(init=False)
    """Sends messages to other runs."""
    recorder: Recorder = field(init=False)
    places: "Callable[[], admission.AdmissionSlots] | None" = None
    """Where the run asks to be admitted, if it has to."""
    flows: "dynamic.FlowHandler | None" = None
    """Performs dynamic steps; created for the first one."""
    watcher: "Watcher | None" = None
    """Tells of changes of the log; without it the driver asks for them."""
    watch: EffectWatch = field(init=False)
    _seen: int | None = None
    """The change token of the log at the last check."""

    def __post_init__(self) -> None:
        self.environment = self.handlers.environments.environment_of(self.lease.stream)
        self.writer = RunWriter(self.log, self.environment.redactor)
        names = NO_AGENT_NAMES if self.handlers.steps is None else self.handlers.steps.agent_names
        self.recorder = Recorder(
            self.log, self.lease, self.clock, self.writer.redactor, known=self.known, agent_names=names
        )
        self.recorder.places, self.recorder.writer = self.places, self.writer
        self.recorder.held = None if self.handlers.steps is None else self.handlers.steps.agents.blobs

    async def drive(self) -> RunState:
        """Drive the run until it is over or needs the outside."""
        found = self.known.fold_run(self.log, self.lease.stream)
        state, self.recorder.checkpointed = found.state, found.checkpointed
        plan = plan_of(self.log, state.plan)
        performed: EffectResult | None = EffectResult(state)
        self.watch = EffectWatch(partial(self._look, plan), self.clock, self.watcher)
        steady = asyncio.get_running_loop().time
        breath = steady() + YIELD_INTERVAL
        try:
            while performed is not None:
                state = await self._record(plan, performed.state, performed.caused)
                if steady() > breath:
                    await asyncio.sleep(0)
                    breath = steady() + YIELD_INTERVAL
                performed = None if state.status == "queued" else await self._perform(plan, state)
        finally:
            self.watch.close()
            if self.flows is not None:
                self.flows.close()
        self._tell_parent(state)
        return state

    async def _record(self, plan: Plan, state: RunState, caused: tuple[Event, ...]) -> RunState:
        """Commit what happened and what follows from it, after ending the work that it gives up."""
        # An outcome is recorded without reading the inbox: the log checks more cheaply that it is empty.
        look = not caused
        while True:
            try:
                turn = self.recorder.turn(plan, state, caused, look=look)
            except MissingDiff as wanted:
                caused = (*caused, await self._compare_files(state.run, wanted))
                continue
            for pending in turn.given_up:
                await self._end(state, pending)
            try:
                return self.recorder.commit(await self._record_ignored_files(plan, turn))
            except MessagesWaiting:
                look = True

    async def _compare_files(self, run: str, wanted: MissingDiff) -> FilesCompared:
        """Compute the difference between two snapshots, which the next decision reads."""
        if self.handlers.steps is not None:
            return await compare(self.handlers.steps.trees, wanted, run)
        return FilesCompared(since=wanted.since, until=wanted.until, diff="", at=self.clock())

    async def _record_ignored_files(self, plan: Plan, turn: PendingCommit) -> PendingCommit:
        """Record the ignored files that a step must leave alone, before the event that begins the step."""
        steps = self.handlers.steps
        if steps is None or not turn.events or not isinstance(turn.events[-1], StepBegan):
            return turn
        step = steps.find_step_to_record(plan, turn.state)
        return turn if step is None else await recorded_files.attach_file_record(steps.trees, self.recorder, step, turn)

    async def _perform(self, plan: Plan, state: RunState) -> EffectResult | None:
        """Perform what is pending; None when only the outside can move the run."""
        pending = state.pending
        if self.handlers.steps is not None and self.handlers.steps.needs_settling(state):
            return await self._perform_watched(self._settle_files(state), state)
        if state.status != "running":
            return None
        if pending is None:
            # A long walk through the plan is recorded in parts.
            return EffectResult(state)
        began = self._find_intent(state, pending)
        if pending.kind == "items" and self.handlers.steps is not None:
            ended = await self.handlers.steps.items.perform(plan, state)
            return EffectResult(state, await self._add_notices(state, ended)) if ended else None
        if isinstance(began, ChildStarted):
            outcome = self.handlers.children.perform(state, pending, began)
            return None if outcome is None else EffectResult(state, await self._add_notices(state, (outcome,)))
        if not isinstance(began, StepBegan) or (is_holders(state, pending.action) and not pending.reported):
            return None
        if is_for_holder(began) and not state.held_by:
            # In a copy of a run that somebody held: the engine begins the step again, with a call of its own.
            return EffectResult(state, (RunReleased(by="", at=self.clock()),))
        return await self._perform_watched(self._perform_effect(plan, state, pending, began), state)

    async def _perform_watched(self, work: "Coroutine[Any, Any, tuple[Event, ...]]", state: RunState) -> EffectResult:
        after, caused = await self.watch.run_work(work, state)
        return EffectResult(after, caused or ())

    def _look(self, plan: Plan, state: RunState) -> RunState | None:
        """Record messages that do not affect the work under way; None where one ends it."""
        before, self._seen = self._seen, self.log.change_token()
        quiet = self._seen == before or not self.log.inbox(state.run, limit=1)
        late = state.deadline is not None and state.deadline <= self.clock()
        if quiet and not late and (state.pending is None or not is_set(self.clock, state)):
            return state
        try:
            turn = self.recorder.turn(plan, state)
        except MissingDiff:
            # The message lets the run go on to something that reads a difference, which `_record` can compute.
            return None
        ends = turn.given_up or (state.pending is None and turn.events)
        return None if ends else self.recorder.commit(turn)

    async def _perform_effect(
        self, plan: Plan, state: RunState, pending: Pending, began: StepBegan
    ) -> tuple[Event, ...]:
        if began.action == "dynamic":
            if self.flows is None:
                self.flows = dynamic.FlowHandler(
                    self.clock,
                    self.environment,
                    self.handlers.flows,
                    self.handlers.commands.folder,
                    lambda plan: self.log.put_blob(self.writer.redactor.data(plan, forms=False)),
                )
            return await self.flows.perform(plan, state, pending)
        if self.handlers.steps is None:
            return (await self.handlers.commands.perform(state, pending, began),)
        if pending.reported:
            report = cast("WorkReported", self.recorder.intent(state.run, pending.reported))
            return await self._add_notices(
                state, await self.handlers.steps.conclude(plan, state, pending, began, report)
            )
        if began.action in GUIDED:
            newest = self.recorder.intent(state.run, pending.seq)
            refused = newest if isinstance(newest, StepRefused) else None
            return await self._add_notices(state, await self.handlers.steps.guide(plan, state, pending, began, refused))
        events = await self.handlers.steps.perform(plan, state, pending, began)
        if began.action in TRACKER_STEPS:
            self._learn_secrets()
        return events

    def _learn_secrets(self) -> None:
        """Let the recorder remove the token that was found for the run, if it is in no variable."""
        self.writer = self.recorder.writer = RunWriter(self.log, self.environment.redactor)
        self.recorder.redactor = self.writer.redactor

    async def _add_notices(self, state: RunState, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """Add to an outcome what a person should know about it."""
        return events if self.handlers.steps is None else await self.handlers.steps.add_notices(state, events)

    def _find_intent(self, state: RunState, pending: Pending) -> Event:
        """Return the intent of what is pending; a refused step is pending under a different number."""
        seq = state.steps[pending.address].began if pending.kind == "step" else pending.seq
        return self.recorder.intent(state.run, seq)

    async def _settle_files(self, state: RunState) -> tuple[Event, ...]:
        if self.handlers.steps is None:
            return ()
        began = None
        if state.pending is not None and state.pending.kind == "step":
            await self._end(state, state.pending)
            began = self._find_intent(state, state.pending)
        settled = await self.handlers.steps.settle(state)
        if isinstance(settled, WorkspaceReady) and isinstance(began, StepBegan) and RECORDED in began.spec:
            # The files recorded when the step began are not in the new worktree: the step begins again.
            settled = replace(settled, again=True)
        return await self._add_notices(state, (settled,))

    async def _end(self, state: RunState, pending: Pending) -> None:
        """End what was started, so that nothing of it is left when the run records that."""
        if pending.kind == "child":
            await self._end_child(state, pending.child, pending.seq)
        elif pending.kind == "items" and self.handlers.steps is not None:
            for child in self.handlers.steps.items.list_running(state):
                await self._end_child(state, child, pending.seq)
        elif pending.kind == "step":
            began = self._find_intent(state, pending)
            if isinstance(began, StepBegan):
                await (self.handlers.steps or self.handlers.commands).stop(state, pending, began)

    async def _end_child(self, state: RunState, child: str, seq: int) -> None:
        """Stop a child run: its driver sees the stop, and if it has none we drive it to its end."""
        while self.log.last(child).seq and is_readable(self.log, child) and not is_over(self.log, child):
            self.writer.send(child, f"stop:parent:{state.run}:{seq}", "stop_with", around=state.run)
            lease = self.log.acquire(child, self.lease.holder)
            if isinstance(lease, Holder):
                await asyncio.sleep(POLL_INTERVAL)
                continue
            try:
                await Driver(self.log, lease, self.handlers, self.clock, places=self.places).drive()
            finally:
                self.log.release(lease)

    def _tell_parent(self, state: RunState) -> None:
        """Wake the parent of a run that is over; if we die before that, the parent finds out when it is driven."""
        if state.parent is not None and state.status in ("succeeded", "failed", "cancelled"):
            key = f"child-ended:{state.run}:{state.seq}:{self.log.last(state.run).hash[:16]}"
            self.writer.send(state.parent.run, key, "child_ended", child=state.run)
