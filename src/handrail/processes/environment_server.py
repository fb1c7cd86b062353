"""The background driver's end of the private channel: receives environments for runs, and returns them."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

from handrail.processes.environment_channel import FOLDER, MAX_BYTES, TIMEOUT, Peer, find_peer, short_socket_path
from handrail.processes.process_folder import callers, find_inside
from handrail.processes.run_environment import HandedEnvironments

MAX_PEERS = 32
"""How many processes are served at the same time; further ones are turned away."""
_AGAIN = 0.1
MAX_RUNS = 1024
"""How many environments are held at the same time."""


class RunStates(Protocol):
    """What the server needs to know about the runs whose environments are held."""

    def can_hand_over(self, run: str, pid: int, *, by_agent: bool) -> bool:
        """Whether a process, 0 for an unknown one, may pass on the environment of a run."""
        ...

    def is_done(self, run: str) -> bool:
        """Whether a run is over for good, and needs no environment any more."""
        ...


class EnvironmentServer:
    """Listens on the socket of one background driver."""

    def __init__(self, data: Path, environments: HandedEnvironments, runs: RunStates) -> None:
        self._data = data
        self._environments = environments
        self._runs = runs
        self._line: socket.socket | None = None
        self._called: Callable[[], None] = _ignore_call

    @property
    def name(self) -> str:
        """The name of the socket in its folder."""
        return f"{os.getpid()}.socket"

    @property
    def _path(self) -> Path:
        return self._data / FOLDER / self.name

    def open(self) -> str:
        """Open the socket, and return its name; empty where that is not possible."""
        folder = self._data / FOLDER
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            folder.chmod(0o700)
            self._path.unlink(missing_ok=True)
            with short_socket_path(self._path) as name:
                line.bind(name)
            self._path.chmod(0o600)
            line.listen(MAX_PEERS)
        except OSError:
            line.close()
            return ""
        line.settimeout(0)
        self._line = line
        return self.name

    def sweep(self) -> None:
        """Remove the sockets of drivers that were killed; only the holder of the lock may do that."""
        for each in (self._data / FOLDER).glob("*.socket"):
            if each.name != self.name:
                with contextlib.suppress(OSError):
                    each.unlink()

    def close(self) -> None:
        """Stop listening."""
        if self._line is not None:
            self._line.close()
            self._line = None
            with contextlib.suppress(OSError):
                self._path.unlink()

    async def serve(self, called: Callable[[], None] = lambda: None) -> None:
        """Answer calls, until it is cancelled."""
        self._called = called
        if self._line is None:
            return
        loop = asyncio.get_running_loop()
        answering: set[asyncio.Task[None]] = set()
        try:
            while True:
                try:
                    peer, _ = await loop.sock_accept(self._line)
                except OSError:
                    # Too many open files: wait until some are closed.
                    await asyncio.sleep(_AGAIN)
                    continue
                if len(answering) >= MAX_PEERS:
                    peer.close()
                    continue
                task = asyncio.create_task(self._serve_call(peer))
                answering.add(task)
                task.add_done_callback(answering.discard)
        finally:
            for task in answering:
                task.cancel()

    async def _serve_call(self, line: socket.socket) -> None:
        """Read one call and answer it; a peer that is slow, silent or sends too much is dropped."""
        with line, contextlib.suppress(OSError, ValueError, RecursionError):
            line.settimeout(0)
            peer = find_peer(line)
            if peer is None or peer.uid == os.getuid():
                async with asyncio.timeout(TIMEOUT):
                    answer = self.answer(peer, await _receive(line))
                    await asyncio.get_running_loop().sock_sendall(line, json.dumps(answer).encode())

    def answer(self, peer: Peer | None, data: bytes) -> dict[str, object]:
        """Answer a call of a process of the same user."""
        call = json.loads(data)
        if not isinstance(call, dict):
            return {"refused": "the request is not a JSON object"}
        asked = cast("dict[str, Any]", call)
        self._forget()
        match asked.get("ask"), asked.get("run"):
            case "list", _:
                held = {"": os.environ, **self._environments.list_held()}
                return {"runs": {run: sorted(each) for run, each in held.items()}}
            case "give", str(run) if not self._is_inside(peer):
                return {"variables": self._environments.list_held().get(run)}
            case "hold", str(run):
                return {"held": self._take(peer, run, asked)}
            case _:
                return {"refused": "unknown request, or one that agents may not make"}

    def _take(self, peer: Peer | None, run: str, asked: dict[str, Any]) -> bool:
        """Hold an environment where none is held yet, or where a person replaces it."""
        self._called()
        variables, held = asked.get("variables"), self._environments.list_held()
        by_agent = self._is_inside(peer)
        if not _is_environment(variables) or len(held) >= MAX_RUNS:
            return False
        if not self._runs.can_hand_over(run, 0 if peer is None else peer.pid, by_agent=by_agent):
            return False
        if run in held and (by_agent or asked.get("instead") is not True):
            return False
        self._environments.hold(run, cast("dict[str, str]", variables))
        return True

    def _forget(self) -> None:
        for run in self._environments.list_held():
            if self._runs.is_done(run):
                self._environments.drop(run)

    def _is_inside(self, peer: Peer | None) -> bool:
        return peer is not None and find_inside(self._data, callers(peer.pid)) is not None


def _ignore_call() -> None:
    """Ignore the call: nobody wants to be notified."""


def _is_environment(given: object) -> bool:
    if not isinstance(given, dict):
        return False
    pairs = cast("dict[object, object]", given).items()
    return all(isinstance(name, str) and isinstance(value, str) and "\0" not in name + value for name, value in pairs)


async def _receive(line: socket.socket) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := await asyncio.get_running_loop().sock_recv(line, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise ValueError("the request is too large")
    return b"".join(parts)
