"""One descriptor wakes all of a process who wait for a change of the log."""

import asyncio
from pathlib import Path

import pytest

from handrail.runtime.watcher import Watcher
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import open_log

LONG = 60.0
"""Seconds that no test waits for, unless what it is about fails."""


async def wait_for_ring(watcher: Watcher, seconds: float = LONG) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await watcher.lookout(0.0).wait(seconds)
    return loop.time() - began


def test_all_who_wait_are_woken_by_one_write(tmp_path: Path) -> None:
    async def watch() -> list[float]:
        waiting = [asyncio.ensure_future(wait_for_ring(watcher)) for _ in range(3)]
        await asyncio.sleep(0)
        log.send("r1", "key", b"{}")
        return await asyncio.gather(*waiting)

    log = open_log(tmp_path)
    watcher = Watcher(log)
    assert max(asyncio.run(watch())) < LONG
    log.close()


def test_a_write_before_the_wait_is_not_missed(tmp_path: Path) -> None:
    async def watch() -> None:
        lookout = watcher.lookout(0.0)
        for key in ("one", "two"):
            log.send("r1", key, b"{}")
            await asyncio.wait_for(lookout.wait(2 * LONG), LONG)

    log = open_log(tmp_path)
    watcher = Watcher(log)
    asyncio.run(watch())
    log.close()


def test_what_one_has_heard_another_who_was_busy_hears_too(tmp_path: Path) -> None:
    async def watch() -> None:
        busy, waiting = watcher.lookout(0.0), watcher.lookout(0.0)
        log.send("r1", "key", b"{}")
        await asyncio.wait_for(waiting.wait(2 * LONG), LONG)
        await asyncio.wait_for(busy.wait(2 * LONG), LONG)

    log = open_log(tmp_path)
    watcher = Watcher(log)
    asyncio.run(watch())
    log.close()


def test_something_else_ends_the_wait_too(tmp_path: Path) -> None:
    async def watch() -> None:
        stop = asyncio.Event()
        stopping = asyncio.ensure_future(stop.wait())
        asyncio.get_running_loop().call_soon(stop.set)
        await asyncio.wait_for(watcher.lookout().wait(2 * LONG, stopping), LONG)
        assert stopping.done()

    log = open_log(tmp_path)
    watcher = Watcher(log)
    asyncio.run(watch())
    log.close()


def test_one_who_is_woken_here_need_not_be_rung(tmp_path: Path) -> None:
    async def watch() -> None:
        asyncio.get_running_loop().call_soon(watcher.ring)
        await asyncio.wait_for(watcher.lookout().wait(2 * LONG), LONG)

    log = open_log(tmp_path)
    watcher = Watcher(log)
    asyncio.run(watch())
    log.close()


@pytest.mark.parametrize("listens", [True, False])
def test_a_wait_ends_without_a_ring(tmp_path: Path, *, listens: bool) -> None:
    log = open_log(tmp_path) if listens else MemoryWorld().open()
    watcher = Watcher(log)
    asyncio.run(wait_for_ring(watcher, 0.01))
    assert watcher.listens == listens
    assert watcher.rings == 0
    log.close()


def test_who_listens_is_called_at_each_write_until_that_is_not_wanted(tmp_path: Path) -> None:
    async def watch() -> int:
        assert watcher.listen(heard.set)
        for key in ("one", "two"):
            heard.clear()
            log.send("r1", key, b"{}")
            await asyncio.wait_for(heard.wait(), LONG)
        heard.clear()
        watcher.ignore(heard.set)
        log.send("r1", "three", b"{}")
        await wait_for_ring(watcher)
        return watcher.rings

    log = open_log(tmp_path)
    watcher, heard = Watcher(log), asyncio.Event()
    assert asyncio.run(watch()) == 3
    assert not heard.is_set()
    watcher.close()
    log.close()


def test_a_log_without_bells_calls_nobody() -> None:
    async def watch() -> bool:
        return watcher.listen(lambda: None)

    watcher = Watcher(MemoryWorld().open())
    assert not asyncio.run(watch())
