"""Drives one run: fold, decide, record, perform, again. The loop of `drive` is the whole of it.

1. Only the holder of the lease appends; a driver that lost it stops at once, and leaves what runs to the next holder.
2. The outcome of a step and the intent of the next are one commit.
3. What was begun before a crash is looked for before anything is begun again.
4. What a message ends (a stop, a rewind, a pause) is over, processes and child runs included, before that is recorded.
5. A driver returns when the run needs the outside: a person, a time, a child. Waiting costs nothing.
"""

import asyncio
from dataclasses import dataclass, field

from handrail.model.events import ChildStarted, Event, RunBlocked, StepBegan, StepEnded
from handrail.model.plan import Plan
from handrail.model.run import Pending, RunState
from handrail.ports.log import Holder, Lease, Log
from handrail.runtime.dynamic import FlowHandler
from handrail.runtime.handlers.children import ChildHandler, is_over
from handrail.runtime.handlers.commands import CommandHandler
from handrail.runtime.histories import folded, plan_of
from handrail.runtime.outside import message
from handrail.runtime.ports import Clock
from handrail.runtime.recording import Recorder

LOOK_EVERY = 0.05
"""Seconds between looks at the inbox while an effect runs."""


@dataclass(frozen=True, slots=True)
class Performed:
    """What became of an effect: nothing yet when a message ended it."""

    state: RunState
    caused: tuple[Event, ...] = ()


@dataclass(slots=True)
class Driver:
    """One run in hand."""

    log: Log
    lease: Lease
    commands: CommandHandler
    children: ChildHandler
    clock: Clock
    recorder: Recorder = field(init=False)
    flows: FlowHandler = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = Recorder(self.log, self.lease, self.clock)
        self.flows = FlowHandler(self.clock)

    async def drive(self) -> RunState:
        """Go on until the run is over or needs the outside."""
        state, self.recorder.checkpointed = folded(self.log, self.lease.stream)
        plan = plan_of(self.log, state.plan)
        performed: Performed | None = Performed(state)
        while performed is not None:
            state = await self._record(plan, performed.state, performed.caused)
            performed = await self._perform(plan, state)
        self._tell_parent(state)
        return state

    async def _record(self, plan: Plan, state: RunState, caused: tuple[Event, ...]) -> RunState:
        """Commit what happened and what follows from it, after what it gives up has ended."""
        turn = self.recorder.turn(plan, state, caused)
        for pending in turn.given_up:
            await self._end(state, pending)
        return self.recorder.commit(turn)

    async def _perform(self, plan: Plan, state: RunState) -> Performed | None:
        """Perform what is pending; None when only the outside can go on."""
        pending = state.pending
        if state.status != "running":
            return None
        if pending is None:
            # A long walk through the plan is recorded in parts; others may go on in between.
            await asyncio.sleep(0)
            return Performed(state)
        began = self.recorder.intent(state.run, pending.seq)
        if isinstance(began, ChildStarted):
            outcome = self.children.perform(state, pending, began)
            return None if outcome is None else Performed(state, (outcome,))
        if state.held_by or not isinstance(began, StepBegan):
            return None
        if began.action == "dynamic":
            return Performed(state, await self.flows.perform(plan, state, pending))
        effect = asyncio.ensure_future(self.commands.perform(state, pending, began))
        try:
            # What is over at once needs no watching.
            await asyncio.sleep(0)
            return await self._watch(plan, state, effect)
        finally:
            if not effect.done():
                effect.cancel()
                await asyncio.gather(effect, return_exceptions=True)

    async def _watch(self, plan: Plan, state: RunState, effect: "asyncio.Future[StepEnded | RunBlocked]") -> Performed:
        """Wait for an effect; messages that leave it alone are recorded meanwhile, any other takes it away."""
        seen: int | None = None
        while not effect.done() and not (await asyncio.wait({effect}, timeout=LOOK_EVERY))[0]:
            before, seen = seen, self.log.changed()
            if seen == before or not self.log.inbox(state.run, limit=1):
                continue
            turn = self.recorder.turn(plan, state)
            if turn.given_up:
                return Performed(state)
            state = self.recorder.commit(turn)
        return Performed(state, (effect.result(),))

    async def _end(self, state: RunState, pending: Pending) -> None:
        """End what was begun, so that nothing of it is left when the run says so."""
        if pending.kind == "child":
            await self._end_child(state, pending)
        elif pending.kind == "step":
            began = self.recorder.intent(state.run, pending.seq)
            if isinstance(began, StepBegan):
                await self.commands.stop(state, pending, began)

    async def _end_child(self, state: RunState, pending: Pending) -> None:
        """Stop a child run: whoever drives it sees the stop, and if nobody does we drive it to its end."""
        child = pending.child
        while self.log.last(child).seq and not is_over(self.log, child):
            self.log.send(child, f"stop:parent:{state.run}:{pending.seq}", message("stop", by=state.run))
            lease = self.log.acquire(child, self.lease.holder)
            if isinstance(lease, Holder):
                await asyncio.sleep(LOOK_EVERY)
                continue
            try:
                await Driver(self.log, lease, self.commands, self.children, self.clock).drive()
            finally:
                self.log.release(lease)

    def _tell_parent(self, state: RunState) -> None:
        """Wake the parent of a run that is over; if we die before that, the parent looks for itself."""
        if state.parent is not None and state.status in ("succeeded", "failed", "cancelled"):
            key = f"child-ended:{state.run}:{state.seq}"
            self.log.send(state.parent.run, key, message("child_ended", child=state.run))
