"""Work that is watched: what is seen meanwhile is taken up, may end the work, and never hides who else wants an end."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from handrail.model.history.run_state import RunState, update_state
from handrail.runtime import watched_effect as watching
from handrail.runtime.watched_effect import EffectWatch, Look
from handrail.runtime.watcher import Watcher
from handrail.store.sqlite.log import open_log

STATE = RunState(
    run="r", status="running", plan="p", definition="d", workflow="w", inputs={}, workspace="/", started_at=0.0
)
Work = Callable[[], Coroutine[Any, Any, str]]


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "POLL_INTERVAL", 0.01)


async def _watched(work: Work, look: Look) -> tuple[RunState, str | None]:
    watch = EffectWatch(look)
    try:
        return await watch.run_work(work(), STATE)
    finally:
        watch.close()


async def _endless() -> str:
    await asyncio.sleep(600)
    return "done"


async def _stubborn() -> str:
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        return "ended late"
    return "done"


async def _failing() -> str:
    try:
        await asyncio.sleep(600)
    finally:
        raise ValueError("on the way out")


def test_what_is_seen_meanwhile_is_the_state_afterwards() -> None:
    looks = 0

    def look(state: RunState) -> RunState:
        nonlocal looks
        looks += 1
        return update_state(state, seq=state.seq + 1)

    async def work() -> str:
        while looks < 3:
            await asyncio.sleep(0.001)
        return "done"

    state, done = asyncio.run(_watched(work, look))
    assert (done, state.seq) == ("done", looks)


@pytest.mark.parametrize("work", [_endless, _stubborn, _failing])
def test_what_is_seen_may_take_the_work_away(work: Work) -> None:
    state, done = asyncio.run(_watched(work, lambda _: None))
    assert (state, done) == (STATE, None)


def test_after_work_was_taken_away_the_task_goes_on() -> None:
    async def both() -> list[str | None]:
        seen: list[RunState | None] = [None]
        watch = EffectWatch(lambda _: seen[0])
        first = await watch.run_work(_endless(), STATE)
        seen[0] = STATE
        second = await watch.run_work(asyncio.sleep(0.1, "done"), STATE)
        watch.close()
        await asyncio.sleep(0)
        return [first[1], second[1]]

    assert asyncio.run(both()) == [None, "done"]


@pytest.mark.parametrize("work", [_endless, _stubborn])
def test_a_fault_while_looking_takes_the_work_away_and_is_raised(work: Work) -> None:
    def look(_: RunState) -> RunState:
        raise OSError("no more disk")

    with pytest.raises(OSError, match="no more disk"):
        asyncio.run(_watched(work, look))


def test_what_the_work_raises_is_raised() -> None:
    async def work() -> str:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(_watched(work, lambda state: state))


@pytest.mark.parametrize("work", [_endless, _stubborn])
@pytest.mark.parametrize("seen", [STATE, None])
def test_whoever_cancels_from_outside_is_heard(work: Work, seen: RunState | None) -> None:
    async def cancelled() -> None:
        def look(_: RunState) -> RunState | None:
            task.cancel()
            return seen

        task = asyncio.create_task(_watched(work, look))
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


@pytest.mark.parametrize("work", [_endless, _stubborn])
def test_whoever_cancels_before_anything_was_seen_is_heard(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "POLL_INTERVAL", 3600.0)
    began = asyncio.Event()

    async def begins() -> str:
        began.set()
        return await work()

    async def cancelled() -> None:
        task = asyncio.create_task(_watched(begins, lambda state: state))
        await began.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_only_a_task_can_be_watched() -> None:
    loop = asyncio.new_event_loop()
    found: list[BaseException] = []

    def outside() -> None:
        try:
            EffectWatch(lambda state: state)
        except RuntimeError as error:
            found.append(error)
        loop.stop()

    loop.call_soon(outside)
    loop.run_forever()
    loop.close()
    assert [str(each) for each in found] == ["only the work of a task can be watched"]


def test_a_change_of_the_log_is_looked_at_without_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_WAIT", 600.0)
    log = open_log(tmp_path)
    watcher = Watcher(log)

    def look(state: RunState) -> RunState | None:
        if log.inbox("r"):
            return None
        asyncio.get_running_loop().call_soon(log.send, "r", "key", b"{}")
        return state

    async def watched() -> str | None:
        watch = EffectWatch(look, watcher=watcher)
        try:
            async with asyncio.timeout(60):
                return (await watch.run_work(_endless(), STATE))[1]
        finally:
            watch.close()
            watcher.close()

    assert asyncio.run(watched()) is None
    log.close()


def test_the_deadline_of_a_run_is_looked_at_when_it_has_come(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(watching, "MAX_WAIT", 600.0)
    log = open_log(tmp_path)
    watcher, looks = Watcher(log), count(1)
    late = update_state(STATE, timeout=20.0, counts_from=80.0)
    assert late.deadline == 100.0

    def look(state: RunState) -> RunState | None:
        return state if next(looks) < 3 else None

    async def watched() -> str | None:
        watch = EffectWatch(look, lambda: 100.0, watcher)
        try:
            async with asyncio.timeout(60):
                return (await watch.run_work(_endless(), late))[1]
        finally:
            watch.close()
            watcher.close()

    assert asyncio.run(watched()) is None
    log.close()
