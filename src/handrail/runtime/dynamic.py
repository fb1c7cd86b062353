"""Performs dynamic steps: a coroutine that calls steps, replayed from its recorded calls.

1. The coroutine is driven by hand, from call to call. It may await nothing else, so that it has no clock of its own.
2. A call that has its outcome in the log gets it from there; it is never performed again.
3. A call must be what was recorded under its number, else the run is blocked and says where they part.
"""

import asyncio
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import CoroutineType
from typing import Any, TypeAlias

import rfc8785

from handrail.engine.flows import call_address
from handrail.engine.walk import current
from handrail.model.actions import DynamicAction
from handrail.model.events import CallRequested, Event, RunBlocked, StepEnded
from handrail.model.plan import Plan
from handrail.model.run import Pending, RunState
from handrail.model.values import JsonValue
from handrail.runtime.flow_calls import Call, CallResult, Decided, FlowContext
from handrail.runtime.ports import Clock
from handrail.sources.python_loader import PythonFault, fault_of, load_run

_DONE = ("succeeded", "failed")


@dataclass(frozen=True, slots=True)
class Returned:
    """The coroutine is over."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The coroutine failed; the words name the file and the line."""

    words: str


Asked: TypeAlias = Call | Returned | Raised


@dataclass(slots=True)
class Flow:
    """A coroutine somewhere in its course."""

    file: str
    coroutine: "CoroutineType[Any, Any, object]"
    number: int = 0
    """Calls it has asked for."""
    asked: Asked | None = None

    def go_on(self, result: CallResult | Decided | None) -> None:
        """Give it the result of its last call and let it run to the next."""
        try:
            asked = self.coroutine.send(result)
        except StopIteration as over:
            self.asked = Returned(over.value)
        except Exception as error:  # noqa: BLE001 - a workflow may raise anything
            self.asked = Raised(_words(fault_of(error, Path(self.file)), self.file))
        else:
            self.number += 1
            self.asked = asked if isinstance(asked, Call) else self._refused()

    def _refused(self) -> Raised:
        frame = self.coroutine.cr_frame
        line = frame.f_lineno if frame is not None else 1
        self.coroutine.close()
        hint = "await only ctx.run_step and ctx.approve"
        return Raised(f"{self.file}:{line}: run() awaits something that is no step: {hint}")


@dataclass(slots=True)
class FlowHandler:
    """Performs the dynamic steps of one run; what it keeps in memory only saves replaying."""

    clock: Clock
    _live: tuple[int, Flow] | None = None

    async def perform(self, plan: Plan, state: RunState, pending: Pending) -> tuple[Event, ...]:
        """Let the coroutine run to a call that was not performed yet, or to its end; give what that means."""
        try:
            flow = self._flow(plan, state, pending)
        except PythonFault as fault:
            return (self._failed(pending, _words(fault, "workflow.py")),)
        calls = _calls(state, pending)
        result: CallResult | Decided | None = None
        while True:
            if flow.asked is None or result is not None:
                # In a thread: its own code may take its time, and other runs go on meanwhile.
                await asyncio.to_thread(flow.go_on, result)
            parted = self._parted(flow, calls, pending)
            if parted is not None:
                self._live = None
                return (parted,)
            if not isinstance(flow.asked, Call):
                self._live = None
                return (self._outcome(flow.asked, pending),)
            step = state.steps.get(call_address(pending.address, flow.number))
            if flow.number > len(calls) or step is None or step.status not in _DONE:
                return self._request(flow, flow.asked, pending)
            result = flow.asked.result(step)

    def _flow(self, plan: Plan, state: RunState, pending: Pending) -> Flow:
        if self._live is not None and self._live[0] == pending.seq:
            if self._live[1].number == len(_calls(state, pending)):
                return self._live[1]
            self._live[1].coroutine.close()
        action = current(plan, state)[0].action
        if not isinstance(action, DynamicAction):
            raise PythonFault(f"step '{pending.address}' is no dynamic one")
        context = FlowContext(state, action, self.clock)
        flow = Flow(action.file, load_run(action.file, action.source)(context))
        self._live = (pending.seq, flow)
        return flow

    def _request(self, flow: Flow, call: Call, pending: Pending) -> tuple[Event, ...]:
        address = call_address(pending.address, flow.number)
        now = self.clock()
        asked = CallRequested(address=address, number=flow.number, spec_hash=hash_of(call), asks=call.words, at=now)
        return (asked, call.begin(address, now))

    def _parted(self, flow: Flow, calls: tuple[tuple[str, str], ...], pending: Pending) -> RunBlocked | None:
        """Where the replay is not what was recorded: say which call, what it was, and what it is now."""
        number = flow.number if isinstance(flow.asked, Call) else flow.number + 1
        if number > len(calls):
            return None
        recorded, words = calls[number - 1]
        if isinstance(flow.asked, Call):
            if hash_of(flow.asked) == recorded:
                return None
            now = f"asks for {flow.asked.words}"
        else:
            now = "returns" if isinstance(flow.asked, Returned) else f"fails ({flow.asked.words})" if flow.asked else ""
        return RunBlocked(
            reason="fault",
            message=f"call {number} of '{pending.address}' was {words}; replayed, {flow.file} {now}",
            address=call_address(pending.address, number),
            next_step="run() must ask for the same steps each time: no clock, chance or files; then resume, or rewind",
            at=self.clock(),
        )

    def _outcome(self, asked: Returned | Raised | None, pending: Pending) -> StepEnded:
        if not isinstance(asked, Returned):
            return self._failed(pending, asked.words if asked is not None else "it did nothing")
        try:
            rfc8785.dumps(asked.value)  # pyright: ignore[reportArgumentType]  # whether it is JSON is the question
        except (rfc8785.CanonicalizationError, TypeError, ValueError) as error:
            return self._failed(pending, f"run() returned what is no JSON value: {error}")
        value: JsonValue = asked.value  # pyright: ignore[reportAssignmentType]  # it is JSON, as was just seen
        return StepEnded(address=pending.address, began=pending.seq, status="succeeded", output=value, at=self.clock())

    def _failed(self, pending: Pending, error: str) -> StepEnded:
        return StepEnded(address=pending.address, began=pending.seq, status="failed", error=error, at=self.clock())


def hash_of(call: Call) -> str:
    """Give the hash of what a call asks for."""
    return sha256(rfc8785.dumps(call.spec)).hexdigest()


def _calls(state: RunState, pending: Pending) -> tuple[tuple[str, str], ...]:
    flow = state.flow
    return flow.calls if flow is not None and flow.pending.seq == pending.seq else ()


def _words(fault: PythonFault, file: str) -> str:
    return f"{file}:{fault.line}: {fault.message}"
