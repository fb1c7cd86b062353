"""The process of the keeper pool: forks one keeper ahead, and the next one when that is called (`keeper_pool`).

It runs with `python -I -S`, so it and what it imports use only the standard library.

1. The keeper that waits is the one who listens on the line, so that a call wakes nobody else.
2. It tells when it is called. One that ends without that has found the end of the line, or nothing works here.
3. It tells, too, when its command runs: the next keeper is forked then and not before, unless somebody waits for it.
4. A keeper that nobody waits for does everything once in vain: what a fork does first takes several times as long.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
from importlib import import_module
from pathlib import Path

from handrail.processes.keeper import Keeper, PreparedKeeper, close_what_leaked_in, open_masked_files
from handrail.processes.keeper_files import KeeperFiles
from handrail.processes.process_table import birth_of
from handrail.processes.spawn import SpawnError, spawn

TYPE_CHECKING = False  # instead of importing `typing`, which takes as long as all else here
if TYPE_CHECKING:
    from handrail.processes.launch import Spec

_LATER = ("ctypes", "handrail.processes.mask_output", "handrail.processes.open_stdin")
"""What keepers import themselves, if it was not imported before they were forked."""
_HANDED = 3
_NOWHERE = Path("/dev/null/nowhere")
"""Where nothing can be."""
_SAMPLE = {
    "key": "run:1:0.0",
    "mark": f"run:1:0.0@{_NOWHERE}",
    "told": {"argv": [str(_NOWHERE)], "cwd": "/", "env": {f"NAME_{number}": "value" * 4 for number in range(50)}},
    "secrets": {},
}
"""The task of a keeper in a rehearsal, of about the usual size."""


def main() -> None:
    """Have a keeper ready until nobody can ask for one any more."""
    close_what_leaked_in()
    os.chdir("/")
    # Keepers are not reaped here: their state is in the files that they write.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    line = socket.socket(fileno=0)
    loaded = not select.select([line], [], [], 0)[0]
    if loaded:
        _load()
    while _fork_and_wait(line):
        if not loaded:
            # Whoever asked for the first keeper was not kept waiting for it; all others have it loaded.
            _load()
            loaded = True
    os._exit(0)


def _load() -> None:
    for name in _LATER:
        # Handrail is being replaced at this very moment: keepers do without it, like those started directly.
        with contextlib.suppress(ImportError, SyntaxError, OSError):
            import_module(name)
    with contextlib.suppress(ImportError, SyntaxError, OSError):
        # The pattern that every output is searched with takes a millisecond to compile.
        import_module("handrail.processes.secret_forms").FORMS.can_match(b"")
    birth_of(os.getpid())  # what it remembers, keepers need not ask


def _fork_and_wait(line: socket.socket) -> bool:
    """Fork a keeper, and wait until it is called and has something running, or ends."""
    hear, tell = os.pipe()
    # What is there already is never garbage: a keeper that looked would make a copy of all of it.
    gc.freeze()
    if os.fork() == 0:
        os.close(hear)
        _become_keeper(line, tell)
    os.close(tell)
    called = os.read(hear, 1)
    if called:
        # Beside the command that was called for, a fork would take time that somebody waits for.
        select.select([line, hear], [], [])
    os.close(hear)
    return bool(called)


def _become_keeper(line: socket.socket, tell: int) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    prepared = PreparedKeeper()
    if not select.select([line], [], [], 0)[0]:
        _rehearse()
    handed = socket.recv_fds(line, 1, _HANDED)[1]
    if len(handed) != _HANDED:
        os._exit(0)
    with contextlib.suppress(OSError):
        line.sendall(str(os.getpid()).encode())
    os.write(tell, b"c")
    # The first of them takes the place of the line, which must be held by nobody who is called.
    for number, descriptor in enumerate(handed):
        os.dup2(descriptor, number)
        os.close(descriptor)
    line.detach()
    prepared.keep(tell)


def _rehearse() -> None:
    """Do in vain what a command needs: a fork copies each page that it first writes to, and nobody waits for it now."""
    spec: Spec = json.loads(json.dumps({**_SAMPLE, "folder": str(_NOWHERE)}))
    record = {"key": spec["key"], "mark": spec["mark"], "pid": os.getpid(), "started": birth_of(os.getpid())}
    files = KeeperFiles(spec["folder"])
    files.claim(record, durable=False)
    files.name_command(record)
    keeper = Keeper(files, 0, 0)
    try:
        spawn(spec["told"], (0, 1, 2))
    except SpawnError as refused:
        keeper.note_refusal(refused)
        keeper.outputs = open_masked_files(_NOWHERE, spec)
        keeper.keep()
