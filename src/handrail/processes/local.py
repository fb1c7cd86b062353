"""Processes of this machine: started once, found again after a crash, awaited, and ended with all descendants."""

import asyncio
import contextlib
import os
import signal
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from handrail.errors import UsageError
from handrail.late_import import late_import
from handrail.model.secrets.redaction import Redactor
from handrail.ports.processes import MARK, Ended, Gone, ProcessSpec, Running, Stream, TimedOut
from handrail.processes.environment import process_redactor
from handrail.processes.keeper_pool import KEEPER_POOL
from handrail.processes.launch import StartFolders, launch
from handrail.processes.mask_output import read_masked
from handrail.processes.process_folder import LOST_PROCESS, ProcessRecord, Status, build_ended, read_record, read_status
from handrail.processes.process_table import LINUX, Row, find_descendants, find_marked, send
from handrail.processes.wait import wait_until_dead, wait_until_readable

if TYPE_CHECKING:
    from handrail.processes import keeper_files
else:
    keeper_files = late_import("handrail.processes.keeper_files")

_LAST = 5.0
_AGAIN = 0.05
"""Seconds for killed processes to vanish, and between two kills of what was forked meanwhile."""
_LOOK_EVERY = 0.25
"""Seconds between two checks whether a keeper of another process has left its command."""


class _Line(NamedTuple):
    """A keeper, and the descriptor of its socket."""

    keeper: int
    descriptor: int


class LocalProcesses:
    """The `Processes` of this machine."""

    def __init__(
        self, redactor_for: Callable[[str], Redactor] | None = None, folders: StartFolders | None = None
    ) -> None:
        self._children: set[int] = set()
        """Keepers that this object started and that nobody else reaps."""
        self._lines: dict[str, _Line] = {}
        """By folder, what becomes readable when a keeper started here has written the status."""
        self._newest: tuple[str, Status] | None = None
        """The folder and the final status of the command that was awaited last: whoever awaits one reads its output."""
        self._redactor_for: Callable[[str], Redactor] = redactor_for or _forget_folder(process_redactor())
        """Knows the secrets of the run that a folder's command belongs to, besides those that its keeper knew."""
        self._folders = folders
        """Where the folders of commands are made ahead."""
        weakref.finalize(self, _close, self._lines)
        if folders is not None:
            weakref.finalize(self, folders.close)

    def start(self, spec: ProcessSpec) -> Running:
        """Start a command, or adopt the one that was started in this folder before."""
        folder = Path(spec.folder)
        record = read_record(folder)
        if record is None:
            keeper, line = launch(spec, self._folders)
            self._drop_line(spec.folder)
            self._lines[spec.folder] = _Line(keeper, line)
            self._children.add(keeper)
            record = read_record(folder)
        if record is None or record.key not in (spec.key, LOST_PROCESS.key):
            raise UsageError(f"the folder {folder} belongs to another process than {spec.key}")
        return Running(record.pid, record.started)

    def is_kept(self, folder: str) -> bool:
        """Whether a live keeper watches the command of a folder."""
        record = read_record(Path(folder))
        return record is not None and _is_kept(Path(folder), record)

    def look(self, folder: str) -> Running | Ended | Gone | None:
        """Return the state of the command of a folder; None if nothing was started there."""
        self._reap()
        place = Path(folder)
        record = read_record(place)
        if record is None:
            return None
        if (status := _read_final_status(place)) is not None:
            return build_ended(place, status)
        if _is_kept(place, record) or record.is_command_alive or _is_stray(record):
            return Running(record.pid, record.started)
        return _read_outcome(place, record)

    async def wait(self, folder: str, timeout: float | None) -> Ended | Gone | TimedOut:
        """Wait until the command and all its descendants have ended."""
        place = Path(folder)
        record = read_record(place)
        if record is None:
            return Gone()
        clock = asyncio.get_running_loop().time
        until = None if timeout is None else clock() + timeout
        if not await self._wait_for_keeper(folder, timeout):
            return TimedOut()
        if (status := _read_final_status(place)) is not None:
            self._newest = folder, status
            return build_ended(place, status)
        if not await _wait_until_left(place, record, until):
            return TimedOut()
        # The command itself is awaited only where its keeper was killed.
        left = None if until is None else max(0.0, until - clock())
        if not await wait_until_dead(record.command, record.command_started, left):
            return TimedOut()
        return await self._finish(place, record)

    async def end(self, folder: str, grace: tuple[float, float]) -> Ended | Gone:
        """End a command and all its descendants: INT, then TERM after the first grace, then KILL after the second."""
        place = Path(folder)
        record = read_record(place)
        if record is None:
            return Gone()
        for number, seconds in ((signal.SIGINT, grace[0]), (signal.SIGTERM, grace[1])):
            for row in _members(place, record).values():
                send(row, number)
            if not isinstance(outcome := await self.wait(folder, seconds), TimedOut):
                return outcome
        await _kill(lambda: _members(place, record))
        if not isinstance(outcome := await self.wait(folder, _LAST), TimedOut):
            return outcome
        if _is_kept(place, record):
            send(Row(record.pid, 0, 0, record.started), signal.SIGKILL)
        return await self._finish(place, record)

    def read_output(self, folder: str, stream: Stream, limit: int, tail: bool) -> bytes:
        """Read at most `limit` bytes of its output, from the end if `tail`, without secrets."""
        newest = self._newest
        status = newest[1] if newest is not None and newest[0] == folder else read_status(Path(folder))
        again = status is not None and status.masked
        with contextlib.suppress(FileNotFoundError):
            redactor = self._redactor_for(folder)
            return read_masked(Path(folder) / stream, redactor, limit, tail=tail, again=again)
        return b""

    def find_by_marker(self, marker: str) -> tuple[int, ...]:
        """List the live processes that carry a mark, given in full or by its key only."""
        return tuple(sorted(find_marked(MARK, marker, "@")))

    async def _finish(self, place: Path, record: ProcessRecord) -> Ended | Gone:
        self._reap()
        status = read_status(place)
        if status is None or not status.cleared:
            # The keeper was killed before it had ended the rest of the tree.
            await _kill(lambda: _find_marked(record))
        return _read_outcome(place, record)

    async def _wait_for_keeper(self, folder: str, timeout: float | None) -> bool:
        """Wait until its keeper reports the end, if it was started here; False when that did not happen in time."""
        line = self._lines.get(folder)
        try:
            if line is not None and not await wait_until_readable(line.descriptor, timeout):
                return False
        except asyncio.CancelledError:
            # Perhaps nobody will ask again; whoever does waits for the keeper's end.
            self._drop_line(folder)
            raise
        line = self._lines.pop(folder, None)
        if line is not None:
            KEEPER_POOL.keep_idle(*line)
        return True

    def _drop_line(self, folder: str) -> None:
        line = self._lines.pop(folder, None)
        if line is not None:
            os.close(line.descriptor)

    def _reap(self) -> None:
        for pid in tuple(self._children):
            try:
                dead = os.waitpid(pid, os.WNOHANG)[0] == pid
            except ChildProcessError:
                dead = True
            if dead:
                self._children.discard(pid)


