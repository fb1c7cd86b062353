"""Processes that kill themselves at each point once, and live again until they come through."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn
from zlib import crc32

from handrail.ports.log import Append, Lease, StoredEvent
from handrail.ports.processes import Ended, Gone, ProcessSpec, Running, TimedOut
from handrail.processes.keeper_pool import KEEPER_POOL
from handrail.processes.local import LocalProcesses
from handrail.store.sqlite.log import SqliteLog, open_log

Life = Callable[[str, Path, int, int], None]
"""One life of a driving process: workflow, folder, batch, number of batches."""


def run_of(workflow: str) -> str:
    """The run of a workflow, the only one in its folder that nobody else started."""
    return f"{workflow}-1"


class Points:
    """Where a process may die, and where one of this batch has died already."""

    def __init__(self, folder: Path, batch: int, batches: int) -> None:
        self._here = _Here()
        self._dying = threading.Lock()
        self._file = folder / "killed"
        self._seen = set(self._file.read_text("utf-8").splitlines()) if self._file.exists() else set[str]()
        self._batch, self._batches = batch, batches

    @property
    def label(self) -> str:
        """What the point of this thread is about."""
        return self._here.label

    @label.setter
    def label(self, label: str) -> None:
        self._here.label = label

    def __call__(self, name: str) -> None:
        point = f"{name} {self.label}"
        if self.fatal(point):
            self.die(point)

    def fatal(self, point: str) -> bool:
        """Tell whether a process has to die at a point: one of this batch, at which none has died yet."""
        return bool(self._batches) and point not in self._seen and self.chosen(point)

    def chosen(self, point: str) -> bool:
        """Tell whether a point is one of this batch."""
        return crc32(point.encode()) % self._batches == self._batch

    def die(self, point: str) -> NoReturn:
        """Note where, and end at once; of several threads only one dies, and the others with it."""
        with self._dying:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(point + "\n")
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError


class _Here(threading.local):
    label = ""


class LabelledLog(SqliteLog):
    """A log that says what it is about to write."""

    points: Points

    def append(self, appends: Sequence[Append], leases: Sequence[Lease]) -> tuple[StoredEvent, ...]:
        self.points.label = " ".join(f"{each.stream}:{each.expected}" for each in appends)
        return super().append(appends, leases)

    def send(self, stream: str, key: str, payload: bytes) -> bool:
        self.points.label = f"{stream} {key}"
        return super().send(stream, key, payload)

    def acquire(self, stream: str, holder: str) -> Any:
        self.points.label = stream
        return super().acquire(stream, holder)

    def release(self, lease: Lease) -> None:
        self.points.label = lease.stream
        super().release(lease)


class CrashingProcesses(LocalProcesses):
    """Real processes, and a driver that may die before it starts one, while one runs, and after one has ended."""

    def __init__(self, points: Points) -> None:
        super().__init__()
        self._points = points
        KEEPER_POOL.open()

    def _point(self, name: str, folder: str) -> None:
        self._points.label = "/".join(Path(folder).parts[-3:])
        self._points(name)

    def start(self, spec: ProcessSpec) -> Running:
        self._point("start.before", spec.folder)
        return super().start(spec)

    async def wait(self, folder: str, timeout: float | None) -> Ended | Gone | TimedOut:
        self._point("wait.before", folder)
        ended = await super().wait(folder, timeout)
        self._point("wait.after", folder)
        return ended


def labelled_log(folder: Path, points: Points) -> LabelledLog:
    """Open the log of a folder with points in it."""
    opened = open_log(folder / "data", on_point=points)
    opened.__class__ = LabelledLog
    log: LabelledLog = opened  # type: ignore[assignment]  # the same object under the class that it has now
    log.points = points
    return log


def lives(life: Life, workflow: str, folder: Path, batch: int, batches: int) -> int:
    """Live until a life ends by itself; give how many were killed."""
    killed = 0
    while True:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                life(workflow, folder, batch, batches)
                code = 0
            except Exception:
                traceback.print_exc()
                raise
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            return killed
        killed += 1
