"""Stops runs whose history cannot be read: nobody can drive them, so their processes are ended here."""

import asyncio
import contextlib
import time
from pathlib import Path

from handrail.errors import LogConflict, StorageFault
from handrail.model.actors import actor_words
from handrail.model.history.run_lines import UNREADABLE, Filter
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.run_tree import family, holder_words
from handrail.ports.log import Append, Holder, Log
from handrail.ports.processes import Processes, Running
from handrail.runtime.history import is_readable
from handrail.runtime.run_writer import RunWriter

GRACE = (2.0, 3.0)
"""Seconds to wait after SIGINT, and after SIGTERM, before the next stronger signal."""


def stop_damaged(writer: RunWriter, processes: Processes, folder: Path, run: str, by: str) -> tuple[str, ...]:
    """Stop the unreadable runs among a run and its child runs for good, and return them."""
    ours = dict.fromkeys((run, *family(writer.log, run)))
    damaged = tuple(each for each in ours if not is_readable(writer.log, each))
    for each in damaged:
        _stop(writer, processes, folder / "runs" / each, each, by)
    return damaged


def _stop(writer: RunWriter, processes: Processes, folder: Path, run: str, by: str) -> None:
    log = writer.log
    lease = log.acquire(run, "handrail stop")
    if isinstance(lease, Holder):
        raise LogConflict(f"{run} is driven by {holder_words(lease)}", next_step=f"handrail status {run}")
    try:
        asyncio.run(_end_commands(processes, folder))
        end = log.last(run)
        # Should a repair make it readable, it has ended all the same.
        writer.send(run, f"stop:damaged:{end.seq}:{end.hash[:16]}", "stop", by=by, why="")
        log.append([Append(run, end.seq, summary=_make_cancelled_summary(log, run, by))], [lease])
    finally:
        with contextlib.suppress(StorageFault):
            log.release(lease)


async def _end_commands(processes: Processes, folder: Path) -> None:
    """End every command that was started for a run, found by the folders into which they write."""
    for place in sorted(folder.glob("*/*.*")):
        if isinstance(processes.look(str(place)), Running):
            await processes.end(str(place), GRACE)


def _make_cancelled_summary(log: Log, run: str, by: str) -> dict[str, JsonValue]:
    """Return the row of the run in lists, as ended."""
    line = next((row.document for row in log.summaries(Filter(key=run))), None)
    said: dict[str, JsonValue] = {
        "status": "cancelled",
        "reason": None,
        "message": f"stopped by {actor_words(by)}; its history cannot be read",
        "completed_at": time.time(),
        "next_step": "",
        "current_step": None,
        UNREADABLE: False,
    }
    return {**(line or {"run": run}), **said}
