"""Waiting for a process that need not be our child."""

import asyncio
import contextlib
import os

from handrail.workspace.proctable import LINUX, alive

_PAUSE = 0.05


async def until_dead(pid: int, started: str, seconds: float | None) -> bool:
    """Wait until a process has ended; false when it has not after so many seconds."""
    descriptor = _descriptor(pid)
    waiting = _poll(pid, started) if descriptor is None else _ring(descriptor, pid, started)
    try:
        await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        return not alive(pid, started)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True


def _descriptor(pid: int) -> int | None:
    # Old kernels and some sandboxes refuse; a process that is gone is found out by polling at once.
    if LINUX:
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None


async def _ring(descriptor: int, pid: int, started: str) -> None:
    if not alive(pid, started):
        return
    dead = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, dead.set)
    try:
        await dead.wait()
    finally:
        loop.remove_reader(descriptor)


async def _poll(pid: int, started: str) -> None:
    while alive(pid, started):
        await asyncio.sleep(_PAUSE)
