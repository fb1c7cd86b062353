"""How the scripted agent really calls Handrail's tools: it starts their server, as every agent does, and asks it.

It speaks the Model Context Protocol in JSON lines and imports next to nothing.
"""

import json
import subprocess
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from handrail.model.workflow.values import JsonValue

PROTOCOL = "2025-06-18"
TIMEOUT = 5.0
Message = dict[str, Any]


class ToolClient:
    """A running server, and the requests to it."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: S603 - our own program
        self._count = 0
        who = {"name": "scripted", "version": "1"}
        self._ask("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=who)
        self._send({"method": "notifications/initialized"})

    def call(self, name: str, arguments: "JsonValue") -> "tuple[str, dict[str, JsonValue], bool]":
        """Call a tool; return its text, its data, and whether it succeeded."""
        said = self._ask("tools/call", name=name, arguments=arguments or {})
        parts = cast("list[Message]", said.get("content") or [])
        words = "\n".join(str(part.get("text", "")) for part in parts)
        return words, said.get("structuredContent") or {}, not said.get("isError")

    def close(self) -> None:
        """Stop the server."""
        cast("IO[bytes]", self._child.stdin).close()
        try:
            self._child.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        cast("IO[bytes]", self._child.stdout).close()

    def _ask(self, method: str, **params: object) -> Message:
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        for line in cast("IO[bytes]", self._child.stdout):
            said = json.loads(line)
            if said.get("id") == self._count:
                if "error" in said:
                    raise ConnectionError(str(said["error"].get("message")))
                return said["result"]
        raise ConnectionError("their server has ended")

    def _send(self, said: Message) -> None:
        writing = cast("IO[bytes]", self._child.stdin)
        writing.write(json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n")
        writing.flush()


def fill_placeholders(value: "JsonValue", known: "dict[str, dict[str, JsonValue]]") -> "JsonValue":
    """Replace texts such as `{child.run}` by the results of earlier calls."""
    if isinstance(value, dict):
        return {name: fill_placeholders(each, known) for name, each in value.items()}
    if isinstance(value, str):
        for name, data in known.items():
            for key, found in data.items():
                value = value.replace(f"{{{name}.{key}}}", str(found))
    return value
