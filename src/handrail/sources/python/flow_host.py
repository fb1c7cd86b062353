"""The process in which the coroutine of a dynamic step runs: it receives results, and returns which call comes next.

1. The coroutine is driven by hand, from call to call. It may await nothing else, so that it has no clock of its own.
2. It ends when the driver does: a thread notices the end of the socket. Where the flow lets no thread run, the kernel's
alarm ends it, for which no Python code has to run.
3. Standard input is empty and standard output goes to standard error, so that a flow cannot disturb the protocol.
"""

import json
import os
import select
import signal
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from random import Random
from types import CoroutineType
from typing import Any, TextIO

import rfc8785

from handrail.authoring.python.flow import Ask, CallResult, Decided, FlowContext, FlowError
from handrail.processes.json_partner import MAX_BYTES
from handrail.sources.python.loader import PythonFault, fault_of, load_run

EXTRA_SECONDS = 5.0
"""Seconds by which the alarm comes later than the driver's own timeout, which has the better message."""


def _json(value: object, what: str) -> bytes:
    try:
        data = rfc8785.dumps(value)  # pyright: ignore[reportArgumentType]  # this checks whether it is JSON
    except (rfc8785.CanonicalizationError, TypeError, ValueError, RecursionError) as error:
        raise FlowError(f"{what} something that is not a JSON value: {error}") from error
    if len(data) > MAX_BYTES // 8:
        raise FlowError(f"{what} more than {MAX_BYTES >> 23} MiB")
    return data


class FlowHost:
    """A coroutine that is being driven."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.file: str = told["file"]
        run = load_run(self.file, told["source"])
        # Seeded by the run: a replay draws the same numbers.
        self._context = FlowContext(told, getattr(run, "__globals__", {}), Random(told["seed"]))  # noqa: S311
        self._coroutine: CoroutineType[Any, Any, object] = run(self._context)

    def go_on(self, told: Mapping[str, Any]) -> dict[str, object]:
        """Pass it what it was waiting for, let it run to its next call, and return that."""
        try:
            asked = self._resume_coroutine(told)
        except StopIteration as over:
            return self._encode_result(over.value)
        except BaseException as error:  # noqa: BLE001 - a workflow may raise anything
            return {"raised": _words(fault_of(error, Path(self.file)), self.file)}
        return self._encode_call(asked) if isinstance(asked, Ask) else self._describe_bad_await()

    def _encode_call(self, asked: Ask) -> dict[str, object]:
        try:
            step, values = json.loads(_json([asked.step, asked.values], "a call contains"))
        except FlowError as error:
            return self.go_on({"refused": str(error)})
        return {"step": step, "values": values}

    def _resume_coroutine(self, told: Mapping[str, Any]) -> object:
        self._context.now = told.get("now") or self._context.now
        match told:
            case {"refused": str(why)}:
                return self._coroutine.throw(FlowError(why))
            case {"result": result}:
                return self._coroutine.send(CallResult(**result))
            case {"decided": decided}:
                return self._coroutine.send(Decided(**decided))
            case {"answered": answered}:
                return self._coroutine.send(answered["answer"])
            case _:
                return self._coroutine.send(None)

    def _encode_result(self, value: object) -> dict[str, object]:
        try:
            return {"returned": json.loads(_json(value, "run() returned"))}
        except FlowError as error:
            return {"raised": str(error)}

    def _describe_bad_await(self) -> dict[str, object]:
        frame = self._coroutine.cr_frame
        line = frame.f_lineno if frame is not None else 1
        hint = "await only what ctx offers, such as ctx.run_step and ctx.approve"
        return {"raised": f"{self.file}:{line}: run() awaits something that is not a step: {hint}"}


def _words(fault: PythonFault, file: str) -> str:
    return f"{file}:{fault.line}: {fault.message}"


def main() -> None:
    """Answer the messages on standard input until the driver is gone."""
    lines = _lines()
    line = lines.readline()
    first: dict[str, Any] = json.loads(line or "null")
    host: FlowHost | None = None
    while line:
        signal.setitimer(signal.ITIMER_REAL, first["within"] + EXTRA_SECONDS)
        try:
            host = host or FlowHost(first)
            said = host.go_on(json.loads(line))
        except PythonFault as fault:
            said = {"raised": _words(fault, first["file"])}
        signal.setitimer(signal.ITIMER_REAL, 0)
        lines.write(json.dumps(said) + "\n")
        lines.flush()
        line = lines.readline()
    # Do not wait for threads and exit handlers of the flow: the driver is gone.
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
