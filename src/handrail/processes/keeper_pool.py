"""The keeper pool: one process per driver, from which keepers are forked ahead, so that no command waits for its own.

The problem: starting Python takes longer than many commands. A process that has already imported everything forks a
keeper in a fraction of that time. The pool is in one of these states, as this module sees it:

    closed      not opened, or it did not answer: keepers are started directly
    opening     its process was started, and is importing; a request waits for it
    ready       one forked keeper waits on the socket for the descriptors of its command
    called      the keeper has answered with its process id; the next one is forked a moment later

A keeper whose command has ended is idle, and is called before any is forked: what a process does first, right after
the fork, takes several times as long as it does later.

It is safe because the pool is only a faster way to the same keeper:

1. It owns nothing: a keeper reads what to run from a socket of its own, and exits if that is closed without a message.
2. It ends with the driver, whose end of its only socket closes then. Keepers stay, like those started directly.
3. Where there is none, or it does not answer, a keeper is started directly.
4. An idle keeper is held by a socket of its own, and exits when this process closes it or dies. So is a helper that
looks at files (`stat_helper`).
"""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import handrail

_BOOT = "import sys; sys.path.append(sys.argv[1]); from handrail.processes.{module} import main; main()"
_TIMEOUT = 10.0
_MOST_IDLE = 2
"""More idle keepers than that are not needed often enough."""
KEEPER, HELPER = b"k", b"h"
"""What is asked for."""
LENGTH_BYTES = 8
"""What a keeper receives is one JSON document, after so many bytes with its length; what it says are lines."""
ENDED = "ended"
"""What it says when the status is written and it is idle."""
_ENVIRONMENT = {"LC_ALL": "C.UTF-8"}
"""Not empty, since an empty one looks like that of a process that is executing another program (`process_table`)."""


class KeeperPool:
    """The keeper pool of this process."""

    def __init__(self, patience: float = _TIMEOUT) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._driver = 0
        self._idle: list[tuple[int, socket.socket]] = []
        self._helpers: list[socket.socket] = []
        self.pid = 0

    def open(self) -> None:
        """Start it where there is none; whether it works shows at the first request."""
        with self._lock:
            # A pool that a process inherited by a fork belongs to its parent.
            if self._line is not None and self._driver == os.getpid():
                return
            # If the machine refuses, starting a keeper reports why.
            with contextlib.suppress(OSError):
                self.pid, self._line = _start()
                self._line.settimeout(self._patience)
                self._driver = os.getpid()

    def fork_keeper(self, descriptors: Sequence[int]) -> int | None:
        """Return the process id of a forked keeper that has these as its first descriptors; None if there is none."""
        return self._fork(KEEPER, descriptors)

    def fork_helper(self) -> socket.socket | None:
        """Return the socket on which a forked helper answers (`stat_helper`), closed with the pool; None if none is."""
        ours, theirs = socket.socketpair()
        with theirs:
            helper = self._fork(HELPER, [theirs.fileno()])
        if helper is None:
            ours.close()
            return None
        self._helpers.append(ours)
        return ours

    def _fork(self, kind: bytes, descriptors: Sequence[int]) -> int | None:
        with self._lock:
            if self._line is None or self._driver != os.getpid():
                return None
            try:
                socket.send_fds(self._line, [kind], descriptors)
                born = self._line.recv(32)
            except OSError:
                born = b""
            if not born:
                self._end(self._line)
            return int(born) if born else None

    def call_idle(self, outputs: Sequence[int]) -> tuple[int, socket.socket] | None:
        """Give the outputs of a command to an idle keeper; return its process id and its socket; None if none is."""
        while True:
            with self._lock:
                if not self._idle or self._driver != os.getpid():
                    return None
                keeper, line = self._idle.pop()
            try:
                socket.send_fds(line, [b"k"], outputs)
            except OSError:
                line.close()  # it was killed
            else:
                return keeper, line

    def keep_idle(self, keeper: int, descriptor: int) -> None:
        """Take back the socket of a keeper whose command has ended, and close it where the keeper is not needed."""
        line = socket.socket(fileno=descriptor)
        try:
            line.settimeout(0)
            is_idle = line.recv(64).decode() == f"{ENDED}\n"
        except (OSError, UnicodeDecodeError):
            is_idle = False
        with self._lock:
            if is_idle and self._line is not None and self._driver == os.getpid() and len(self._idle) < _MOST_IDLE:
                self._idle.append((keeper, line))
                return
        line.close()

    def close(self) -> None:
        """End it, if there is one; the keepers stay."""
        with self._lock:
            if self._line is not None and self._driver == os.getpid():
                self._end(self._line)

    def _end(self, line: socket.socket) -> None:
        for each in (*(idle for _, idle in self._idle), *self._helpers):
            each.close()
        self._idle, self._helpers = [], []
        line.close()
        self._line = None
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


KEEPER_POOL = KeeperPool()
"""One per process, since a process has one folder, one signal mask and one set of limits to pass on."""


def _start() -> tuple[int, socket.socket]:
    ours, theirs = socket.socketpair()
    try:
        with theirs, Path(os.devnull).open("r+b") as nowhere:
            descriptors = (theirs.fileno(), nowhere.fileno(), nowhere.fileno())
            return spawn_python("keeper_pool_program", (), descriptors), ours
    except OSError:
        ours.close()
        raise


def spawn_python(module: str, words: Sequence[str], descriptors: Sequence[int]) -> int:
    """Start a module of this package as a process, with only the standard library and in a session of its own."""
    root = str(Path(handrail.__file__).parents[1])
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT.format(module=module), root, *words],
        _ENVIRONMENT,
        file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(descriptors)],
        setsid=True,
        setsigmask=(),
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )
