"""The keeper: a small process between Handrail and a command, so that the exit status outlives Handrail.

The problem: a command may run for hours, and Handrail may be killed or replaced meanwhile. The kernel reports an exit
status only to the parent, and what a command forks may detach itself. So every command has a parent of its own, which
does nothing else, and everything that others need to know is in files of one folder. They see these states:

    no process.json               nothing was started here
    process.json, no status       running while the keeper or the command lives; otherwise lost
    status with cleared: false    the command has ended; the rest of its process tree is being ended, by Handrail if
                                  the keeper was killed
    status with cleared: true     everything has ended, and the output is final

`launch` starts the keeper with `python -I -S`, or `keeper_pool` forks it: it and what it imports use only the standard
library. It is safe because each state is reached by one atomic operation on a file, in this order:

1. Nothing runs before `process.json` names the keeper; the command is named there as soon as it runs. If the keeper
is killed in between, the command is found by its mark, a variable in its environment.
2. `process.json` is created by link(2): of two keepers started for one folder, one wins and the other exits.
3. The command has a session of its own, so that signals to its group do not reach the keeper, which records them.
4. Orphans of the command become the keeper's children (Linux), so that no fork or session hides them.
5. The status is written when the command itself has ended; then the rest of its tree is ended; then the keeper leaves
the folder: it writes there no more, and its outputs are no longer the command's. That tells whose keeper a process is.
6. Secrets are masked in the output while it grows, and all of them before the keeper leaves (`mask_output`).
7. Whoever starts a command waits for the keeper: what it needs only afterwards is imported while the command runs.
8. A keeper that has left waits for the next command of the process that started it, and exits with that process. It
exits at once where its children do not show all that a command started, or a status could not be written.
"""

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterable
from pathlib import Path

from handrail.processes.keeper_files import KeeperFiles, make_ahead
from handrail.processes.keeper_pool import ENDED, LENGTH_BYTES
from handrail.processes.process_table import adopt_orphans, birth_of, find_descendants
from handrail.processes.spawn import SpawnError, spawn

TYPE_CHECKING = False  # instead of importing `typing`, which takes as long as all else here
if TYPE_CHECKING:
    from handrail.processes.launch import Spec
    from handrail.processes.mask_output import MaskedFile
    from handrail.processes.open_stdin import StdinWriter


SETTLE, GRACE, LAST = 0.5, 2.0, 5.0
"""Seconds that the rest of a process tree gets: to finish, to react to TERM, to vanish after KILL."""
BUSY, IDLE = 0.02, 0.2
"""Seconds between two checks of the size of the output, while it grows and while it does not."""


def main() -> None:
    """Run the keeper of one command, started directly."""
    close_what_leaked_in()
    PreparedKeeper().keep()


