"""Tools that an agent of the engine calls while it works: each call is checked, left for the run's driver, awaited.

1. The token of a call names the run and the step; it is valid only while that step is pending.
2. Only the driver records: a call is a message, and its answer is the event that the message caused. A call that is
   repeated because its agent was lost in the middle is the same message and has the same answer.
3. An invalid call is recorded as well, as a failed one.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from handrail.engine.fold.step_tools import QUESTION_ASKED, Call, ChildRequest, tools_of
from handrail.errors import HandrailError, UsageError
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan, StepRefused, ToolCalled
from handrail.model.history.run_state import RunState
from handrail.model.tokens import TokenProblem, read_token
from handrail.model.workflow.values import JsonValue
from handrail.operations.runs.tell import find_recipient
from handrail.operations.step_tools.child_runs import child_words, children_of, needs_nobody, prepare_child
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.watcher import MAX_WAIT, ChangeWaiter, Watcher
from handrail.sources.tiers import Location

TIMEOUT = 30.0
"""Timeout in seconds for the driver of the run to answer a call."""
CHILD_TIMEOUT = 45.0
"""Timeout in seconds of a call that waits for a run it started; clients give up on longer ones."""
MAX_ARGUMENTS = 100_000
"""The maximum number of characters of the arguments of a call, as JSON."""
_POLL_INTERVAL = 0.02
Arguments = dict[str, Any]


@frozen
class Caller:
    """Whose call it is: a step of a run, as it is now."""

    state: RunState
    seq: int
    address: str
    tools: tuple[str, ...]
    pending: bool
    """Whether the step is still pending."""


@frozen(kw_only=True)
class PreparedCall:
    """What was found out about a call before the driver decides."""

    result: JsonValue = None
    error: str = ""
    child: ChildRequest | None = None
    letter: dict[str, str] | None = None
    """A message for another run: `{run, text}`."""


@frozen
class ToolAnswer:
    """The answer to an agent."""

    text: str
    data: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    good: bool = True


@dataclass(slots=True)
class AgentCallHandler:
    """Answers the calls of one agent."""

    writer: RunWriter
    keys: Callable[[], tuple[bytes, ...]]
    token: str
    place: Callable[[Path], Location]
    """Returns the place in which workflows are looked up, seen from a folder."""
    machine: Machine
    patience: float = TIMEOUT
    child_patience: float = CHILD_TIMEOUT
    _times: dict[str, int] = field(default_factory=dict[str, int])
    """How often each identical call was made."""

    @property
    def log(self) -> Log:
        """The log."""
        return self.writer.log

    async def call(self, tool: str, arguments: Arguments, problem: str = "") -> ToolAnswer:
        """Answer one call; `problem` is what is wrong with its arguments."""
        try:
            caller = self._caller()
        except HandrailError as error:
            return ToolAnswer(_sentence(error), good=False)
        key = self._key(caller, tool, arguments)
        made = self._perform_call(caller, tool, arguments, problem)
        text = json.dumps(arguments)
        call = Call(
            call=key,
            seq=caller.seq,
            address=caller.address,
            tool=tool[:100],
            arguments=arguments if len(text) <= MAX_ARGUMENTS else {"cut": text[:1000]},
            result=made.result,
            error=made.error,
            child=made.child,
        )
        if not caller.state.is_over:
            self.writer.send(caller.state.run, key, "tool", call=asdict(call), letter=made.letter)
        if not caller.pending:
            return ToolAnswer(made.error, good=False)
        event = await self._wait_for_event(caller, key)
        if event is None:
            late = "the engine is not responding: the call is stored, and recorded when the run continues"
            return ToolAnswer(late, good=False)
        return await self._answer(event)

    def _caller(self) -> Caller:
        token = read_token(self.token.strip(), self.keys())
        if isinstance(token, TokenProblem) or token.kind != "agent":
            why = token.message if isinstance(token, TokenProblem) else f"this is a {token.kind} token"
            raise UsageError(f"HANDRAIL_AGENT_TOKEN is not the token of a step: {why}")
        state = state_of(self.log, token.run)
        began = _read_step_start(self.log, state, token.seq)
        pending = state.pending
        holds = pending is not None and pending.seq == token.seq and state.status == "running"
        return Caller(state, token.seq, began.address, tools_of(began), holds)

    def _perform_call(self, caller: Caller, tool: str, arguments: Arguments, problem: str) -> PreparedCall:
        if not caller.pending:
            return PreparedCall(error=f"step '{caller.address}' has ended: its tools can no longer be used")
        if tool not in caller.tools:
            return PreparedCall(
                error=f"step '{caller.address}' does not offer {tool}: it offers {', '.join(caller.tools)}"
            )
        if problem or len(json.dumps(arguments)) > MAX_ARGUMENTS:
            return PreparedCall(error=problem or f"the arguments are longer than {MAX_ARGUMENTS} characters")
        try:
            return _TOOLS[tool](self, caller, arguments)
        except HandrailError as error:
            return PreparedCall(error=_sentence(error))

    def _key(self, caller: Caller, tool: str, arguments: Arguments) -> str:
        """Name a call so that only its repetition after a crash is the same call."""
        said = sha256(json.dumps([tool, arguments], sort_keys=True).encode()).hexdigest()[:16]
        self._times[said] = self._times.get(said, 0) + 1
        return f"tool:{caller.seq}:{said}:{self._times[said]}"

    async def _wait_for_event(self, caller: Caller, key: str) -> ToolCalled | None:
        """Wait for the event of a call."""
        until = asyncio.get_running_loop().time() + self.patience
        watcher = Watcher(self.log)
        lookout = watcher.lookout(_POLL_INTERVAL)
        try:
            return await self._look_for(caller, key, lookout, until)
        finally:
            watcher.close()

    async def _look_for(self, caller: Caller, key: str, lookout: ChangeWaiter, until: float) -> ToolCalled | None:
        seen = -1
        while True:
            now = self.log.change_token()
            if now != seen:
                seen = now
                events = (decode_event(each) for each in self.log.read(caller.state.run, after=caller.seq))
                found = (each for each in events if isinstance(each, ToolCalled) and each.call == key)
                if (event := next(found, None)) is not None:
                    return event
            if asyncio.get_running_loop().time() > until:
                return None
            await lookout.wait(max(_POLL_INTERVAL, min(MAX_WAIT, until - asyncio.get_running_loop().time())))

    async def _answer(self, event: ToolCalled) -> ToolAnswer:
        if not event.success:
            return ToolAnswer(event.error, good=False)
        data = cast("dict[str, JsonValue]", event.result) if isinstance(event.result, dict) else {}
        if event.tool == "create_child_run":
            return await self._report_started_run(data, wait=bool(event.arguments.get("wait")))
        return ToolAnswer(str(data.get("text", "noted")), {name: data[name] for name in data if name != "text"})

    async def _wait_for_run(self, run: str) -> None:
        """Wait a while until a run has ended or needs a person."""
        until = asyncio.get_running_loop().time() + self.child_patience
        watcher = Watcher(self.log)
        lookout = watcher.lookout(5 * _POLL_INTERVAL)
        try:
            while needs_nobody(self.log, run) and (left := until - asyncio.get_running_loop().time()) > 0:
                await lookout.wait(min(MAX_WAIT, left))
        finally:
            watcher.close()

    async def _report_started_run(self, data: dict[str, JsonValue], *, wait: bool) -> ToolAnswer:
        """Report a run that was started; if `wait` is set, first wait a while for its end."""
        run = str(data["run"])
        if wait:
            await self._wait_for_run(run)
        caller = state_of(self.log, run).parent
        known = children_of(self.log, caller.run) if caller is not None else []
        row = next((each for each in known if each["run"] == run), data)
        return ToolAnswer(f"started {child_words(row)}; list_runs shows its status", row)


def _progress(_: AgentCallHandler, __: Caller, ___: Arguments) -> PreparedCall:
    return PreparedCall(result={"text": "noted"})


def _ask(_: AgentCallHandler, __: Caller, ___: Arguments) -> PreparedCall:
    return PreparedCall(result={"text": QUESTION_ASKED})


def _create(ctx: AgentCallHandler, caller: Caller, given: Arguments) -> PreparedCall:
    return PreparedCall(child=prepare_child(ctx.log, ctx.machine, caller.state, given, ctx.place))


def _feedback(ctx: AgentCallHandler, caller: Caller, given: Arguments) -> PreparedCall:
    """Send a message to a child of this run; the agent may not reach any other run."""
    run = str(given["run"])
    known = [str(each["run"]) for each in children_of(ctx.log, caller.state.run)]
    if run not in known:
        raise UsageError(
            f"{caller.state.run} has not started a run '{run}'", next_step=f"it has {_describe_started_runs(known)}"
        )
    said = find_recipient(ctx.log, run, str(given["message"]), ctx.machine.agents)
    text = f"{run}: {said.words}"
    return PreparedCall(result={"text": text, "run": run}, letter={"run": said.run, "text": str(given["message"])})


def _list(ctx: AgentCallHandler, caller: Caller, _: Arguments) -> PreparedCall:
    rows = children_of(ctx.log, caller.state.run)
    text = "\n".join(map(child_words, rows)) or "no runs were started"
    return PreparedCall(result={"text": text, "runs": cast("JsonValue", rows)})


_TOOLS: dict[str, Callable[[AgentCallHandler, Caller, Arguments], PreparedCall]] = {
    "report_progress": _progress,
    "ask_person": _ask,
    "create_child_run": _create,
    "give_feedback": _feedback,
    "list_runs": _list,
}


def _read_step_start(log: Log, state: RunState, seq: int) -> StepBegan:
    """Return the intent of the step that was pending under a number; of a refused one, as it began."""
    stored = log.read(state.run, after=seq - 1, limit=1)
    event = decode_event(stored[0]) if stored else None
    if isinstance(event, StepRefused):
        began = state.steps[event.address].began
        event = decode_event(log.read(state.run, after=began - 1, limit=1)[0])
    if not isinstance(event, StepBegan):
        raise UsageError(f"HANDRAIL_AGENT_TOKEN does not belong to a step of {state.run}")
    return event


def _describe_started_runs(names: list[str]) -> str:
    return f"started {', '.join(names)}" if names else "started none"


def _sentence(error: HandrailError) -> str:
    return f"{error.message} ({error.next_step})" if error.next_step else error.message
