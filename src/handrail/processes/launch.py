"""Starts the keeper of a command: the one place where Handrail creates a process that lasts.

A start needs two folders and four files, and on some file systems making them takes a good part of the time of a short
command. So they are made ahead: `StartFolders` names a path beside the runs, at which the keeper of a command makes
them once it has written the status of its own. They are moved to where the next command is started, by a rename.

1. Nothing replaces a folder that has anything in it, so a start that was made before is found there as ever; and what
is moved away can be used by nobody else.
2. It is only a faster way to the same folder: where none is ready, or it cannot be moved, the folder is made as needed,
and so is any file that is missing in it. For a command that must not run twice it is always made when it starts.
3. What is made ahead has its name only when it is complete. It names the process that it is for, which removes it in
the end; if that died, another one does.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import NoReturn, TypedDict, TypeVar

from handrail.errors import ProcessFault
from handrail.ports.processes import MARK, ProcessSpec
from handrail.processes.environment import secret_values
from handrail.processes.keeper_pool import KEEPER_POOL, LENGTH_BYTES, spawn_python

T = TypeVar("T")
_TIMEOUT = 60.0
_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
_INNER = "0.0"
"""The usual name of the folder of a start."""
_NUMBERS = count(1)
_MOST_AHEAD = 8
"""More than that are not made ahead, however many commands run at once."""


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
    ahead: bool
    """Whether the folder was made ahead, with drafts in it that name no keeper."""
    next: tuple[str, str] | None
    """Where the folder of another command is to be made ahead, and its name."""


class StartFolders:
    """Has folders of commands made ahead, in a place on the same file system."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._planned: list[str] = []
        """Those that keepers were asked to make: some are made, some will be, and some never if a keeper was killed."""
        self._process = 0
        """Who planned them: a fork has none of its own yet."""

    def take(self, folder: Path) -> bool:
        """Move what was made ahead to where a command is started; False where there is none, or it cannot be moved."""
        with self._lock:
            planned = self._planned if self._process == os.getpid() else []
            moved = next((path for path in planned if _move(path, folder)), None)
            if moved is not None:
                planned.remove(moved)
        return moved is not None

    def plan(self) -> tuple[str, str] | None:
        """Return where a keeper shall make the next one, and its name; None where there are enough, or none can be."""
        with self._lock, contextlib.suppress(OSError):
            if self._process != os.getpid():
                self._remove_abandoned()
                self._process, self._planned = os.getpid(), []
            if len(self._planned) >= _MOST_AHEAD:
                self._planned = [path for path in self._planned if os.path.lexists(path)]
            if len(self._planned) < _MOST_AHEAD:
                self._planned.append(f"{self._place}/{self._process}-{next(_NUMBERS)}")
                return self._planned[-1], _INNER
        return None

    def close(self) -> None:
        """Remove what was made and is not needed."""
        with self._lock:
            planned, self._planned = self._planned, []
        for path in planned if self._process == os.getpid() else ():
            _remove_tree(path)

    def _remove_abandoned(self) -> None:
        """Remove what was made for processes that are dead."""
        self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in self._place.iterdir():
            owner = each.name.partition("-")[0]
            if not owner.isdecimal() or not _is_process(int(owner)):
                _remove_tree(str(each))


def _move(path: str, folder: Path) -> bool:
    """Move a folder with a folder in it to where the inner one shall be; False where that is refused."""
    try:
        os.rename(path, folder.parent)  # noqa: PTH104 - somebody waits for it
    except OSError:
        # Usually since the effect has a folder already, with other commands or with values in it.
        return _move_inner(path, folder)
    return folder.name == _INNER or _move_inner(str(folder.parent), folder)


def _move_inner(path: str, folder: Path) -> bool:
    try:
        os.rename(f"{path}/{_INNER}", folder)  # noqa: PTH104 - as above
    except OSError:
        return False
    with contextlib.suppress(OSError):
        os.rmdir(path)  # noqa: PTH106 - as above
    return True


def _is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _remove_tree(path: str) -> None:
    gone = f"{path}.gone"
    with contextlib.suppress(OSError):
        # Out of reach first, so that nobody uses what is half removed.
        os.rename(path, gone)  # noqa: PTH104 - as above
    shutil.rmtree(gone, ignore_errors=True)


def launch(spec: ProcessSpec, folders: StartFolders | None = None) -> tuple[int, int]:
    """Start a keeper, wait until it has claimed the folder or found it taken, and return its process id.

    The second value is a descriptor that the caller has to close: it is readable as soon as the keeper has written the
    status, or died; the keeper waits there for another command then. Where `folders` has a folder ready, that is used.
    """
    folder = Path(spec.folder)
    try:
        with contextlib.ExitStack() as opened:
            ahead = folders is not None and not spec.once and folders.take(folder)
            if not ahead:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            outputs = [_open(folder / stream, opened) for stream in ("stdout", "stderr")]
            pid, ours = _start_keeper(folder, outputs, opened)
            words = _describe(spec, ahead=ahead, then=None if folders is None else folders.plan())
            answer = _talk(ours, words, pid)
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
    """Call an idle keeper, or else fork or start one, and return it with our end of its socket."""
    idle = KEEPER_POOL.call_idle(outputs)
    if idle is not None:
        opened.enter_context(idle[1])
        return idle
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


def _describe(spec: ProcessSpec, *, ahead: bool, then: tuple[str, str] | None) -> bytes:
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
        "ahead": ahead,
        "next": then,
    }
    return json.dumps(told).encode()


def _talk(ours: socket.socket, words: bytes, keeper: int) -> str:
    """Tell a keeper what to run, and return its answer."""
    ours.settimeout(_TIMEOUT)
    try:
        ours.sendall(len(words).to_bytes(LENGTH_BYTES, "big") + words)
        reply = _read_line(ours).decode(errors="replace").strip()
    except TimeoutError as error:
        # A keeper that hangs must not continue later: nobody would know what it runs.
        os.kill(keeper, signal.SIGKILL)
        reply = str(error)
    except OSError as error:
        reply = str(error)
    return reply or "the keeper died at startup; the file stderr there says why"


def _read_line(ours: socket.socket) -> bytes:
    """Read one line and no more: what follows it tells others that the command has ended."""
    while b"\n" not in (seen := ours.recv(4096, socket.MSG_PEEK)):
        if not seen or len(seen) == 4096:
            return seen
    return ours.recv(seen.index(b"\n") + 1)


def _make_absolute(path: str) -> str:
    """Make a path absolute, so that it means the same to a keeper, which is in another folder."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH117, PTH118 - no other path is made of it


def _refuse(folder: Path, words: str) -> NoReturn:
    message = f"a process cannot be started in {folder}: {words}"
    raise ProcessFault(message, next_step="make the folder writable, or free up disk space, then resume")