async def _wait_until_left(place: Path, record: ProcessRecord, until: float | None) -> bool:
    """Wait until a keeper that somebody else started has left its command; False when it takes longer than that."""
    clock = asyncio.get_running_loop().time
    # It exits, unless the process that started it lives and may have another command for it.
    while _is_kept(place, record) and _read_final_status(place) is None:
        left = _LOOK_EVERY if until is None else min(_LOOK_EVERY, max(0.0, until - clock()))
        if not await wait_until_dead(record.pid, record.started, left) and until is not None and clock() >= until:
            return False
    return True


def _close(lines: dict[str, _Line]) -> None:
    for line in lines.values():
        os.close(line.descriptor)


def _read_final_status(place: Path) -> Status | None:
    """Read how it ended, once the keeper has written that nothing is left of it; the keeper exits right after."""
    status = read_status(place)
    return status if status is not None and status.cleared else None


def _read_outcome(place: Path, record: ProcessRecord) -> Ended | Gone:
    status = read_status(place)
    if status is not None:
        return build_ended(place, status)
    keeper_files.remove_drafts(place, record.pid)
    return Gone()


def _forget_folder(redactor: Redactor) -> Callable[[str], Redactor]:
    """Return the same redactor for the commands of all folders."""
    return lambda _: redactor


def _is_kept(place: Path, record: ProcessRecord) -> bool:
    """Whether the keeper of a command is alive, and has not left it for another one."""
    if not record.is_keeper_alive:
        return False
    try:
        return (place / "stdout").samefile(f"/proc/{record.pid}/fd/1")
    except FileNotFoundError:
        # Where processes do not show what they write to, keepers keep one command.
        return not LINUX
    except OSError:
        return True


def _members(place: Path, record: ProcessRecord) -> dict[int, Row]:
    """Return a command and all its descendants, but never the keeper."""
    found = _find_marked(record)
    if _is_kept(place, record):
        found |= find_descendants(record.pid)
    if record.is_command_alive:
        found |= find_descendants(record.command, record.command)
        found[record.command] = Row(record.command, record.pid, record.command, record.command_started)
    found.pop(record.pid, None)
    return found


def _is_stray(record: ProcessRecord) -> bool:
    """Whether a command runs whose keeper was killed before it could record that."""
    return not record.command and bool(record.mark and _find_marked(record))


def _find_marked(record: ProcessRecord) -> dict[int, Row]:
    return find_marked(MARK, record.mark)


async def _kill(members: Callable[[], dict[int, Row]]) -> None:
    """Kill repeatedly, since what is killed may have forked a moment before."""
    clock = asyncio.get_running_loop().time
    until = clock() + _LAST
    while (rows := members()) and clock() < until:
        for row in rows.values():
            send(row, signal.SIGKILL)
        await asyncio.sleep(_AGAIN)
