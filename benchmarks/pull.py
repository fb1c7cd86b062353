"""What a connected agent waits for: the same walk of 300 steps through the same client, on Handrail and on any peer.

Run with `python benchmarks/pull.py [--quick] [--peer COMMAND]`. A peer is a server that speaks the Model Context
Protocol over stdin and stdout and knows the same tools (start_workflow, continue_workflow, ...); it finds the workflow
in the folder `workflows` of the workspace, and in `~/.workrail/workflows`. Times are in milliseconds, from the request
to the answer; servers take turns, so that a machine that is busy for a while is busy for all.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

STEPS, QUICK_STEPS = 300, 60
SESSIONS, QUICK_SESSIONS = 150, 20
POINTS = (10, 100, 200, 300)
AROUND = 10
"""Advances before a point whose times count for it."""
MEASURED: dict[object, float] = {
    "start": 1154.0,
    "list": 60.0,
    "start_workflow": 87.0,
    10: 81.0,
    100: 190.0,
    200: 717.0,
    300: 823.0,
}
"""What another system with these tools took on two cores, for comparison where no peer is given."""
NOTES = "Looked at the files, changed two of them, ran the tests; they pass. " * 4
Data = dict[str, Any]


@dataclass(slots=True)
class Server:
    """A server in a process of its own, called over its pipes."""

    name: str
    argv: Sequence[str]
    home: Path
    workspace: Path
    process: "subprocess.Popen[bytes]" = field(init=False)
    took: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    _number: int = 0

    def __enter__(self) -> Self:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "HANDRAIL_HOME": str(self.home / "handrail")}
        began = time.perf_counter()
        self.process = subprocess.Popen(
            self.argv, cwd=self.workspace, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None
        )
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", hello)
        self.took.setdefault("start", []).append((time.perf_counter() - began) * 1000)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def request(self, method: str, params: Data) -> Data:
        """Call the server and wait for its answer."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline() if self.process.stdout else b""
            if not line:
                raise SystemExit(f"{self.name} ended")
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer.get("result") or {"isError": True, "content": [{"text": str(answer)}]}

    def tool(self, name: str, arguments: Data, label: str = "") -> Data:
        """Call a tool; its time counts under the label."""
        began = time.perf_counter()
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        self.took.setdefault(label or name, []).append((time.perf_counter() - began) * 1000)
        if result.get("isError"):
            raise SystemExit(f"{self.name}: {name} failed: {result['content'][0]['text'][:500]}")
        return result

    def _send(self, message: Data) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()


def workflow(steps: int) -> str:
    """Write a workflow of plain steps."""
    listed = [
        {
            "id": f"step-{number}",
            "title": f"Step {number}",
            "prompt": f"Do piece {number} of the work and say what came.",
        }
        for number in range(1, steps + 1)
    ]
    head = {"id": "bench-walk", "name": "A long walk", "description": "Many steps.", "version": "1.0.0"}
    return json.dumps({**head, "steps": listed}, indent=1)


def token_of(result: Data) -> str:
    """Find the token that goes on, in the data or in the text."""
    data: Data = result.get("structuredContent") or dict[str, Any]()
    if data.get("continueToken"):
        return str(data["continueToken"])
    text = "\n".join(item.get("text", "") for item in result["content"])
    found = [word.strip('",') for word in text.split() if word.strip('",').startswith("ct_")]
    return found[-1] if found else ""


def walk(server: Server, steps: int) -> None:
    """Walk the workflow to its end, counting each advance under its number."""
    where = {"workspacePath": str(server.workspace)}
    server.tool("list_workflows", where, "list cold")
    for _ in range(5):
        server.tool("list_workflows", where, "list")
    begun = {**where, "workflowId": "bench-walk", "goal": "walk to the end"}
    answer = server.tool("start_workflow", begun)
    for number in range(1, steps + 1):
        output = {"notesMarkdown": f"Piece {number}. {NOTES}"}
        call = {"continueToken": token_of(answer), "intent": "advance", "output": output}
        answer = server.tool("continue_workflow", call, f"advance {number}")


def many_sessions(server: Server, count: int) -> None:
    """Begin many runs, then look for one."""
    where = {"workspacePath": str(server.workspace)}
    for number in range(count):
        goal = f"piece of work number {number}"
        server.tool("start_workflow", {**where, "workflowId": "bench-walk", "goal": goal}, "start_workflow again")
    for number in range(5):
        server.tool("resume_session", {**where, "query": f"work number {count - 1 - number}"})


def at_point(server: Server, point: int) -> list[float]:
    """Give the times of the advances just before a point."""
    numbers = range(max(1, point - AROUND + 1), point + 1)
    return [each for number in numbers for each in server.took.get(f"advance {number}", [])]


def p95(times: Sequence[float]) -> float:
    """Give the time that 95 of 100 stay below."""
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]


def rows(server: Server, steps: int) -> list[tuple[str, float, float, object]]:
    """Give what is shown: a name, median, p95, and the key of what was measured elsewhere."""
    found: list[tuple[str, float, float, object]] = []
    for label in ("start", "list cold", "list", "start_workflow", "start_workflow again"):
        times = server.took[label]
        found.append((label, statistics.median(times), p95(times), label))
    for point in (point for point in POINTS if point <= steps):
        times = at_point(server, point)
        found.append((f"advance at {point}", statistics.median(times), p95(times), point))
    found.append(("resume_session", statistics.median(server.took["resume_session"]), 0.0, "resume"))
    return found


def show(servers: Sequence[Server], steps: int) -> None:
    """Print a table for each server, and how many times faster the first is."""
    ours = rows(servers[0], steps)
    theirs = rows(servers[1], steps) if len(servers) > 1 else None
    print(f"{'':18}{'p50':>9}{'p95':>9}{'other p50':>12}{'faster':>9}")
    for number, (label, median, high, key) in enumerate(ours):
        other = theirs[number][1] if theirs is not None else MEASURED.get(key)
        ratio = "" if not other else f"{other / median:8.1f}x"
        print(f"{label:18}{median:9.1f}{high:9.1f}{'' if other is None else f'{other:12.1f}':>12}{ratio:>9}")
    flat = statistics.median(at_point(servers[0], steps)) / statistics.median(at_point(servers[0], 10))
    print(f"flat with history: an advance at {steps} takes {flat:.2f} of one at 10")
    print("other: the peer in this run" if theirs is not None else "other: measured once, on another day")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peer", help="the command line of another server")
    options = parser.parse_args()
    steps = QUICK_STEPS if options.quick else STEPS
    commands = {"handrail": [str(Path(sys.executable).parent / "handrail"), "mcp"]}
    if options.peer:
        commands["peer"] = shlex.split(options.peer)
    with ExitStack() as stack:
        servers: list[Server] = []
        for name, argv in commands.items():
            room = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for folder in ("home/handrail/workflows", "home/.workrail/workflows", "work/workflows"):
                (room / folder).mkdir(parents=True)
                (room / folder / "bench-walk.json").write_text(workflow(steps))
            server = Server(name, argv, room / "home", room / "work")
            for _ in range(2):
                with server:
                    server.tool("list_workflows", {"workspacePath": str(server.workspace)}, "list cold")
            servers.append(stack.enter_context(server))
        for server in servers:
            walk(server, steps)
            many_sessions(server, QUICK_SESSIONS if options.quick else SESSIONS)
        show(servers, steps)


if __name__ == "__main__":
    main()
