"""Waits for a process that need not be our child."""

import asyncio
import contextlib
import os

from handrail.processes.process_table import LINUX, is_alive

_PAUSE = 0.05


async def wait_until_readable(descriptor: int, seconds: float | None) -> bool:
    """Wait until a descriptor can be read; False if that takes longer than `seconds`."""
    # A duplicate, since others may wait for the same one, and a loop allows one reader per descriptor.
    copy = os.dup(descriptor)
    try:
        await asyncio.wait_for(_readable(copy), seconds)
    except TimeoutError:
        return False
    finally:
        os.close(copy)
    return True


async def wait_until_dead(pid: int, started: str, seconds: float | None) -> bool:
    """Wait until a process has ended; False if that takes longer than `seconds`."""
    descriptor = _descriptor(pid)
    waiting = _poll(pid, started) if descriptor is None else _wait_for_exit(descriptor, pid, started)
    try:
        await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        return not is_alive(pid, started)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True


def _descriptor(pid: int) -> int | None:
    # Old kernels and some sandboxes refuse; polling notices at once that a process is gone.
    if LINUX:
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None


async def _wait_for_exit(descriptor: int, pid: int, started: str) -> None:
    if is_alive(pid, started):
        await _readable(descriptor)


async def _readable(descriptor: int) -> None:
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


async def _poll(pid: int, started: str) -> None:
    while is_alive(pid, started):
        await asyncio.sleep(_PAUSE)
