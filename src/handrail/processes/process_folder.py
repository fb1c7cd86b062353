"""What a process folder shows: what was started in it, how that ended, and whether we were called inside of it."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

from handrail.frozen import frozen
from handrail.ports.processes import MARK, Ended, Stream
from handrail.processes.process_table import initial_environment, is_alive, lineage, outputs_of


@frozen
class ProcessRecord:
    """`process.json`: the keeper and the command, each with its start time."""

    key: str
    mark: str
    pid: int
    started: str
    command: int
    """0 until the command runs, or where it never did."""
    command_started: str

    @property
    def is_keeper_alive(self) -> bool:
        """Whether the keeper is alive to write the status."""
        return is_alive(self.pid, self.started)

    @property
    def is_command_alive(self) -> bool:
        """Whether the command itself is running."""
        return is_alive(self.command, self.command_started)


@frozen
class Status:
    """`status`: how the command ended, whether its whole tree was ended, and whether its output may be incomplete."""

    exit_code: int | None
    signal: int | None
    reason: str | None
    cleared: bool
    incomplete: bool = False
    masked: bool = False
    """Whether the keeper has processed all of the output and masked what has the form of a credential."""


_LOOKS, _MOMENT = 3, 0.001
LOST_PROCESS = ProcessRecord("", "", 0, "", 0, "")
"""Something was started, but a power failure tore the record of it: no process matches."""


def read_record(folder: Path) -> ProcessRecord | None:
    """Read the record of a folder, if something was started there."""
    match _settled_json(folder / "process.json"):
        case {
            "key": str(key),
            "mark": str(mark),
            "pid": int(pid),
            "started": str(started),
            **rest,
        }:
            return ProcessRecord(
                key, mark, pid, started, _number(rest.get("command")), str(rest.get("command_started") or "")
            )
        case _:
            return LOST_PROCESS if (folder / "process.json").exists() else None


def read_status(folder: Path) -> Status | None:
    """Read the status of a folder; one that a power failure lost, tore or left without its output does not count."""
    match _json(folder / "status"):
        case {"exit_code": int() | None as code, "signal": int() | None as number, "cleared": bool(cleared), **rest}:
            reason = rest.get("reason")
            if any(size_of(folder, stream) < _number(rest.get(stream)) for stream in ("stdout", "stderr")):
                return None
            words = reason if isinstance(reason, str) else None
            incomplete, masked = (rest.get(name) is True for name in ("incomplete", "masked"))
            return Status(code, number, words, cleared, incomplete=incomplete, masked=masked)
        case _:
            return None


def build_ended(folder: Path, status: Status) -> Ended:
    """Build the result from a status and the files beside it."""
    sizes = size_of(folder, "stdout"), size_of(folder, "stderr")
    return Ended(status.exit_code, status.signal, *sizes, reason=status.reason, incomplete=status.incomplete)


class CallerProcess(NamedTuple):
    """A process above us, or this one: the variables that it was started with, and the files that it writes to."""

    environ: dict[str, str]
    outputs: tuple[str, ...]


class EnclosingStep(NamedTuple):
    """The step of a run whose command called us, by the event that began it."""

    run: str
    seq: int
    """0 where it is not a step: set-up commands, and what `init` tries."""


def callers(pid: int | None = None) -> Iterator[CallerProcess]:
    """Yield a process, by default this one, and its ancestors, the nearest first."""
    for row in lineage(os.getpid() if pid is None else pid):
        yield CallerProcess(initial_environment(row), outputs_of(row))


def find_inside(data: Path, above: Iterable[CallerProcess]) -> EnclosingStep | None:
    """Find the command of a run of this data folder that one of these processes belongs to.

    A keeper writes to files in its process folder as long as it lives, and all its descendants stay below it,
    whatever session, group or environment they chose. The mark helps where a keeper was killed, or cannot be seen.
    """
    folder = data.resolve()
    for caller in above:
        marked = caller.environ.get(MARK, "").partition("@")[2]
        for place in (*(Path(each).parent for each in caller.outputs), Path(marked)):
            if place.is_absolute() and (found := _parse_place(folder, place)) is not None:
                return found
    return None


def _parse_place(data: Path, place: Path) -> EnclosingStep | None:
    for folder in (place, place.resolve()):
        if folder.is_relative_to(data):
            match folder.relative_to(data).parts:
                case ("runs", run, seq, _):
                    return EnclosingStep(run, int(seq) if seq.isdecimal() else 0)
                case ("trials", trial, _):
                    return EnclosingStep(trial, 0)
                case _:
                    return None
    return None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def size_of(folder: Path, stream: Stream) -> int:
    """Return the size of a stream in bytes."""
    try:
        return (folder / stream).stat().st_size
    except OSError:
        return 0


def _settled_json(path: Path) -> dict[str, object] | None:
    """Read what a keeper may be writing more to at this very moment."""
    for _ in range(_LOOKS):
        found = _json(path)
        if found is not None or not path.exists():
            return found
        time.sleep(_MOMENT)
    return _json(path)


def _json(path: Path) -> dict[str, object] | None:
    try:
        content: object = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return cast("dict[str, object]", content) if isinstance(content, dict) else None
