"""The bridge to an agent of the Agent Client Protocol: runs one prompt and reports it in JSON lines, the end last.

It imports next to nothing, so that it starts as fast as a process can. It offers the agent neither files nor terminals:
the agent has its own. SIGINT asks the agent to stop, which then ends the prompt itself.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NoReturn, TypedDict, cast

from handrail.agents.acp.permissions import Message, answer, refusal

VERSION = 1
TIMEOUT = 5.0
"""Seconds within which the agent has to exit after its answer."""
UNKNOWN_METHOD = -32601


class Task(TypedDict):
    """One call, as the adapter describes it to the bridge."""

    command: list[str]
    workspace: str
    session: str | None
    access: str
    servers: list[Message]
    """MCP servers for the agent."""


class _RequestError(Exception):
    """The agent refused a request."""

    def __init__(self, during: str, error: object) -> None:
        super().__init__(during)
        self.during = during
        self.error = error


class _AgentExited(Exception):
    """The agent's program exited in the middle of the conversation."""


class Bridge:
    """Talks to one agent."""

    def __init__(self, task: Task, child: "subprocess.Popen[bytes]") -> None:
        self._task = task
        self._child = child
        self._count = 0
        self._tools: dict[str, Message] = {}
        self._prompting = False
        self._writing = False
        self.stopped = False
        self._session = task["session"] or ""

    def converse(self, prompt: str) -> None:
        """Open the conversation, send the prompt, and report the result."""
        able = self._ask("initialize", protocolVersion=VERSION, clientCapabilities=_CLIENT, clientInfo=_WHO)
        self._open(_part(able, "agentCapabilities"))
        tell("session", session=self._session, resumed=bool(self._task["session"]))
        self._prompting = True
        said = self._ask("session/prompt", sessionId=self._session, prompt=[{"type": "text", "text": prompt}])
        tell("end", **said)

    def interrupt(self, *_: object) -> None:
        """Ask the agent to stop; a second time, end at once."""
        if self.stopped or not self._prompting:
            sys.exit(130)
        self.stopped = True
        if not self._writing:
            self._send_cancel()

    def _open(self, able: Message) -> None:
        where: Message = {"cwd": self._task["workspace"], "mcpServers": self._task["servers"]}
        if not self._session:
            self._session = str(self._ask("session/new", **where).get("sessionId", ""))
        elif "resume" in _part(able, "sessionCapabilities"):
            self._ask("session/resume", sessionId=self._session, **where)
        elif able.get("loadSession"):
            self._ask("session/load", sessionId=self._session, **where)
        else:
            raise _RequestError("session/load", {"message": "this agent cannot continue an earlier conversation"})

    def _ask(self, method: str, **params: Any) -> Message:
        self._count += 1
        number = self._count
        self._send({"id": number, "method": method, "params": params})
        while True:
            said = self._next()
            if "method" in said:
                self._handle_request(said)
            elif said.get("id") == number:
                if "error" in said:
                    raise _RequestError(method, said["error"])
                return _part(said, "result")

    def _next(self) -> Message:
        """Return the next message; anything else, such as a greeting, is ignored."""
        for line in cast("IO[bytes]", self._child.stdout):
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict):
                return cast("Message", said)
        raise _AgentExited

    def _handle_request(self, said: Message) -> None:
        params = _part(said, "params")
        if said["method"] == "session/update":
            self._handle_update(_part(params, "update"))
        elif "id" in said and said["method"] == "session/request_permission":
            self._send({"id": said["id"], "result": self._permit(params)})
        elif "id" in said:
            error = {"code": UNKNOWN_METHOD, "message": f"{said['method']} is not supported"}
            self._send({"id": said["id"], "error": error})

    def _handle_update(self, update: Message) -> None:
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            self._remember(update)
        if self._prompting:  # earlier updates are the history of a continued conversation
            tell("update", update=update)

    def _remember(self, call: Message) -> Message:
        """Merge what is known of a tool call: later updates contain only what is new."""
        name = str(call.get("toolCallId", ""))
        known = {**self._tools.get(name, {}), **{key: value for key, value in call.items() if value is not None}}
        self._tools[name] = known
        return known

    def _permit(self, params: Message) -> Message:
        call = self._remember(_part(params, "toolCall"))
        why = "the call was stopped" if self.stopped else refusal(self._task["access"], self._task["workspace"], call)
        title = str(call.get("title") or call.get("kind") or "a tool")
        tell("permission", title=title, granted=not why, why=why)
        return {"outcome": {"outcome": "cancelled"}} if self.stopped else answer(params, why, self._task["access"])

    def _send(self, message: Message) -> None:
        self._writing = True
        _write(cast("IO[bytes]", self._child.stdin).fileno(), message)
        self._writing = False
        if self.stopped and message.get("method") == "session/prompt":
            self._send_cancel()

    def _send_cancel(self) -> None:
        cancel = {"method": "session/cancel", "params": {"sessionId": self._session}}
        _write(cast("IO[bytes]", self._child.stdin).fileno(), cancel)


_CLIENT: Message = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
_WHO: Message = {"name": "handrail", "title": "Handrail", "version": "1"}


def main() -> NoReturn:
    """Perform the call described by the file that the first argument names, with its prompt on standard input."""
    task: Task = json.loads(Path(sys.argv[1]).read_bytes())
    prompt = sys.stdin.buffer.read().decode(errors="replace")
    pipe = subprocess.PIPE
    try:
        child = subprocess.Popen(task["command"], cwd=task["workspace"], stdin=pipe, stdout=pipe)  # noqa: S603
    except OSError as error:
        tell("failed", during="start", error={"message": f"{task['command'][0]} cannot be started: {error}"})
        sys.exit(1)
    bridge = Bridge(task, child)
    signal.signal(signal.SIGINT, bridge.interrupt)
    sys.exit(_converse(bridge, prompt, child))


def _converse(bridge: Bridge, prompt: str, child: "subprocess.Popen[bytes]") -> int:
    try:
        bridge.converse(prompt)
    except _RequestError as failed:
        tell("failed", during=failed.during, error=failed.error)
        return 1
    except (_AgentExited, BrokenPipeError):
        if bridge.stopped:  # the signal that stops us may have stopped the agent as well
            tell("end", stopReason="cancelled")
            return 0
        tell("error", message="the agent's program ended in the middle of the conversation")
        return 1
    finally:
        _leave(child)
    return 0


def tell(kind: str, **what: Any) -> None:
    """Print one line."""
    sys.stdout.buffer.write(json.dumps({"type": kind, **what}).encode() + b"\n")
    sys.stdout.buffer.flush()


def _leave(child: "subprocess.Popen[bytes]") -> None:
    """Wait for the agent to exit, else terminate it."""
    cast("IO[bytes]", child.stdin).close()
    try:
        child.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        child.terminate()
        try:
            child.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _write(descriptor: int, message: Message) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def _part(said: Message, name: str) -> Message:
    value = said.get(name)
    return cast("Message", value) if isinstance(value, dict) else {}


if __name__ == "__main__":
    main()
