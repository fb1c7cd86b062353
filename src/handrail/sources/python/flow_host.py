"""The process in which the coroutine of a dynamic step runs: it is told results, and says which call comes next.

1. The coroutine is driven by hand, from call to call. It may await nothing else, so that it has no clock of its own.
2. It ends when the driver does: a thread sees the end of the socket. Where the flow lets no thread run, the kernel's
   alarm ends it, for which no Python code has to run.
3. Standard input is empty and standard output goes to standard error, so that a flow cannot disturb the conversation.
"""

import json
import os
import select
import signal
import socket
import threading
from collections.abc import Generator, Mapping
from pathlib import Path
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TextIO, cast

import rfc8785

from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText, plain
from handrail.model.workflow.values import JsonValue
from handrail.processes.json_partner import MOST_BYTES
from handrail.sources.python.loader import PythonFault, fault_of, load_run

if TYPE_CHECKING:
    from handrail.authoring.python.objects import Step as StepObject

_PYTHON_DOES = ("when", "retry", "on_fail", "output")
"""Keys of a step that Python itself says better here."""
SLACK = 5.0
"""Seconds by which the alarm comes later than the driver, who says it better."""


class FlowError(Exception):
    """A call of a dynamic flow cannot be performed as it is written."""


@frozen
class CallResult:
    """What became of a step that a flow called; a failed one is for the flow to deal with."""

    success: bool
    output: JsonValue
    exit_code: int | None
    stdout: str
    stderr: str
    error: str


@frozen
class Decided:
    """What a person answered."""

    decision: str
    feedback: str
    by: str

    @property
    def approved(self) -> bool:
        """Whether it may go on."""
        return self.decision == "approve"


@frozen
class Ask:
    """A call that a flow makes; awaiting it gives its result."""

    step: object
    values: dict[str, JsonValue]

    def __await__(self) -> Generator["Ask", Any, Any]:
        return (yield self)


class FlowContext:
    """The `ctx` of `async def run(ctx)`."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.run: str = told["run"]
        self.task: str = told["task"]
        self.inputs: dict[str, JsonValue] = told["inputs"]

    def run_step(
        self, step: "StepObject | str", command: str | None = None, values: Mapping[str, JsonValue] | None = None
    ) -> Ask:
        """Call a step: an object such as Script or Gate, or a name with a command; `values` are what `${...}` reads."""
        from handrail.authoring.python.objects import Script  # noqa: PLC0415 - a flow that never calls one starts sooner

        if not isinstance(step, str):
            return _ask(step, values or {})
        if command is None:
            raise FlowError(f"run_step('{step}') says nothing to do: give a command, or a step object")
        return _ask(Script(step, command=command), values or {})

    def approve(self, message: str, name: str = "approve") -> Ask:
        """Ask a person; the answer has `approved`, `decision`, `feedback` and `by`."""
        from handrail.authoring.python.objects import Approval  # noqa: PLC0415

        return _ask(Approval(name, message="${message}"), {"message": message})


def _ask(made: "StepObject", values: Mapping[str, JsonValue]) -> Ask:
    from handrail.authoring.python.objects import Workflow, to_document  # noqa: PLC0415

    said = [key for key in _PYTHON_DOES if getattr(made, key, None) is not None]
    if said:
        raise FlowError(f"step '{made.name}' says {', '.join(said)}: in a flow write that in Python")
    report = Report()
    nowhere = Bundle("call", {"call": SourceText("call", "")})
    document = to_document(Workflow("call", steps=[made]), nowhere, report)
    steps = document.root.get("steps") if document is not None else None
    if steps is None:
        raise FlowError("; ".join(each.message for each in report))
    (step,) = cast("list[object]", plain(steps))
    return Ask(step, json.loads(_json(dict(values), f"the values of step '{made.name}' hold")))


def _json(value: object, what: str) -> bytes:
    try:
        data = rfc8785.dumps(value)  # pyright: ignore[reportArgumentType]  # whether it is JSON is the question
    except (rfc8785.CanonicalizationError, TypeError, ValueError, RecursionError) as error:
        raise FlowError(f"{what} what is no JSON value: {error}") from error
    if len(data) > MOST_BYTES // 8:
        raise FlowError(f"{what} more than {MOST_BYTES >> 23} MiB")
    return data


class Host:
    """A coroutine in its course."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.file: str = told["file"]
        self._coroutine: CoroutineType[Any, Any, object] = load_run(self.file, told["source"])(FlowContext(told))

    def go_on(self, told: Mapping[str, Any]) -> dict[str, object]:
        """Give it what it was waiting for, let it run to its next call, and say what that is."""
        try:
            asked = self._told(told)
        except StopIteration as over:
            return self._returned(over.value)
        except BaseException as error:  # noqa: BLE001 - a workflow may raise anything
            return {"raised": _words(fault_of(error, Path(self.file)), self.file)}
        return {"step": asked.step, "values": asked.values} if isinstance(asked, Ask) else self._refused()

    def _told(self, told: Mapping[str, Any]) -> object:
        match told:
            case {"refused": str(why)}:
                return self._coroutine.throw(FlowError(why))
            case {"result": result}:
                return self._coroutine.send(CallResult(**result))
            case {"decided": decided}:
                return self._coroutine.send(Decided(**decided))
            case _:
                return self._coroutine.send(None)

    def _returned(self, value: object) -> dict[str, object]:
        try:
            return {"returned": json.loads(_json(value, "run() returned"))}
        except FlowError as error:
            return {"raised": str(error)}

    def _refused(self) -> dict[str, object]:
        frame = self._coroutine.cr_frame
        line = frame.f_lineno if frame is not None else 1
        hint = "await only ctx.run_step and ctx.approve"
        return {"raised": f"{self.file}:{line}: run() awaits something that is no step: {hint}"}


def _words(fault: PythonFault, file: str) -> str:
    return f"{file}:{fault.line}: {fault.message}"


def main() -> None:
    """Answer what is told on standard input until nobody is there any more."""
    lines = _lines()
    line = lines.readline()
    first: dict[str, Any] = json.loads(line or "null")
    host: Host | None = None
    while line:
        signal.setitimer(signal.ITIMER_REAL, first["within"] + SLACK)
        try:
            host = host or Host(first)
            said = host.go_on(json.loads(line))
        except PythonFault as fault:
            said = {"raised": _words(fault, first["file"])}
        signal.setitimer(signal.ITIMER_REAL, 0)
        lines.write(json.dumps(said) + "\n")
        lines.flush()
        line = lines.readline()
    # Threads and exit handlers of the flow have nobody to work for any more.
    os._exit(0)


def _lines() -> TextIO:
    channel = socket.socket(fileno=os.dup(0))
    lines = channel.makefile("rw", encoding="utf-8", newline="\n")
    threading.Thread(target=_end_with_the_driver, args=(channel,), daemon=True).start()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return lines


def _end_with_the_driver(channel: socket.socket) -> None:
    ends = select.poll()
    ends.register(channel, 0)
    ends.poll()
    os._exit(0)
