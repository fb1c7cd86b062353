"""A program starts a run, follows it, answers it, stops it and learns what came of it."""

import asyncio
from typing import Any

import pytest

from handrail.client import (
    Answered,
    ApprovalRequested,
    Finished,
    NeedsPerson,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from handrail.errors import LogConflict, NotFound, UsageError
from support.client.room import ClientRoom, collect, play
from support.differences.performers import Play


def test_a_run_is_started_here_and_its_result_awaited(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "plain")
            result = await run.result()
            assert run.id == "plain-1"
            assert isinstance(result, Finished)
            assert (result.status, result.is_success, result.outputs) == ("succeeded", True, {"greeting": "hello"})
            assert (result.branch, result.pull_requests) == (None, ())

    play(program)


def test_the_result_says_what_a_person_is_asked_and_then_how_the_run_ended(room: ClientRoom) -> None:
    room.bench.performer.plays = {"draft": Play("A tale.", cost=0.25)}

    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            asked = await run.result()
            assert isinstance(asked, NeedsPerson)
            assert (asked.run, asked.kind, asked.step) == ("ask-1", "approval", "ok")
            assert asked.message == 'Is "A tale." good?'
            assert asked.answers == ("approve", "revise", "reject")
            assert asked.next_step == "handrail approve ask-1, or revise, or reject"
            await run.approve("fine")
            result = await run.result()
            assert isinstance(result, Finished)
            assert result.outputs["shipped"] == "shipped"
            assert result.cost.usd == 0.25

    play(program)


def test_a_revision_goes_back_with_what_should_change(room: ClientRoom) -> None:
    room.bench.performer.plays = {"draft": [Play("First."), Play("Second.")]}

    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            await run.result()
            await run.revise("shorter")
            asked = await run.result()
            assert isinstance(asked, NeedsPerson)
            assert asked.message == 'Is "Second." good?'
            assert "shorter" in room.bench.performer.calls[-1].prompt

    play(program)


def test_a_rejected_run_is_over(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            await run.result()
            await run.reject("no tales")
            result = await run.result()
            assert isinstance(result, Finished)
            assert result.status == "failed"
            assert "no tales" in result.message

    play(program)


def test_the_question_of_an_agent_is_answered(room: ClientRoom) -> None:
    room.bench.performer.plays = {"draft": [Play(question="Which sea?"), Play("A tale.")]}

    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            asked = await run.result()
            assert isinstance(asked, NeedsPerson)
            assert (asked.kind, asked.message) == ("question", "Which sea?")
            with pytest.raises(UsageError, match="not waiting for approval"):
                await run.approve()
            await run.answer("The Baltic.")
            after = await run.result()
            assert isinstance(after, NeedsPerson)
            assert after.kind == "approval"

    play(program)


def test_events_are_typed_and_continue_behind_a_position(room: ClientRoom) -> None:
    room.bench.performer.plays = {"draft": Play("A tale.")}

    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            first = await collect(run)
            kinds = [type(each) for each in first]
            assert kinds[0] is RunStarted
            assert [each.agent for each in first if isinstance(each, StepStarted)] == ["claude"]
            assert [each.output for each in first if isinstance(each, StepEnded)] == ["A tale."]
            assert ApprovalRequested in kinds
            await run.approve("fine")
            rest = await collect(run, after=first[-1].position)
            assert [each.by for each in rest if isinstance(each, Answered)] == ["person:ann"]
            assert isinstance(rest[-1], RunEnded)
            assert await collect(run) == first + rest

    play(program)


def test_every_event_can_be_the_last_that_a_program_has_seen(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "plain")
            every = await collect(run)
            for number, event in enumerate(every, start=1):
                assert await collect(run, after=event.position) == every[number:]

    play(program)


def test_the_events_of_runs_that_it_started_are_among_its_own(room: ClientRoom) -> None:
    room.bench.add("name: outer\nsteps:\n  - {name: inner, workflow: plain}\n", "outer")

    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "outer")
            every = await collect(run)
            inner = [each for each in every if each.inner]
            assert {each.run for each in inner} == {"outer-1.2"}
            assert [each.step for each in inner if isinstance(each, StepEnded)] == ["inner: greet"]
            assert [each.position for each in every] == sorted(each.position for each in every)

    play(program)


def test_the_state_of_a_run_is_that_of_the_moment(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            await run.result()
            state = await run.state()
            assert (state.status, state.reason, state.step, state.is_over) == ("waiting", "approval", "ok", False)
            assert state.need is not None
            assert state.need.kind == "approval"
            await run.approve()
            await run.result()
            done = await run.state()
            assert (done.status, done.need, done.is_over) == ("succeeded", None, True)
            assert done.ended_at is not None

    play(program)


def test_a_stopped_run_ends_what_it_started_and_says_why(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "slow")
            async for event in run.events():
                if isinstance(event, StepStarted):
                    break
            await run.stop("not needed")
            result = await run.result()
            assert isinstance(result, Finished)
            assert result.status == "cancelled"
            assert "not needed" in result.message

    play(program)


def test_a_run_that_waits_for_a_person_is_stopped_too(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "ask", "the sea")
            await run.result()
            await run.stop()
            async with asyncio.timeout(60):
                # The driver of the run records it.
                while (await run.state()).status != "cancelled":
                    await asyncio.sleep(0.01)

    play(program)


def test_a_failed_run_is_resumed_at_its_failed_step(room: ClientRoom) -> None:
    room.bench.add("name: picky\nsteps:\n  - {name: look, command: 'test -e ready'}\n", "picky")

    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "picky")
            first = await run.result()
            assert isinstance(first, Finished)
            assert first.status == "failed"
            (room.bench.work / "ready").touch()
            await run.resume()
            again = await run.result()
            assert isinstance(again, Finished)
            assert again.is_success

    play(program)


def test_runs_are_listed_by_their_state_and_found_by_their_id(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            asks, plain = await room.start(client, "ask", "the sea"), await room.start(client, "plain")
            await asyncio.gather(asks.result(), plain.result())
            assert [(each.run, each.state) for each in await client.runs()] == [
                ("ask-1", "needs-you"),
                ("plain-1", "ended"),
            ]
            assert [each.run for each in await client.runs(states=["succeeded"])] == ["plain-1"]
            assert (await client.get("ask")).id == "ask-1"
            with pytest.raises(NotFound, match="there is no run 'nope'"):
                await client.get("nope")

    play(program)


def test_inputs_of_any_type_are_passed(room: ClientRoom) -> None:
    say = "{name: say, command: 'echo ${numbers | length} ${loud}', output: said}"
    room.bench.add(f"name: sum\ninput: {{numbers: [int], loud: bool}}\nsteps:\n  - {say}\n", "sum")

    async def program() -> None:
        async with room.open() as client:
            given = {"numbers": [1, 2, 3], "loud": True}
            run = await client.start("sum", inputs=given, in_place=room.bench.work)
            result = await run.result()
            assert isinstance(result, Finished)
            assert result.outputs["said"] == "3 true"
            with pytest.raises(UsageError, match="input 'loud' must be bool"):
                await client.start("sum", inputs={"numbers": [1], "loud": "maybe"}, in_place=room.bench.work)
            odd: dict[str, Any] = {"numbers": {1}}
            with pytest.raises(UsageError, match="input 'numbers' is not JSON"):
                await client.start("sum", inputs=odd, in_place=room.bench.work)

    play(program)


def test_a_run_that_this_program_drives_is_not_resumed_on_top(room: ClientRoom) -> None:
    async def program() -> None:
        async with room.open() as client:
            run = await room.start(client, "slow")
            async for event in run.events():
                if isinstance(event, StepStarted):
                    break
            with pytest.raises(LogConflict, match="driven by a Python program"):
                await run.resume()
            await run.stop()

    play(program)
