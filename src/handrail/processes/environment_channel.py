"""The private channel on which environments of runs are passed: a Unix socket that only one user can reach.

1. The socket is in a folder that only its owner may enter, and both ends ask the kernel who the other one is: nothing
is sent to another user, nor to a process other than the one that holds the lock of the background driver.
2. A call is one JSON document, an answer another; both are bounded, and so is the time they may take. The content is
only in the memory of the two processes: never on a disk, in a command line or in a process's own environment.
3. A process that was started inside a step speaks for its agent, and gets no environment.
"""

import contextlib
import json
import os
import socket
import struct
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.ports.environments import HandoverOutcome, HeldEnvironment

FOLDER = "driver"
"""Where the sockets of background drivers are, in the data folder."""
MAX_BYTES = 1 << 20
"""The largest call, and the largest answer."""
TIMEOUT = 5.0
"""Timeout of a call and its answer, in seconds."""
_MAX_LENGTH = 100
"""The longest path that any system accepts for a socket, in bytes."""
_CREDENTIALS = struct.Struct("iII")


@frozen
class Peer:
    """The process at the other end."""

    pid: int
    uid: int


@frozen
class Endpoint:
    """Where the background driver listens."""

    pid: int
    socket: str
    """The name of its socket in the folder; empty where it has none, as in an older version."""


class ChannelFault(OSError):
    """The other end is gone, does not answer in time, or is not the expected process."""


def find_peer(connected: socket.socket) -> Peer | None:
    """Ask the kernel who is at the other end; None where this system cannot say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    pid, uid, _ = _CREDENTIALS.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return Peer(pid, uid)


@contextlib.contextmanager
def short_socket_path(path: Path) -> Generator[str]:
    """Provide a name for a socket's path that is short enough for the kernel."""
    if len(os.fsencode(path)) <= _MAX_LENGTH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class SocketEnvironments:
    """The `DriverEnvironments` of a data folder, over its driver's socket."""

    def __init__(self, data: Path, find_driver: Callable[[], Endpoint | None]) -> None:
        self._folder = data / FOLDER
        self._find_driver = find_driver

    def offer(self, run: str, variables: Mapping[str, str], *, instead: bool = False) -> HandoverOutcome:
        """Pass on an environment for a run that this process attends to."""
        driver = self._find_driver()
        if driver is None:
            return "gone"
        if not driver.socket:
            return "older"
        told = self._ask(driver, {"ask": "hold", "run": run, "variables": dict(variables), "instead": instead})
        return "gone" if told is None else "held" if told.get("held") is True else "kept"

    def fetch(self, run: str) -> Mapping[str, str] | None:
        """Return the environment that is held for a run; None where there is none."""
        told = self._ask(self._find_driver(), {"ask": "give", "run": run})
        found = None if told is None else told.get("variables")
        return cast("dict[str, str]", found) if isinstance(found, dict) else None

    def list_held(self) -> tuple[HeldEnvironment, ...] | None:
        """List the environments that are held; None where no driver answers."""
        told = self._ask(self._find_driver(), {"ask": "list"})
        if told is None or not isinstance(told.get("runs"), dict):
            return None
        return tuple(HeldEnvironment(run, tuple(names)) for run, names in sorted(told["runs"].items()))

    def _ask(self, driver: Endpoint | None, call: Mapping[str, object]) -> dict[str, Any] | None:
        if driver is None or not driver.socket or "/" in driver.socket:
            return None
        try:
            return ask(self._folder / driver.socket, driver.pid, call)
        except (OSError, ValueError):
            return None


def ask(path: Path, pid: int, call: Mapping[str, object]) -> dict[str, Any]:
    """Make one call to the driver with this process id, and return its answer."""
    data = json.dumps(call).encode()
    if len(data) > MAX_BYTES:
        raise ChannelFault(f"an environment of {len(data)} bytes is too large to be handed over")
    until = time.monotonic() + TIMEOUT
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line, short_socket_path(path) as name:
        line.settimeout(TIMEOUT)
        line.connect(name)
        peer = find_peer(line)
        if peer is not None and (peer.uid != os.getuid() or peer.pid != pid):
            raise ChannelFault("a process other than the background driver is listening there")
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        answer: object = json.loads(_read(line, until))
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}


def _read(line: socket.socket, until: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        left = until - time.monotonic()
        if left <= 0 or size > MAX_BYTES:
            raise ChannelFault("the background driver is not responding")
        line.settimeout(left)
        part = line.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
