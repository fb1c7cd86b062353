"""What a round of a loop costs, counted in bytes that it touches: the same after ten rounds and after ten thousand."""

import tracemalloc
from collections.abc import Callable

import pytest

from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import decode_state, encode_state
from handrail.model.history.events import (
    CallRequested,
    Event,
    LoopEntered,
    RoundEnded,
    RoundStarted,
    StepBegan,
    StepEnded,
)
from handrail.model.history.run_state import RunState
from support.engine.walking import Walk, plan_of

ROUNDS = 10_000


def started() -> RunState:
    return Walk(plan_of("name: a\nsteps:\n  - {name: s, command: x}\n")).start().state


def no_blobs(digest: str) -> bytes:
    raise KeyError(digest)


def fold(state: RunState, *events: Event) -> RunState:
    for event in events:
        state = apply(state, event, state.seq + 1, no_blobs)
    return state


def one_round(state: RunState, *, failed: bool) -> RunState:
    loop = state.stack[-1].loop
    assert loop is not None
    number = loop.round + 1
    address = f"l@{number}/s"
    return fold(
        state,
        RoundStarted(address="l", round=number, at=1.0),
        StepBegan(address=address, action="script", attempt=1, spec={}, at=1.0),
        StepEnded(address=address, began=state.seq + 2, status="succeeded", output="ok", at=1.0),
        RoundEnded(address="l", round=number, failed=failed, at=1.0),
    )


def peak(act: Callable[[], object]) -> int:
    """The bytes that something has in use at most, beyond what was there."""
    tracemalloc.start()
    act()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("failed", [False, True], ids=["done", "failed"])
def test_a_round_costs_the_same_however_many_rounds_there_were(failed: bool) -> None:
    state = fold(started(), LoopEntered(address="l", count=ROUNDS, at=1.0))
    costs: dict[int, int] = {}
    for number in range(1, ROUNDS + 1):
        if number in (10, ROUNDS):
            costs[number] = peak(lambda kept=state: one_round(kept, failed=failed))
        state = one_round(state, failed=failed)
    assert costs[ROUNDS] < 2 * costs[10], costs
    again = decode_state(encode_state(state), no_blobs)
    assert again == state
    loop = again.stack[-1].loop
    assert loop is not None
    rounds = list(range(1, ROUNDS + 1))
    assert (list(loop.done), list(loop.failed)) == (([], rounds) if failed else (rounds, []))


def test_a_call_of_a_dynamic_step_costs_the_same_however_many_calls_there_were() -> None:
    state = fold(started(), StepBegan(address="f", action="dynamic", attempt=1, spec={}, at=1.0))
    costs: dict[int, int] = {}
    for number in range(1, ROUNDS + 1):
        if number in (10, ROUNDS):
            costs[number] = peak(lambda kept=state, number=number: one_call(kept, number))
        state = one_call(state, number)
    assert costs[ROUNDS] < 2 * costs[10], costs
    assert decode_state(encode_state(state), no_blobs) == state


def one_call(state: RunState, number: int) -> RunState:
    address = f"f#{number}"
    return fold(
        state,
        CallRequested(address=address, number=number, spec_hash=str(number), asks="x", at=1.0),
        StepBegan(address=address, action="script", attempt=1, spec={}, at=1.0),
        StepEnded(address=address, began=state.seq + 2, status="succeeded", output="ok", at=1.0),
    )
