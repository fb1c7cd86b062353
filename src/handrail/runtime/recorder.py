"""Turns what happened to a run into one commit: outcomes, messages, timers, and everything that follows from them.

The problem: an outcome, an answer of a person and a due timer may arrive at the same moment, and the process may die
between any two writes. If they were recorded one by one, a crash could consume a message without its effect, or leave
an outcome without the decision that follows from it. So recording has two phases:

    turn     appends nothing: reads the inbox, the due timers and the clock, folds what happened in a fixed order
             (clock, messages said during the call, outcome, other messages, timers, deadline, admission), lets the
             engine decide what is next, and returns all of it as a `PendingCommit`
    commit   one append: the events with the contents that they name, the consumed messages, the timers, the
             checkpoint, the summary and new runs

Between the two the caller ends what the turn gives up. A turn that is never committed leaves the run as it was: the
next one reads the same messages and comes to the same result. Messages to other runs are sent before the commit; each
has a key, so that sending it again changes nothing.

1. A message is consumed in the append of the events it causes, or not at all.
2. What a turn would give up (a running step, a child) is named before anything is recorded, so that the caller can
end it first. If the process dies in between, the message is still there and the same turn is computed again.
3. Nothing is changed here before the log has accepted it: an append that fails leaves this object as it was.
4. What is recorded holds no secret, and what is done follows what is recorded: an agent is given the very prompt that
the log stores, so that a call which is made again after a crash is the same call.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from handrail.engine.decide.advance import advance
from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import StepTexts, encode_state
from handrail.late_import import late_import
from handrail.model.history.events import ClockNoted, Event, RunStarted
from handrail.model.history.run_state import REDUCER, Pending, RunState
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.plan import Plan
from handrail.ports.log import Append, Checkpoint, Lease, Log, NewEvent, TimerCleared
from handrail.runtime.event_records import HeldBlobs, decode_event, encode_event, redact_and_encode
from handrail.runtime.history import FoldedState, StateCache, build_first_append
from handrail.runtime.ports import Clock, adjust_to_clock, read_clock
from handrail.runtime.run_summary import TIMEOUT, summary_of, timers_of
from handrail.runtime.run_writer import InboxEffects, RunMessage, RunWriter, encode_message

if TYPE_CHECKING:
    from handrail.runtime import admission, inbox_events, run_deadline
else:
    run_deadline = late_import("handrail.runtime.run_deadline")
    inbox_events = late_import("handrail.runtime.inbox_events")

CHECKPOINT_EVERY = 2000
CHECKPOINT_SHARE = 32
"""A checkpoint costs as much as the state is large, so the next one is taken when the history has grown by this part:
the cost of checkpoints per event stays constant however long the run is, and a resume folds at most that part again.
"""
MAX_JUMPS = 8
"""How many jumps of the clock an event may be older than."""


class PendingCommit(NamedTuple):
    """What one commit would record."""

    before: RunState
    state: RunState
    """The state after it."""
    events: tuple[Event, ...]
    consumed: tuple[int, ...]
    given_up: tuple[Pending, ...]
    """Pending work that this turn ends without an outcome."""
    stale: tuple[str, ...]
    """Timers that came due and that nobody waits for any more."""
    begins: tuple[RunStarted, ...] = ()
    """Runs that are created in the same commit."""
    letters: tuple[RunMessage, ...] = ()
    """Messages to other runs, sent before the commit: sent again, if it fails."""
    looked: bool = True
    """Whether the inbox was read; if not, the log refuses the turn when the inbox is not empty."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to record."""
        return not (self.events or self.consumed or self.stale)


