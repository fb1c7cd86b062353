"""The process of the keeper pool: forks one keeper ahead, and the next one when that is called (`keeper_pool`).

It runs with `python -I -S`, so it and what it imports use only the standard library.

1. The waiting keeper itself listens on the socket, so that a request wakes nobody else.
2. It reports when it is called. One that ends without a report has found the socket closed, or nothing works here.
"""

import contextlib
import os
import select
import signal
import socket
from importlib import import_module

from handrail.processes.keeper import Crib, close_what_leaked_in
from handrail.processes.process_table import birth_of

_LATER = ("ctypes", "handrail.processes.mask_output", "handrail.processes.open_stdin")
"""What keepers import themselves, if it was not imported before they were forked."""
_HANDED = 3
_REST = 0.5
"""Seconds before the next keeper is forked if nobody waits for it."""


def main() -> None:
    """Have a keeper ready until nobody can ask for one any more."""
    close_what_leaked_in()
    os.chdir("/")
    # Keepers are not reaped here: their state is in the files that they write.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    line = socket.socket(fileno=0)
    if not select.select([line], [], [], 0)[0]:
        _load()
    while _was_called(line):
        # Leave the machine to the new command for a moment, unless another request is waiting.
        select.select([line], [], [], _REST)
    os._exit(0)


def _load() -> None:
    for name in _LATER:
        # Handrail is being replaced at this very moment: keepers do without it, like those started directly.
        with contextlib.suppress(ImportError, SyntaxError, OSError):
            import_module(name)
    birth_of(os.getpid())  # fills a cache that forked keepers inherit


def _was_called(line: socket.socket) -> bool:
    """Fork a keeper, and wait until it is called or ends."""
    hear, tell = os.pipe()
    if os.fork() == 0:
        os.close(hear)
        _be_called(line, tell)
    os.close(tell)
    called = os.read(hear, 1)
    os.close(hear)
    return bool(called)


def _be_called(line: socket.socket, tell: int) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    crib = Crib()
    handed = socket.recv_fds(line, 1, _HANDED)[1]
    if len(handed) != _HANDED:
        os._exit(0)
    with contextlib.suppress(OSError):
        line.sendall(str(os.getpid()).encode())
    os.write(tell, b"c")
    os.close(tell)
    # The first replaces the pool's socket, which a called keeper must not hold.
    for number, descriptor in enumerate(handed):
        os.dup2(descriptor, number)
        os.close(descriptor)
    line.detach()
    crib.keep()
