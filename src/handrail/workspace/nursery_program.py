"""The process of the nursery: it forks a keeper for each set of descriptors that it is handed (`nursery`).

It runs with `python -I -S`, so it and what it imports use the standard library only.
"""

import contextlib
import os
import select
import signal
import socket
from importlib import import_module

from handrail.workspace import keeper
from handrail.workspace.proctable import birth_of

_LATER = ("ctypes", "handrail.workspace.masking", "handrail.workspace.talking")
"""What keepers load by themselves, if it was not loaded before they were forked."""
_HANDED = 4


def main() -> None:
    """Fork keepers until nobody can ask for one any more."""
    keeper.close_what_leaked_in()
    os.chdir("/")
    # Nobody waits for the keepers: who wants to know of one looks at what it wrote.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    line = socket.socket(fileno=0)
    if not select.select([line], [], [], 0)[0]:
        _load()
    while True:
        handed = socket.recv_fds(line, 1, _HANDED)[1]
        if len(handed) != _HANDED:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            _become_keeper(handed)
        for each in handed:
            os.close(each)
        with contextlib.suppress(OSError):
            line.sendall(str(pid).encode())


def _load() -> None:
    for name in _LATER:
        # Handrail is being replaced at this very moment: keepers do without, as those do that are started directly.
        with contextlib.suppress(ImportError, SyntaxError, OSError):
            import_module(name)
    birth_of(os.getpid())  # what it remembers, keepers need not ask


def _become_keeper(handed: list[int]) -> None:
    os.setsid()
    os.fchdir(handed[3])
    for number, descriptor in enumerate(handed[:3]):
        os.dup2(descriptor, number)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    keeper.main()
