"""Reports what was decided and why: evaluated conditions, loops, the next step; limited in size."""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from handrail.engine.text.byte_limits import cut
from handrail.engine.text.untrusted_text import json_text
from handrail.frozen import frozen
from handrail.model.history.events import (
    Event,
    LoopEnded,
    LoopEntered,
    RoundStarted,
    RunForked,
    StepBegan,
    StepChosen,
    StepSkipped,
    Why,
)
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext
from handrail.runtime.event_records import decode_event

MAX_ENTRIES = 25
MAX_BYTES_EACH = 512
MAX_BYTES = 8192
_LOOK_BACK = 100
"""The number of events before a point that are searched for its newest decisions."""

TraceKind: TypeAlias = Literal[
    "selected_next_step", "evaluated_condition", "entered_loop", "exited_loop", "detected_non_tip_advance"
]
_ENDS = {
    "done": "every pass is done",
    "condition": "its condition no longer holds",
    "max": "it reached its limit of passes",
    "exit": "a step stopped it",
}


@frozen
class TraceEntry:
    """One decision."""

    kind: TraceKind
    summary: str
    refs: tuple[tuple[str, JsonValue], ...] = ()
    """What it is about: `step_id`, `loop_id`, `iteration`, `run_id`."""

    def document(self) -> dict[str, JsonValue]:
        """Convert the entry to data."""
        refs: list[JsonValue] = [{"kind": kind, "id": value} for kind, value in self.refs]
        return {"kind": self.kind, "summary": self.summary, "refs": refs}


def trace_of(events: Iterable[Event]) -> tuple[TraceEntry, ...]:
    """Collect the decisions in a sequence of events; if there are too many, the newest stay."""
    kept: list[TraceEntry] = []
    room = MAX_BYTES
    for entry in reversed([entry for event in events for entry in _entries(event)]):
        summary = cut(entry.summary, MAX_BYTES_EACH)
        room -= len(summary.encode())
        if room < 0 or len(kept) == MAX_ENTRIES:
            break
        kept.append(TraceEntry(entry.kind, summary, entry.refs))
    return tuple(reversed(kept))


def newest_trace(ctx: CallContext, state: RunState) -> tuple[TraceEntry, ...]:
    """Collect the newest decisions that led to a state, without reading its whole history."""
    after = max(state.seq - _LOOK_BACK, 0)
    return trace_of(decode_event(each) for each in ctx.log.read(state.run, after=after, limit=state.seq - after))


def make_non_tip_entry(source: str, branch: str) -> TraceEntry:
    """Return the decision to continue in a fork, since a token was made before the newest step."""
    summary = f"the token was not made at the newest step of {source}: continuing in the branch {branch}"
    return TraceEntry("detected_non_tip_advance", summary, (("run_id", branch),))


def _entries(event: Event) -> Iterator[TraceEntry]:
    match event:
        case RunForked():
            yield make_non_tip_entry(event.source, event.run)
        case StepChosen():
            for each in event.passed_by:
                yield _trace_condition("SKIP", each.why, ("step_id", each.address))
        case StepSkipped():
            yield _trace_condition("SKIP", event.why, ("step_id", event.address))
        case StepBegan():
            yield from _trace_passed_condition(event.why, ("step_id", event.address))
            yield TraceEntry("selected_next_step", f"next is {event.address}", (("step_id", event.address),))
        case LoopEntered() | LoopEnded() | RoundStarted():
            yield from _trace_loop(event)
        case _:
            pass


def _trace_loop(event: LoopEntered | LoopEnded | RoundStarted) -> Iterator[TraceEntry]:
    loop = ("loop_id", event.address)
    match event:
        case LoopEntered():
            yield from _trace_passed_condition(event.why, loop)
            yield TraceEntry("entered_loop", f"entered {event.address}", (loop,))
        case RoundStarted():
            yield from _trace_passed_condition(event.why, loop, ("iteration", event.round))
        case LoopEnded():
            if event.why is not None and event.why.condition:
                yield _trace_condition("PASS" if event.why.result is True else "SKIP", event.why, loop)
            yield TraceEntry("exited_loop", f"left {event.address}: {_loop_end_reason(event)}", (loop,))


def _loop_end_reason(event: LoopEnded) -> str:
    """Describe why a loop ended: one with an `until` ends because its condition holds."""
    why = event.why if event.reason == "condition" else None
    is_until = why is not None and (why.result is True or why.condition.startswith("until "))
    return "its end condition holds" if is_until else _ENDS[event.reason]


def _trace_passed_condition(why: Why | None, *refs: tuple[str, JsonValue]) -> Iterator[TraceEntry]:
    if why is not None and why.condition:
        yield _trace_condition("PASS", why, *refs)


def _trace_condition(verdict: Literal["SKIP", "PASS"], why: Why, *refs: tuple[str, JsonValue]) -> TraceEntry:
    read = ", ".join(f"{name}={_value(value)}" for name, value in why.values.items())
    about = " ".join(str(value) for _, value in refs)
    return TraceEntry("evaluated_condition", f"{verdict}: {read or about} ({why.condition})", refs)


def _value(value: JsonValue) -> str:
    return "[unset]" if value is None else cut(json_text(value), 80)
