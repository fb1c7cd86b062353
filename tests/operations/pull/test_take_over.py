"""A run of the engine in the hands of a connected agent for a while: its token, what the engine keeps, and back."""

import asyncio
from pathlib import Path
from typing import Any

from handrail.agents.registry import KnownAgents
from handrail.model.history.events import RunReleased, RunTaken, StepEnded
from handrail.operations.pull.desk import Desk
from handrail.operations.pull.take_over import hand_to_agent, handover
from handrail.operations.runs import lifecycle as runs
from handrail.serve.mcp.calls import Calls
from handrail.serve.mcp.tool_result import ToolResult
from handrail.sources.tiers import Place
from handrail.store.signing_keys import keys_in
from handrail.wiring.machine import this_machine
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom, Turns

LOOP = """
name: looped
steps:
  - name: rounds
    type: loop
    for: 3
    max_iterations: 3
    steps:
      - {name: work, agent: scripted, prompt: Do it., output: made, retry: {max: 2}, done_when: [{exists: a.txt}]}
      - {name: check, command: 'echo ${made} >> trace'}
  - {name: last, agent: scripted, prompt: Sum up.}
"""
WORK: Turns = {"files": {"a.txt": "a\n"}, "say": "by the engine"}


def _nowhere(_: Path) -> Place:
    raise AssertionError("no workflow is looked for")


def _nothing(_: str) -> None:
    pass


def desk_of(shop: StepsRoom) -> Desk:
    data = shop.folder / "data"
    return Desk(shop.writer, keys_in(data), _nowhere, _nothing, this_machine(), agents=KnownAgents())


def call(shop: StepsRoom, **arguments: Any) -> ToolResult:
    """Go on as the agent; the engine does its part in between."""
    calls = Calls(desk_of(shop), patience=0)
    said = asyncio.run(calls.call("continue_workflow", arguments))
    if said.data.get("working"):
        shop.drive()
        said = asyncio.run(calls.call("continue_workflow", arguments))
    return said


def test_a_native_run_is_taken_in_a_loop_proven_as_ever_and_given_back(shop: StepsRoom) -> None:
    run = shop.start(LOOP, {"rounds/work": {**WORK, "repeat": True}, "last": [{"say": "over"}]})
    holders: list[str] = []
    shop.during(
        lambda: holders.append(hand_to_agent(shop.writer, run)), lambda: "rounds@1/work" in shop.state(run).steps
    )
    given = handover(desk_of(shop), run, holders[0])
    assert (given.over, given.step) == (True, "rounds@2/work")
    said = call(shop, continueToken=given.continue_token, intent="rehydrate")
    assert said.data["pending"]["address"] == "rounds@2/work"
    (shop.tree(run) / "a.txt").unlink()
    token = said.data["continueToken"]
    said = call(shop, continueToken=token, intent="advance", output={"notesMarkdown": "by the agent"})
    assert [each["code"] for each in said.data["blockers"]] == ["NOT_PROVEN"]
    (shop.tree(run) / "a.txt").write_text("again\n")
    token = said.data["continueToken"]
    said = call(shop, continueToken=token, intent="advance", output={"notesMarkdown": "by the agent"})
    assert said.data["pending"]["address"] == "rounds@3/work", "the script in between is the engine's"
    runs.release(shop.writer, run, "ann")
    shop.drive()
    assert shop.state(run).status == "succeeded"
    assert (shop.tree(run) / "trace").read_text().splitlines() == ["by the engine", "by the agent", "by the engine"]
    assert [len(of_kind(shop.log, run, kind)) for kind in (RunTaken, RunReleased)] == [1, 1]
    by = {event.address: event.by for event in of_kind(shop.log, run, StepEnded)}
    assert by["rounds@2/work"] == f"connected agent {holders[0]}"
    assert by["rounds@1/work"] == by["rounds@3/work"] == by["last"] == ""
    late = call(shop, continueToken=said.data["continueToken"], intent="advance", output={"notesMarkdown": "late"})
    assert late.data["code"] == "HELD_BY_ANOTHER"


def test_a_token_from_before_the_step_was_known_shows_the_step_and_completes_nothing(shop: StepsRoom) -> None:
    run = shop.start(LOOP, {})
    holder = hand_to_agent(shop.writer, run)
    early = handover(desk_of(shop), run, holder)
    assert (early.over, early.step) == (False, "")
    waits = call(shop, continueToken=early.continue_token, intent="rehydrate")
    assert (waits.data["code"], waits.data["retry"]["kind"]) == ("HELD_BY_ANOTHER", "retryable_after_ms")
    assert waits.texts[0].endswith("Next: wait a few seconds, then make this very call again, until it is answered")
    shop.drive()
    said = call(shop, continueToken=early.continue_token, intent="advance", output={"notesMarkdown": "too early"})
    assert (said.data["kind"], said.data["pending"]["address"]) == ("ok", "rounds@1/work")
    assert of_kind(shop.log, run, StepEnded) == []
