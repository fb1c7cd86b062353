"""Starts the keeper of a command: the one place where Handrail creates a process that lasts."""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn, TypedDict, TypeVar

from handrail.errors import ProcessFault
from handrail.ports.processes import MARK, ProcessSpec
from handrail.processes.environment import secret_values
from handrail.processes.keeper_pool import KEEPER_POOL, spawn_python

T = TypeVar("T")
_TIMEOUT = 60.0
_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


class CommandRequest(TypedDict):
    """The command line, folder and environment of a command."""

    argv: list[str]
    cwd: str
    env: dict[str, str]


class Spec(TypedDict):
    """The keeper's input, as one JSON document on its standard input."""

    key: str
    mark: str
    folder: str
    told: CommandRequest
    stdin: str
    """The bytes of its standard input, each as a character."""
    limit: int
    once: bool
    secrets: dict[str, str]
    """Variables and values that must not be stored; they are passed here and written nowhere."""
    talk: tuple[str, str] | None
    """The folder for messages to the command while it runs, and what it prints when it is done."""


def launch(spec: ProcessSpec) -> tuple[int, int]:
    """Start a keeper, wait until it has claimed the folder or found it taken, and return its process id.

    The second value is a descriptor that the caller has to close: it is readable as soon as the keeper has written the
    status, or died.
    """
    folder = Path(spec.folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.ExitStack() as opened:
            outputs = [_open(folder / stream, opened) for stream in ("stdout", "stderr")]
            pid, ours = _start_keeper(folder, outputs, opened)
            answer = _talk(ours, spec, pid)
            line = os.dup(ours.fileno())
    except OSError as error:
        _refuse(folder, error.strerror or str(error))
    if answer not in ("ok", "taken"):
        os.close(line)
        # A keeper that answered exits. Where it is not our child, its id may belong to another process by now.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        _refuse(folder, answer)
    return pid, line


def _open(path: Path, opened: contextlib.ExitStack) -> int:
    descriptor = os.open(path, _OUTPUT, 0o600)
    opened.callback(os.close, descriptor)
    return descriptor


def _start_keeper(folder: Path, outputs: list[int], opened: contextlib.ExitStack) -> tuple[int, socket.socket]:
    """Fork or else start a new keeper, and return it with our end of its socket."""
    pid, ours = _start_with_socket(KEEPER_POOL.fork_keeper, outputs, opened)
    if pid is None:
        pid, ours = _start_with_socket(partial(spawn_python, "keeper", [str(folder)]), outputs, opened)
    return pid, ours


def _start_with_socket(
    start: Callable[[list[int]], T], outputs: list[int], opened: contextlib.ExitStack
) -> tuple[T, socket.socket]:
    # Each has a socket of its own: a late one must not read what is meant for another.
    ours, theirs = socket.socketpair()
    opened.enter_context(ours)
    with theirs:
        return start([theirs.fileno(), *outputs]), ours


def _talk(ours: socket.socket, spec: ProcessSpec, keeper: int) -> str:
    told: Spec = {
        "key": spec.key,
        "mark": spec.mark,
        "folder": _make_absolute(spec.folder),
        "told": {
            "argv": list(spec.argv),
            "cwd": _make_absolute(spec.cwd),
            "env": dict(spec.env) | {MARK: spec.mark},
        },
        "stdin": spec.stdin.decode("latin-1"),
        "limit": spec.limit_bytes,
        "once": spec.once,
        "secrets": secret_values(dict(os.environ) | dict(spec.env)) | dict(spec.secrets),
        "talk": None if spec.talk is None else (spec.talk.folder, spec.talk.until),
    }
    ours.settimeout(_TIMEOUT)
    try:
        ours.sendall(json.dumps(told).encode())
        ours.shutdown(socket.SHUT_WR)
        reply = ours.recv(4096).decode(errors="replace").strip()
    except TimeoutError as error:
        # A keeper that hangs must not continue later: nobody would know what it runs.
        os.kill(keeper, signal.SIGKILL)
        reply = str(error)
    except OSError as error:
        reply = str(error)
    return reply or "the keeper died at startup; the file stderr there says why"


def _make_absolute(path: str) -> str:
    """Make a path absolute, so that it means the same to a keeper, which is in another folder."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH117, PTH118 - no other path is made of it


def _refuse(folder: Path, words: str) -> NoReturn:
    message = f"a process cannot be started in {folder}: {words}"
    raise ProcessFault(message, next_step="make the folder writable, or free up disk space, then resume")