@dataclass(slots=True)
class Recorder:
    """Writes the log of one run."""

    log: Log
    lease: Lease
    clock: Clock
    redactor: Redactor
    """Removes the secrets of the environment in which the run works."""
    checkpointed: int = 0
    """The sequence number of the newest checkpoint."""
    known: StateCache = field(default_factory=StateCache)
    agent_names: AgentNames = field(kw_only=True)
    """The names by which people call agents here: they decide which agent performs a step."""
    _newest: tuple[int, Event] | None = None
    """The last event recorded here: usually the intent that is performed next."""
    _texts: StepTexts = field(default_factory=StepTexts)
    _written: dict[int, tuple[Event, NewEvent]] = field(default_factory=dict[int, tuple[Event, NewEvent]])
    """Serialized events of the turn, by identity."""
    _jumps: tuple[float, ...] = ()
    """By how much the clock was set while we held the run: earlier events may be reported after a jump was noted."""
    places: "Callable[[], admission.AdmissionSlots] | None" = None
    """Where a run asks for its turn; without it no run has to."""
    writer: "RunWriter | None" = None
    """Sends messages to other runs."""
    held: HeldBlobs | None = None
    """Contents that are stored together with the events that name them."""
    _timed: bool = True
    """Whether the run may have a timer; only the holder of its lease sets one."""

    def turn(self, plan: Plan, state: RunState, caused: tuple[Event, ...] = (), *, look: bool = True) -> PendingCommit:
        """Compute what has to be recorded now, without recording anything."""
        before = state
        self._written.clear()
        inbox = self.log.inbox(state.run) if look else ()
        now, noted = read_clock(self.clock, state)
        # A finished run waits for nothing, until a message asks it to go on.
        if noted is not None and state.status != "cancelled" and (not state.is_over or inbox):
            state = apply(state, noted, state.seq + 1, self.log.get_blob)
        else:
            noted = None
        jumps = (*self._jumps, *_jumps_in((noted,)))
        caused = tuple(self._clean(adjust_to_clock(event, now, jumps)) for event in caused)
        # Messages from before the end of a call is known were said during it, so they come before its outcome.
        tells = inbox and caused and not state.held_by
        words = tuple(each for each in inbox if each.key.startswith("tell:")) if tells else ()
        said = inbox_events.interpret_messages(self.log, plan, state, words, now) if words else InboxEffects((), state)
        state = said.state
        state = self.fold(state, caused)
        later = tuple(each for each in inbox if each not in words) if words else inbox
        heard = inbox_events.interpret_messages(self.log, plan, state, later, now) if later else InboxEffects((), state)
        state = heard.state
        fired, stale = (), ()
        if self._timed or state.until is not None:
            fired, stale, state = self._fire_timers(plan, state, now, 0.0 if noted is None else noted.by)
        lost = ()
        if state.deadline is not None and state.deadline <= now:
            over = run_deadline.end_late(self.log, state, now)
            lost = (state.pending,) if over and state.pending is not None else ()
            fired, state = (*fired, *over), self.fold(state, over)
        admitted = self._request_admission(state, now)
        state = self.fold(state, admitted)
        moved = advance(plan, state, now, self.log.get_blob, self.agent_names)
        decided = tuple(map(self._clean, moved.events))
        after = moved.state
        if decided != moved.events:
            after = self.fold(state, decided)
        first = () if noted is None else (noted,)
        events = (*first, *said.events, *caused, *heard.events, *fired, *admitted, *decided)
        consumed = (*said.consumed, *heard.consumed)
        given_up = (*heard.given_up, *lost)
        return PendingCommit(before, after, events, consumed, given_up, stale, heard.begins, heard.letters, looked=look)

    def _request_admission(self, state: RunState, now: float) -> tuple[Event, ...]:
        """Ask whether it is the run's turn, where it needs one."""
        if state.admission is None or self.places is None or self.writer is None:
            return ()
        return self.places().admit(self.writer, state, now)

    def replace_intent(self, turn: PendingCommit, intent: Event) -> PendingCommit:
        """Replace the last event of a turn, without anything that would follow from it."""
        events = (*turn.events[:-1], self._clean(intent))
        return turn._replace(events=events, state=self.fold(turn.before, events))

    def fold(self, state: RunState, events: Iterable[Event]) -> RunState:
        """Fold some events into a state."""
        for event in events:
            state = apply(state, event, state.seq + 1, self.log.get_blob)
        return state

    def _clean(self, event: Event) -> Event:
        """Remove the secrets from an event; its bytes are cached, since producing them is much of what a step costs."""
        event, written = redact_and_encode(event, self.redactor)
        self._written[id(event)] = event, written
        return event

    def _encode_event(self, event: Event) -> NewEvent:
        known = self._written.get(id(event))
        return known[1] if known is not None and known[0] is event else encode_event(event)

    def _fire_timers(
        self, plan: Plan, state: RunState, now: float, by: float
    ) -> tuple[tuple[Event, ...], tuple[str, ...], RunState]:
        """Find the timers that came due; they were set by the clock before it was set by `by` seconds."""
        fired: list[Event] = []
        stale: list[str] = []
        for timer in self.log.due(now if state.reason == "quota" else now - by):
            if timer.stream != state.run or timer.key == TIMEOUT:
                continue
            event = inbox_events.timer_event(plan, state, timer.key, now)
            if event is None:
                stale.append(timer.key)
            else:
                state = apply(state, event, state.seq + 1, self.log.get_blob)
                fired.append(event)
        return tuple(fired), tuple(stale), state

    def commit(self, turn: PendingCommit) -> RunState:
        """Record a turn, all of it or nothing, and return the state after it."""
        if turn.is_empty:
            return turn.state
        checkpoint = self._checkpoint(turn.state)
        held = {} if self.held is None else self.held.find_named(turn.events)
        append = Append(
            turn.state.run,
            turn.before.seq,
            tuple(map(self._encode_event, turn.events)),
            turn.consumed,
            checkpoint,
            (*(TimerCleared(key) for key in turn.stale), *timers_of(turn.before, turn.state)),
            summary_of(turn.state) if turn.events else None,
            tuple(held.values()),
            if_quiet=not turn.looked,
        )
        for letter in turn.letters:
            self.log.send(letter.run, letter.key, encode_message(self.redactor, "tell", text=letter.text, by=letter.by))
        begun = [build_first_append(self.log, self.redactor, each.run, each) for each in turn.begins]
        stored = self.log.append([*begun, append], [self.lease])
        if self.held is not None:
            self.held.release(held)
        self._jumps = (*self._jumps, *_jumps_in(turn.events))[-MAX_JUMPS:]
        self.checkpointed = self.checkpointed if checkpoint is None else checkpoint.seq
        if stored:
            self.known.keep(FoldedState(turn.state, stored[-1].hash, self.checkpointed))
        self._timed = turn.state.until is not None or turn.state.deadline is not None
        self._newest = (turn.state.seq, turn.events[-1]) if turn.events else self._newest
        return turn.state

    def _checkpoint(self, state: RunState) -> Checkpoint | None:
        if state.seq - self.checkpointed < max(CHECKPOINT_EVERY, state.seq // CHECKPOINT_SHARE):
            return None
        return Checkpoint(state.run, state.seq, REDUCER, encode_state(state, self._texts))

    def intent(self, run: str, seq: int) -> Event:
        """Return the event that made something pending."""
        if self._newest is not None and self._newest[0] == seq:
            return self._newest[1]
        return decode_event(self.log.read(run, after=seq - 1, limit=1)[0])


def _jumps_in(events: Iterable[Event | None]) -> tuple[float, ...]:
    return tuple(event.by for event in events if isinstance(event, ClockNoted) and event.by)
