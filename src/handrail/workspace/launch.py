"""Starting the keeper of a command: the one place where Handrail makes a process that lasts."""

import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

import handrail
from handrail.errors import ProcessFault
from handrail.ports.processes import MARK, ProcessSpec
from handrail.workspace.secrets import secret_values

_BOOT = "import sys; sys.path.append(sys.argv[1]); from handrail.workspace.keeper import main; main()"
_PATIENCE = 60.0
_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


def launch(spec: ProcessSpec) -> int:
    """Start a keeper, wait until it has claimed the folder or found it taken, and give its process id."""
    folder = Path(spec.folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.ExitStack() as opened:
            outputs = [_open(folder / stream, opened) for stream in ("stdout", "stderr")]
            ours, theirs = socket.socketpair()
            opened.enter_context(ours)
            with theirs:
                pid = _spawn(folder, [theirs.fileno(), *outputs])
            answer = _talk(ours, spec)
    except OSError as error:
        _refuse(folder, error.strerror or str(error))
    if answer not in ("ok", "taken"):
        # A keeper that hangs must not come to life later: nobody would know of what it runs.
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        _refuse(folder, answer)
    return pid


def _open(path: Path, opened: contextlib.ExitStack) -> int:
    descriptor = os.open(path, _OUTPUT, 0o600)
    opened.callback(os.close, descriptor)
    return descriptor


def _spawn(folder: Path, descriptors: list[int]) -> int:
    root = str(Path(handrail.__file__).parents[1])
    words = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, root, str(folder)]
    return os.posix_spawn(
        sys.executable,
        words,
        {},
        file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(descriptors)],
        setsid=True,
        setsigmask=(),
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )


def _talk(ours: socket.socket, spec: ProcessSpec) -> str:
    told = {
        "key": spec.key,
        "mark": spec.mark,
        "argv": spec.argv,
        "cwd": spec.cwd,
        "env": dict(spec.env) | {MARK: spec.mark},
        "limit": spec.limit_bytes,
        "once": spec.once,
        "secrets": secret_values(dict(os.environ) | dict(spec.env)),
    }
    ours.settimeout(_PATIENCE)
    try:
        ours.sendall(json.dumps(told).encode())
        ours.shutdown(socket.SHUT_WR)
        reply = ours.recv(4096).decode(errors="replace").strip()
    except OSError as error:
        reply = str(error)
    return reply or "the keeper died at its start; the file stderr there says why"


def _refuse(folder: Path, words: str) -> NoReturn:
    message = f"cannot start a process in {folder}: {words}"
    raise ProcessFault(message, next_step="make the folder writable, or free some space, then resume")