def close_what_leaked_in() -> None:
    """Close all descriptors but the first three."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - pathlib would open it while it is walked
        if int(name) > 2:
            with contextlib.suppress(OSError):
                os.close(int(name))


class PreparedKeeper:
    """Everything that a keeper can prepare before it knows what to run, so that nobody waits for it then."""

    def __init__(self) -> None:
        os.chdir("/")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        self._adopting = adopt_orphans()
        self._bell = _make_wakeup_pipe()
        self._started = birth_of(os.getpid())

    def keep(self, until_running: int | None = None) -> None:
        """Hear on the standard input what to run, stay until all of it has ended, and then for what comes next.

        The descriptor `until_running` is closed once the first command runs.
        """
        line = socket.socket(fileno=os.dup(0))
        _point_nowhere(0)
        while self._keep_one(line, until_running) and _wait_for_next(line):
            until_running = None
        os._exit(0)  # all is written, and nobody has to wait for Python's own shutdown

    def _keep_one(self, line: socket.socket, until_running: int | None) -> bool:
        """Keep one command; return whether it left nothing, so that another one can follow."""
        spec = _read_spec(line)
        folder, files = Path(spec["folder"]), KeeperFiles(spec["folder"], ahead=spec["ahead"])
        stdin = _open_mouth(folder, spec)
        record = {"key": spec["key"], "mark": spec["mark"], "pid": os.getpid(), "started": self._started}
        refusal = files.claim(record, durable=spec["once"])
        if refusal:
            _answer(line, refusal)
            return False
        keeper = Keeper(files, self._bell, spec["limit"])
        given = _input(spec)
        try:
            keeper.command = spawn(spec["told"], (given if stdin is None else stdin.theirs, 1, 2))
            more = {"command": keeper.command, "command_started": birth_of(keeper.command)}
            files.name_command({**record, **more})
        except SpawnError as refused:
            keeper.note_refusal(refused)
        os.close(given)
        _answer(line, "ok")
        files.drop_draft()
        if until_running is not None:
            os.close(until_running)
        keeper.outputs, keeper.stdin = open_masked_files(folder, spec), stdin
        keeper.group = None if self._adopting else keeper.command
        # Where orphans cannot be followed, and where the status could not be written, its end says that it is over.
        stays = keeper.keep() and self._adopting
        for output in (1, 2):
            _point_nowhere(output)
        # The line stays open until the status is written, so that nobody has to wait for the keeper's own end.
        _answer(line, ENDED) if stays else line.close()
        if spec["next"] is not None:
            make_ahead(*spec["next"])
        return stays


def _wait_for_next(line: socket.socket) -> bool:
    """Wait for the outputs of another command; False when nobody can send them any more."""
    try:
        outputs = socket.recv_fds(line, 1, 2)[1]
    except OSError:
        return False
    for number, descriptor in enumerate(outputs, start=1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    return len(outputs) == 2


def open_masked_files(folder: Path, spec: "Spec") -> "tuple[MaskedFile, ...]":
    """Open the output of a command for masking; nothing where Handrail is being replaced."""
    try:
        from handrail.model.secrets.redaction import Redactor  # noqa: PLC0415 - see 7
        from handrail.processes.mask_output import MaskedFile  # noqa: PLC0415
        from handrail.processes.secret_forms import FORMS  # noqa: PLC0415
    except (ImportError, SyntaxError, OSError):
        # Handrail is being replaced at this very moment. The command runs, so it must not lose its keeper, and
        # output that is not marked as masked is masked by its reader.
        return ()
    redactor = Redactor(spec["secrets"], FORMS)
    return tuple(MaskedFile(folder / stream, redactor) for stream in ("stdout", "stderr"))


def _open_mouth(folder: Path, spec: "Spec") -> "StdinWriter | None":
    if spec["talk"] is None:
        return None
    from handrail.processes.open_stdin import StdinWriter  # noqa: PLC0415 - few commands get messages

    return StdinWriter(*spec["talk"], folder / "stdout")


def _input(spec: "Spec") -> int:
    """Open the standard input of a command, of which nothing is written to a disk."""
    if not spec["stdin"]:
        return os.open(os.devnull, os.O_RDONLY)
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("stdin")
    else:
        import tempfile  # noqa: PLC0415 - not needed on Linux

        descriptor = os.dup(tempfile.TemporaryFile().fileno())  # noqa: SIM115 - the duplicate stays open
    with open(descriptor, "wb", closefd=False) as file:
        file.write(spec["stdin"].encode("latin-1"))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _read_spec(line: socket.socket) -> "Spec":
    size = int.from_bytes(_read_exactly(line, LENGTH_BYTES), "big")
    told: Spec = json.loads(_read_exactly(line, size))
    return told


def _read_exactly(line: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        chunk = line.recv(size - len(found))
        if not chunk:
            os._exit(1)  # the sender died in the middle of it
        found += chunk
    return found


def _answer(line: socket.socket, words: str) -> None:
    with contextlib.suppress(OSError):
        line.sendall(" ".join(words.splitlines()).encode(errors="replace") + b"\n")


def _point_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _make_wakeup_pipe() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    listen, ring = os.pipe()
    os.set_blocking(listen, False)
    os.set_blocking(ring, False)
    signal.signal(signal.SIGCHLD, _ignore_signal)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    return listen


def _ignore_signal(_number: int, _frame: object) -> None:
    """Do nothing: the wake-up descriptor becomes readable."""


class Keeper:
    """Waits for the command, watches its output, and ends what it leaves behind."""

    def __init__(self, files: KeeperFiles, bell: int, limit: int) -> None:
        self._files = files
        self._bell = bell
        self._limit = limit
        self._raw: int | None = None
        self._reason: str | None = None
        self._size = 0
        self._childless = False
        self._incomplete = False
        self.command = 0
        self.group: int | None = None
        """The command's process group, where orphans cannot be followed otherwise."""
        self.outputs: tuple[MaskedFile, ...] = ()
        self.stdin: StdinWriter | None = None

    def note_refusal(self, refused: SpawnError) -> None:
        """Note that the command could not be started."""
        self._raw, self._reason = refused.code << 8, refused.reason

    def keep(self) -> bool:
        """Stay until the command and its whole tree have ended; return whether that is so, and written down."""
        pause = BUSY
        while not self._reap():
            size = max(os.fstat(1).st_size, os.fstat(2).st_size)
            if size > self._limit:
                self._reason = f"it wrote more than {self._limit} bytes to stdout or stderr and was killed"
                self._signal(signal.SIGKILL)
            pause = BUSY if size != self._size else min(pause * 1.5, IDLE)
            self._size = size
            self._mask()
            self._listen(pause if self.stdin is None else min(pause, self.stdin.look()))
        if self.stdin is not None:
            self.stdin.close()
        self._incomplete = not self._files.has_room()
        if not self._is_empty():
            self._record(cleared=False)
            self._clear()
        for descriptor in (1, 2):
            if os.fstat(descriptor).st_size > self._limit:
                os.ftruncate(descriptor, self._limit)
        self._mask(last=True)
        empty = self._is_empty()
        return self._record(cleared=empty) and empty

    def _mask(self, *, last: bool = False) -> None:
        for each in self.outputs:
            each.look(last=last)

    def _reap(self) -> bool:
        """Reap the children that ended; return whether the command is one."""
        with contextlib.suppress(ChildProcessError):
            self._childless = False
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.command:
                    self._raw = ended[1]
            return self._raw is not None
        self._childless = True
        return self._raw is not None

    def _is_empty(self) -> bool:
        # Where orphans become our children, having none proves that nothing is left; the process table may miss a fork.
        self._reap()
        return self._childless and (self.group is None or not self._remaining_pids())

    def _listen(self, seconds: float) -> None:
        if select.select([self._bell], self.stdin.writable_descriptors if self.stdin else [], [], seconds)[0]:
            os.read(self._bell, 4096)

    def _output_size(self, descriptor: int) -> int:
        return min(os.fstat(descriptor).st_size, self._limit)

    def _remaining_pids(self) -> Iterable[int]:
        return find_descendants(os.getpid(), self.group).keys()

    def _signal(self, number: int) -> None:
        for pid in self._remaining_pids():
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _clear(self) -> None:
        if self._wait_until_empty(SETTLE):
            return
        self._signal(signal.SIGTERM)
        if self._wait_until_empty(GRACE):
            return
        self._wait_until_empty(LAST, signal.SIGKILL)

    def _wait_until_empty(self, seconds: float, number: int | None = None) -> bool:
        until = time.monotonic() + seconds
        while not (empty := self._is_empty()) and time.monotonic() < until:
            if number is not None:
                self._signal(number)
            self._listen(BUSY)
        return empty

    def _record(self, *, cleared: bool) -> bool:
        raw = self._raw or 0
        status = {
            "exit_code": os.WEXITSTATUS(raw) if os.WIFEXITED(raw) else None,
            "signal": os.WTERMSIG(raw) if os.WIFSIGNALED(raw) else None,
            "reason": self._reason,
            "cleared": cleared,
            "stdout": self._output_size(1),
            "stderr": self._output_size(2),
            "incomplete": self._incomplete,
            "masked": bool(self.outputs) and all(each.complete for each in self.outputs),
        }
        return self._files.write_status(status)
