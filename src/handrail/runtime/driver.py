"""Drives one run: fold, decide, record, perform, again. The loop of `drive` is the whole of it.

1. Only the holder of the lease appends; a driver that lost it stops at once.
2. The outcome of a step and the intent of the next are one commit.
3. What was begun before a crash is looked for before anything is begun again.
4. A driver returns when the run needs the outside: a person, a time, a child. Waiting costs nothing.
"""

import asyncio
from dataclasses import dataclass

from handrail.engine.advance import advance
from handrail.engine.apply import apply
from handrail.engine.snapshots import encode_state
from handrail.model.events import ChildStarted, Event, StepBegan, StepEnded
from handrail.model.plan import Plan
from handrail.model.run import REDUCER, RunState
from handrail.ports.log import Append, Checkpoint, Lease, Log, TimerCleared, TimerSet
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands import CommandHandler
from handrail.runtime.histories import plan_of, state_of
from handrail.runtime.outside import message, timed_out, understood
from handrail.runtime.ports import Clock
from handrail.runtime.records import from_log, to_log
from handrail.runtime.summaries import summary_of

CHECKPOINT_EVERY = 200
LOOK_EVERY = 0.05
"""Seconds between looks at the inbox while an effect runs."""


@dataclass(slots=True)
class Driver:
    """One run in hand."""

    log: Log
    lease: Lease
    commands: CommandHandler
    children: ChildHandler
    clock: Clock
    checkpointed: int = 0

    async def drive(self) -> RunState:
        """Go on until the run is over or needs the outside."""
        state = state_of(self.log, self.lease.stream)
        plan = plan_of(self.log, state.plan)
        caused: list[Event] = []
        while True:
            state = self._record(plan, state, caused)
            if state.pending is None or state.status != "running" or state.held_by:
                self._tell_parent(state)
                return state
            outcome = await self._perform(plan, state)
            if outcome is None:
                return state
            caused = [] if isinstance(outcome, RunState) else [outcome]
            state = outcome if isinstance(outcome, RunState) else state

    def _record(self, plan: Plan, state: RunState, caused: list[Event]) -> RunState:
        """Commit what happened and what follows from it, with the messages that this answers."""
        now = self.clock()
        expected, events = state.seq, list(caused)
        for event in caused:
            state = apply(state, event, state.seq + 1, self.log.get_blob)
        messages = self.log.inbox(state.run)
        said, state = understood(self.log, plan, state, messages, now)
        fired, state = self._timers(state, now)
        moved = advance(plan, state, now, self.log.get_blob)
        events += [*said, *fired, *moved.events]
        state = moved.state
        if events or messages:
            self._append(state, expected, events, tuple(each.id for each in messages))
        return state

    def _timers(self, state: RunState, now: float) -> tuple[list[Event], RunState]:
        fired: list[Event] = []
        for timer in self.log.due(now):
            event = timed_out(state, timer.key, now) if timer.stream == state.run else None
            if event is not None:
                state = apply(state, event, state.seq + 1, self.log.get_blob)
                fired.append(event)
        return fired, state

    def _append(self, state: RunState, expected: int, events: list[Event], consumed: tuple[int, ...]) -> None:
        checkpoint = None
        if state.seq - self.checkpointed >= CHECKPOINT_EVERY:
            checkpoint = Checkpoint(state.run, state.seq, REDUCER, encode_state(state))
            self.checkpointed = state.seq
        append = Append(
            state.run,
            expected,
            tuple(to_log(event) for event in events),
            consumed,
            checkpoint,
            _timers_of(state),
            summary_of(state),
        )
        self.log.append([append], [self.lease])

    async def _perform(self, plan: Plan, state: RunState) -> StepEnded | RunState | None:
        """Perform what is pending; a message that changes the run ends the effect and gives the state after it."""
        pending = state.pending
        began = from_log(self.log.read(state.run, after=pending.seq - 1, limit=1)[0]) if pending is not None else None
        if pending is None or began is None:
            return None
        if isinstance(began, ChildStarted):
            return self.children.perform(state, pending, began)
        if not isinstance(began, StepBegan):
            return None
        effect = asyncio.ensure_future(self.commands.perform(state, pending, began))
        seen = -1
        while not (await asyncio.wait({effect}, timeout=LOOK_EVERY))[0]:
            seen, before = self.log.changed(), seen
            if seen != before and self.log.inbox(state.run, limit=1):
                after = self._record(plan, state, [])
                if after.pending != pending or after.status != "running":
                    effect.cancel()
                    await self.commands.stop(state, pending)
                    return after
                state = after
        return effect.result()

    def _tell_parent(self, state: RunState) -> None:
        parent = state.parent
        if parent is None or state.status not in ("succeeded", "failed", "cancelled"):
            return
        outputs = dict(state.names.items())
        said = message("child_ended", child=state.run, status=state.status, outputs=outputs, message=state.message)
        self.log.send(parent.run, f"child-ended:{state.run}:{state.seq}", said)


def _timers_of(state: RunState) -> tuple[TimerSet | TimerCleared, ...]:
    """The one timer that a waiting run may have."""
    for key, reason in (("retry", "timer"), ("approval", "approval")):
        if state.status == "waiting" and state.reason == reason and state.until is not None:
            return (TimerSet(key, state.until),)
    return (TimerCleared("retry"), TimerCleared("approval"))
