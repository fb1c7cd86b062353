"""A second process that looks at half of many files: two processors need half the time, and threads share one.

Whoever waits for it looks at the other half meanwhile. It is forked by the keeper pool, and ends with the process that
asked for it.

1. It holds nothing: each request has the paths, and the times that they are to have, so none can be answered for
another one.
2. It is only a faster way to the same answer: where there is none, or it is busy or does not answer, whoever asked
looks at everything.

The helper uses this module, so it needs only the standard library.
"""

import contextlib
import os
import socket
import threading
from array import array
from collections.abc import Sequence

from handrail.processes.keeper_pool import KEEPER_POOL, LENGTH_BYTES

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAME, _DIFFERENT = b"s", b"d"
_TIMEOUT = 5.0


def is_unchanged(root: bytes, paths: Sequence[bytes], times: Sequence[int]) -> bool:
    """Whether files and folders below a folder have the given times of their last change; False if one is missing."""
    lstat = os.lstat
    try:
        folder = os.open(root, _FOLDER)
    except OSError:
        return False
    try:
        # A plain loop: it takes less time than anything else that was tried.
        for path, time in zip(paths, times, strict=True):
            if lstat(path, dir_fd=folder).st_ctime_ns != time:
                return False
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


def serve_requests(line: socket.socket) -> None:
    """Answer requests until nobody can make any more."""
    with contextlib.suppress(OSError):
        while head := line.recv(LENGTH_BYTES, socket.MSG_WAITALL):
            request = line.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
            line.sendall(_SAME if is_unchanged(*_decode(request)) else _DIFFERENT)


def encode_request(root: bytes, paths: Sequence[bytes], times: Sequence[int]) -> bytes:
    """Write down what is to be looked at."""
    names = b"\0".join((root, *paths))
    request = len(names).to_bytes(LENGTH_BYTES, "big") + names + array("q", times).tobytes()
    return len(request).to_bytes(LENGTH_BYTES, "big") + request


def _decode(request: bytes) -> "tuple[bytes, list[bytes], array[int]]":
    end = LENGTH_BYTES + int.from_bytes(request[:LENGTH_BYTES], "big")
    root, *paths = request[LENGTH_BYTES:end].split(b"\0")
    return root, paths, array("q", request[end:])


class StatHelper:
    """The helper of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process = 0

    def ask(self, request: bytes) -> bool:
        """Give the helper a request; False where there is none, or it is busy. `hear` has to be called after that."""
        if not self._lock.acquire(blocking=False):
            return False
        # One that was killed, or went with its pool, is replaced.
        if self._send(request) or self._send(request):
            return True
        self._lock.release()
        return False

    def _send(self, request: bytes) -> bool:
        if self._line is None or self._process != os.getpid():
            self._line, self._process = KEEPER_POOL.fork_helper(), os.getpid()
        try:
            if self._line is not None:
                self._line.settimeout(_TIMEOUT)
                self._line.sendall(request)
        except OSError:
            self._close()
        return self._line is not None

    def hear(self) -> bool | None:
        """Return the answer to a request; None where the helper has failed."""
        try:
            answer = b"" if self._line is None else self._line.recv(1)
        except OSError:
            answer = b""
        if not answer:
            self._close()
        self._lock.release()
        return answer == _SAME if answer else None

    def _close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


STAT_HELPER = StatHelper()
"""One per process, since it is of use where another processor is idle."""
