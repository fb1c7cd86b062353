"""A process that is forked ahead, and waits to be told which command it becomes.

The keeper uses it, so it needs the standard library only.

1. It is told by its keeper alone, once, and takes the end of their line for a no: nothing runs for one that died.
2. It has a session of its own, and answers to signals as any new command does, before anybody can know of it.
3. It holds nothing that its parent had open.
"""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Collection, Sequence

from handrail.workspace.proctable import birth_of

TYPE_CHECKING = False  # as `typing` has it, which takes as long to load as all else here
if TYPE_CHECKING:
    from handrail.workspace.launch import Told

_FIRST = 1 << 15
"""Bytes of what it is told that go with the descriptors; the rest follows as it takes them."""
_HANDED = 3


class Unborn:
    """The process, as its keeper sees it."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair()
        self._faults, tell = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _wait(theirs, tell)
        theirs.close()
        os.close(tell)
        self.started = birth_of(self.pid)

    @property
    def waits(self) -> bool:
        """Whether it is still there."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def become(self, told: "Told", streams: Sequence[int]) -> str | None:
        """Let it run a command with these three streams; gives why that cannot be."""
        data = json.dumps(told).encode()
        # It may die at any moment, as any command; its keeper finds out.
        with contextlib.suppress(OSError), self._line:
            socket.send_fds(self._line, [data[:_FIRST]], streams)
            self._line.sendall(data[_FIRST:])
        return read_all(self._faults).decode(errors="replace") or None


def read_all(descriptor: int) -> bytes:
    """Read until the end."""
    chunks: list[bytes] = []
    while chunk := os.read(descriptor, 1 << 16):
        chunks.append(chunk)
    return b"".join(chunks)


def close_all_but(kept: Collection[int]) -> None:
    """Close all descriptors but these."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - pathlib would open it while it is walked
        if int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def lead_nowhere(*streams: int) -> None:
    """Let streams lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in streams:
        os.dup2(nowhere, each)
    os.close(nowhere)


def _wait(line: socket.socket, tell: int) -> None:
    try:
        os.setsid()
        lead_nowhere(0, 1, 2)
        close_all_but((0, 1, 2, line.fileno(), tell))
        _forget_signals()
        told, handed, _, _ = socket.recv_fds(line, _FIRST, _HANDED)
        told += read_all(line.fileno())
        # What ends in its middle is no JSON: the keeper died.
        with contextlib.suppress(ValueError):
            _become(json.loads(told), handed, tell)
    finally:
        os._exit(0)


def _become(told: "Told", handed: Sequence[int], tell: int) -> None:
    code, trouble = 127, f"the working folder {told['cwd']} cannot be entered"
    try:
        for number, descriptor in enumerate(handed):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(told["cwd"])
        if told["stdin"]:
            trouble = f"cannot read {told['stdin']}"
            os.dup2(os.open(told["stdin"], os.O_RDONLY), 0)
        trouble = f"cannot run {told['argv'][0]}"
        os.execvpe(told["argv"][0], told["argv"], told["env"])  # noqa: S606 - what it is for
    except (OSError, ValueError) as error:
        code = 127 if isinstance(error, FileNotFoundError) else 126
        words = error.strerror if isinstance(error, OSError) else str(error)
        os.write(tell, f"{trouble}: {words}".encode(errors="replace"))
    finally:
        os._exit(code)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
