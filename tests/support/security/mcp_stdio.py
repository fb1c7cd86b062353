"""A client of the installed program's MCP server, over stdin and stdout, with nothing of an SDK in it."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any

from support.security.black_box import PATIENCE, PROGRAM, BlackBox

Json = dict[str, Any]
VERSION = "2025-06-18"


@dataclass(frozen=True, slots=True)
class Talk:
    """What a server answered, in the order of the requests, and what it wrote to standard error."""

    answers: list[Json]
    err: str


def call_tools(box: BlackBox, calls: Sequence[tuple[str, Json]]) -> Talk:
    """Start `handrail mcp`, call tools one after the other, and end it."""
    return send_requests(box, [("tools/call", {"name": name, "arguments": given}) for name, given in calls])


def send_requests(box: BlackBox, requests: Sequence[tuple[str, Json]]) -> Talk:
    """Start `handrail mcp`, send requests one after the other, and end it."""
    about: Json = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}
    messages: list[Json] = [{"id": "hello", "method": "initialize", "params": about}]
    messages.append({"method": "notifications/initialized"})
    for number, (method, params) in enumerate(requests):
        messages.append({"id": number, "method": method, "params": params})
    answers = dict[int, Json]()
    with (
        (box.base / "mcp-stderr").open("w+") as err,
        subprocess.Popen(
            [PROGRAM, "mcp"],
            cwd=box.repository,
            env=box.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        ) as server,
    ):
        assert server.stdin
        assert server.stdout
        # A server that does not answer is ended, and the test fails by the line that is missing.
        watchdog = Timer(PATIENCE, server.kill)
        watchdog.start()
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            if "id" in message:
                answer = json.loads(server.stdout.readline())
                if answer["id"] != "hello":
                    answers[answer["id"]] = answer
        watchdog.cancel()
        server.stdin.close()
        assert server.wait(PATIENCE) == 0
        err.seek(0)
        return Talk([answers[number] for number in range(len(requests))], err.read())
