"""Performs dynamic steps: a coroutine that calls steps, replayed from its recorded calls.

1. The coroutine runs in a process of its own and its calls are requests on a socket. Python cannot end
a thread: an exception thrown into it from outside waits for the next line of Python and can be caught, so an
endless loop, a sleep or a huge power would block the driver forever. A process can be ended at any moment. It also
isolates the flow's imports, threads, memory and crashes from the other runs, and costs a start of Python each time
that the run is resumed.
2. A call whose outcome is in the log gets it from there; it is never performed again.
3. A call must be what was recorded under its number, else the run is blocked and says where they differ.
4. Calls have the names that the flow gives them: `flow/coding`, and `flow/coding#2` for the second of a name.
5. The time between two calls is limited. A flow that takes longer is ended, and the run is blocked with the limit.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from handrail.engine.fold.dynamic import call_address
from handrail.engine.state.call_scope import is_over
from handrail.engine.state.position import find_current_step
from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.model.history.events import CallRequested, Event, RunBlocked, StepEnded
from handrail.model.history.run_state import FlowCall, FlowState, Pending, RunState
from handrail.model.workflow.actions import DynamicAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.ports.environments import RunEnvironment
from handrail.ports.flows import FlowProcess
from handrail.ports.processes import MARK, mark_of
from handrail.runtime.dynamic.compile_call import RefusedCall
from handrail.runtime.dynamic.flow_calls import Call, CallCompiler, FlowCallContext, call_of
from handrail.runtime.dynamic.older_calls import is_same_as_older
from handrail.runtime.ports import Clock, Flows

MAX_SECONDS = 30.0
"""Seconds that a flow may compute without a call."""


@frozen
class Returned:
    """The coroutine returned."""

    value: JsonValue


@frozen
class Raised:
    """The coroutine raised an error; `words` names the file and the line."""

    words: str


@frozen
class Lost:
    """The coroutine is gone, for a reason outside of its code."""

    words: str


Asked: TypeAlias = Call | Returned | Raised | Lost


@dataclass(slots=True)
class Flow:
    """A coroutine that is running or being replayed."""

    action: DynamicAction
    state: RunState
    pending: Pending
    process: FlowProcess
    compiler: CallCompiler
    number: int = 0
    """How many calls it has made."""
    named: "Counter[str]" = field(default_factory=Counter[str])
    """How often each name was called."""
    asked: Asked | None = None

    async def go_on(self, result: Mapping[str, object] | None) -> Asked:
        """Pass it the result of its last call and let it run to the next."""
        try:
            async with asyncio.timeout(MAX_SECONDS):
                self.asked = await self._next(result or self._beginning())
        except TimeoutError:
            self.asked = Lost(f"computed longer than {MAX_SECONDS:g} s without calling a step and was stopped")
        if isinstance(self.asked, Call):
            self.number += 1
            self.named[self.asked.name] += 1
        return self.asked

    def remember(self, call: Call) -> None:
        """Remember the conversation of a finished call, which later calls may continue."""
        if call.talk is not None:
            self.compiler = replace(self.compiler, talks=(*self.compiler.talks, call.talk))

    def _beginning(self) -> dict[str, object]:
        state = self.state
        began_at = (state.flow.began_at if state.flow is not None else 0.0) or state.started_at
        return {
            "file": self.action.file,
            "source": self.action.source,
            "files": {each.path: each.text for each in self.action.files},
            "within": MAX_SECONDS,
            "run": state.run,
            "task": state.task,
            "inputs": dict(state.inputs),
            "workspace": state.workspace,
            "now": began_at,
            # The same in a copy of the run, which must make the same calls.
            "seed": f"{state.definition}:{began_at!r}",
        }

    async def _next(self, told: Mapping[str, object]) -> Asked:
        while True:
            said = await self.process.ask(told)
            match said:
                case {"step": _, "values": _}:
                    try:
                        return call_of(FlowCallContext(self.state, "", 0.0, self.pending), said, self.compiler)
                    except RefusedCall as refused:
                        told = {"refused": str(refused)}
                case {"returned": value}:
                    return Returned(value)
                case {"raised": str(words)}:
                    return Raised(words)
                case _:
                    return Lost(f"lost its process ({await self.process.describe_end()})")


@dataclass(slots=True)
class FlowHandler:
    """Performs the dynamic steps of one run; a live process only saves the replay."""

    clock: Clock
    environment: RunEnvironment
    flows: Flows
    folder: Path
    """The folder of the files of all effects; a flow has none, but its processes are marked with the path."""
    keep: Callable[[bytes], str]
    """Stores the plan of a call that is a run of its own; returns its digest."""
    _live: tuple[int, Flow] | None = None

    async def perform(self, plan: Plan, state: RunState, pending: Pending) -> tuple[Event, ...]:
        """Let the coroutine run to a call that was not performed yet, or to its end; return the resulting events."""
        try:
            events = await self._advance(await self._find_or_start_flow(plan, state, pending), state, pending)
        except BaseException:
            self.close()
            raise
        if not isinstance(events[0], CallRequested):
            self.close()
        return events

    def close(self) -> None:
        """End the live coroutine; the log has everything needed to bring it back."""
        if self._live is not None:
            self._live[1].process.end()
            self._live = None

    async def _advance(self, flow: Flow, state: RunState, pending: Pending) -> tuple[Event, ...]:
        calls = _calls(state, pending)
        asked = flow.asked or await flow.go_on(None)
        while True:
            if isinstance(asked, Lost):
                return (self._block_lost_flow(flow, asked, pending),)
            parted = self._check_replay(flow, calls, pending)
            if parted is not None:
                return (parted,)
            if not isinstance(asked, Call):
                return (self._outcome(asked, pending),)
            address = _address(flow, asked, calls, pending)
            if flow.number > len(calls) or not is_over(state, address):
                return self._request(flow, asked, FlowCallContext(state, address, self.clock(), pending))
            flow.remember(asked)
            asked = await flow.go_on(asked.result(state.steps[address]))

    async def _find_or_start_flow(self, plan: Plan, state: RunState, pending: Pending) -> Flow:
        if self._live is not None:
            if self._live[0] == pending.seq and self._live[1].number == len(_calls(state, pending)):
                self._live[1].state = state
                return self._live[1]
            self.close()
        action = find_current_step(plan, state)[0].action
        if not isinstance(action, DynamicAction):
            raise EnvironmentFault(f"step '{pending.address}' is not a dynamic step", next_step="report this")
        words = (f"flow of {state.run}", state.workspace)
        mark = mark_of(f"{state.run}:{pending.seq}:flow", str(self.folder / state.run / str(pending.seq) / "flow"))
        # `hash()` of a text must be the same at each start, so that a replay makes the same calls.
        variables = {**self.environment.variables(), MARK: mark, "PYTHONHASHSEED": "0"}
        process = await self.flows.start(words, variables)
        flow = Flow(action, state, pending, process, CallCompiler(plan, self.flows.builtins))
        self._live = (pending.seq, flow)
        return flow

    def _request(self, flow: Flow, call: Call, ctx: FlowCallContext) -> tuple[Event, ...]:
        asked = CallRequested(address=ctx.address, number=flow.number, spec_hash=call.hash, asks=call.words, at=ctx.now)
        return (asked, call.begin(ctx, self.keep))

    def _block_lost_flow(self, flow: Flow, lost: Lost, pending: Pending) -> RunBlocked:
        after = f"after call {flow.number}" if flow.number else "at its start"
        return RunBlocked(
            reason="fault",
            message=f"flow '{pending.address}' ({flow.action.file}), {after}: {lost.words}",
            address=pending.address,
            next_step="resume to try again; long work belongs in a step: change the workflow, then start over",
            at=self.clock(),
        )

    def _check_replay(self, flow: Flow, calls: Mapping[int, FlowCall], pending: Pending) -> RunBlocked | None:
        """Return the block for a replay that differs from the record: which call, what it was, and what it is now."""
        number = flow.number if isinstance(flow.asked, Call) else flow.number + 1
        if number > len(calls):
            return None
        recorded = calls[number - 1]
        if isinstance(flow.asked, Call):
            ctx = FlowCallContext(flow.state, "", 0.0, pending)
            if flow.asked.hash == recorded.hash or is_same_as_older(flow.asked, recorded, ctx, number):
                return None
            now = f"calls {flow.asked.words}"
        else:
            now = f"fails ({flow.asked.words})" if isinstance(flow.asked, Raised) else "returns"
        return RunBlocked(
            reason="fault",
            message=f"call {number} of '{pending.address}' was {recorded.asks}; replayed, {flow.action.file} {now}",
            address=recorded.address,
            next_step="run() must call the same steps each time: no clock, randomness or files; then resume, or rewind",
            at=self.clock(),
        )

    def _outcome(self, asked: Returned | Raised, pending: Pending) -> StepEnded:
        # It costs what its calls cost, and those are counted separately.
        ended = StepEnded(
            address=pending.address, began=pending.seq, status="succeeded", details={"spent": {}}, at=self.clock()
        )
        if isinstance(asked, Raised):
            return replace(ended, status="failed", error=asked.words)
        return replace(ended, output=asked.value)


def _calls(state: RunState, pending: Pending) -> Mapping[int, FlowCall]:
    flow: FlowState | None = state.flow
    return flow.calls if flow is not None and flow.pending.seq == pending.seq else {}


def _address(flow: Flow, call: Call, calls: Mapping[int, FlowCall], pending: Pending) -> str:
    """Return the address of a call: the recorded one, else one built from its name."""
    if flow.number <= len(calls):
        return calls[flow.number - 1].address
    return call_address(pending.address, call.name, flow.named[call.name])
