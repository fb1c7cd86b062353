"""Agents that get in each other's way are started one after the other, and nobody else waits for that."""

import asyncio
import time

import pytest

from handrail.runtime.handlers.agents.account_limits import StartPacing

APART = 0.05


async def _started(pace: StartPacing, agent: str, apart: float, at: list[float]) -> None:
    await pace.turn(agent, apart)
    at.append(time.monotonic())


def test_those_that_come_together_start_apart_in_the_order_in_which_they_came() -> None:
    async def all_of_them() -> list[int]:
        pace, order = StartPacing(), list[int]()
        began = time.monotonic()

        async def one(number: int) -> None:
            at: list[float] = []
            await _started(pace, "codex", APART, at)
            order.append(number)
            assert at[0] - began >= number * APART * 0.99

        await asyncio.gather(*(one(number) for number in range(4)))
        return order

    assert asyncio.run(all_of_them()) == [0, 1, 2, 3]


@pytest.mark.parametrize(("agent", "apart"), [("claude", APART), ("codex", 0.0)])
def test_others_wait_for_nobody(agent: str, apart: float) -> None:
    async def beside() -> bool:
        pace = StartPacing()
        await pace.turn("codex", 3600.0)
        await asyncio.wait_for(pace.turn(agent, apart), 60.0)
        return True

    assert asyncio.run(beside())


def test_who_gives_up_while_waiting_starts_nothing_and_the_next_one_still_comes() -> None:
    async def with_one_that_gives_up() -> bool:
        pace = StartPacing()
        await pace.turn("codex", APART)
        waiting = asyncio.ensure_future(pace.turn("codex", APART))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        await pace.turn("codex", APART)
        return waiting.cancelled()

    assert asyncio.run(with_one_that_gives_up())


def test_it_goes_on_in_another_loop() -> None:
    pace = StartPacing()
    began = time.monotonic()
    for _ in range(3):
        asyncio.run(pace.turn("codex", APART))
    assert time.monotonic() - began >= 2 * APART * 0.99
