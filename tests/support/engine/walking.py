"""Walks plans through the pure engine, with performers that are functions, and keeps the log."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from handrail.engine.decide.advance import advance
from handrail.engine.decide.from_outside import Answer, decide_approval
from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import encode_state
from handrail.engine.state.fork import carry_over_events, fork_point
from handrail.model.history.events import ChildStarted, Event, RunForked, RunRewound, RunStarted, StepBegan, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from support.compiler.native_case import compile_text, shown

Performer = Callable[[StepBegan], tuple[bool, JsonValue]]


def plan_of(text: str) -> Plan:
    """Compile a workflow."""
    compiled, _, _ = compile_text(text)
    assert compiled.plan is not None, shown(compiled.diagnostics)
    return compiled.plan


def succeed(_: StepBegan) -> tuple[bool, JsonValue]:
    """Perform every step well."""
    return True, "done"


@dataclass
class Walk:
    """One run in memory: its log, its blobs, its clock."""

    plan: Plan
    perform: Performer = succeed
    answers: list[Answer] = field(default_factory=list[Answer])
    inputs: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    events: list[Event] = field(default_factory=list[Event])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    states: list[RunState] = field(default_factory=list[RunState])
    now: float = 1000.0

    @property
    def state(self) -> RunState:
        """The state after the last event."""
        return self.states[-1]

    @property
    def kinds(self) -> list[str]:
        """What happened, as words."""
        return [f"{event.kind} {getattr(event, 'address', '')}".strip() for event in self.events]

    def blob(self, data: bytes) -> str:
        """Keep a blob."""
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return digest

    def record(self, *events: Event) -> None:
        """Append events and fold them."""
        for event in events:
            state = self.states[-1] if self.states else None
            seq = len(self.events) + 1
            self.states.append(apply(state, event, seq, self.blobs.__getitem__))
            self.events.append(event)

    def start(self) -> "Walk":
        """Begin the run."""
        self.record(
            RunStarted(
                run="r-1",
                workflow=self.plan.name,
                definition="sha256:0",
                plan="p",
                inputs=self.inputs,
                workspace="/w",
                at=self.now,
            )
        )
        return self

    def go(self, most: int = 500) -> "Walk":
        """Walk until nothing follows without the outside, which this walk also plays."""
        for _ in range(most):
            self.now += 1
            moved = advance(self.plan, self.state, self.now, self.blobs.__getitem__)
            self.record(*moved.events)
            assert moved.state == self.state
            if not self.outside():
                return self
        raise AssertionError(f"the walk does not end: {self.kinds[-5:]}")

    def outside(self) -> bool:
        """Let the outside act once; False when it has nothing to do."""
        pending = self.state.pending
        if pending is None or self.state.status == "blocked":
            return False
        self.now += 1
        if pending.kind == "approval":
            if not self.answers:
                return False
            self.record(decide_approval(self.plan, self.state, self.answers.pop(0), self.now))
            return True
        began = self.events[pending.seq - 1]
        if isinstance(began, ChildStarted):
            self.end(pending.seq, "from the child", good=True)
            return True
        assert isinstance(began, StepBegan)
        good, output = self.perform(began)
        self.end(pending.seq, output, began.spec, good=good)
        return True

    def end(self, seq: int, output: JsonValue, spec: dict[str, JsonValue] | None = None, *, good: bool) -> None:
        """Record the outcome of the pending step."""
        pending = self.state.pending
        assert pending is not None
        spec = spec or {}
        self.record(
            StepEnded(
                address=pending.address,
                began=seq,
                status="succeeded" if good else "failed",
                output=output,
                exit_code=0 if good else 1,
                error="" if good else "exit 1",
                at=self.now,
                details={"exit_loop": good and spec.get("exit_loop") is True},
            )
        )

    def rewind(self, seq: int) -> None:
        """Go back to the state before an event."""
        before = self.states[seq - 2]
        state = self.blob(encode_state(before))
        address = str(getattr(self.events[seq - 1], "address", ""))
        self.record(RunRewound(to=address, seq=seq, state=state, crossed=(), by="me", at=self.now))

    def fork(self, seq: int) -> "Walk":
        """Start a copy of the run as it was before an event."""
        copy = Walk(self.plan, self.perform, list(self.answers), dict(self.inputs), now=self.now)
        state = copy.blob(encode_state(self.states[seq - 2]))
        copy.record(RunForked(run="r-2", source="r-1", seq=seq, state=state, at=self.now))
        return copy


def copy_of(source: Walk, copy: Walk) -> None:
    """Begin a copy of a run as it is."""
    seq = fork_point(source.state)
    state = copy.blob(encode_state(source.states[seq - 2]))
    copy.record(RunForked(run="r-2", source="r-1", seq=seq, state=state, at=source.now))
    copy.record(*carry_over_events(source.state, source.events[seq - 1 :]))


def values_of(event: Event) -> Any:
    """Give the values that a begun step's first command reads."""
    assert isinstance(event, StepBegan)
    return cast("Any", event.spec)["commands"][0]["values"]


def replay(events: list[Event], blobs: dict[str, bytes]) -> RunState:
    """Fold a log from its beginning."""
    state: RunState | None = None
    for seq, event in enumerate(events, start=1):
        state = apply(state, event, seq, blobs.__getitem__)
    assert state is not None
    return state
