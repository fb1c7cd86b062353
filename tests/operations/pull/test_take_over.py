"""A run of the engine in the hands of a connected agent for a while: its token, what the engine keeps, and back."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from handrail.agents.registry import KnownAgents
from handrail.model.history.events import RetryScheduled, RunReleased, RunTaken, StepBegan, StepEnded, StepRefused
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.take_over import hand_to_agent, handover
from handrail.operations.runs import lifecycle as runs
from handrail.serve.mcp.calls import Calls
from handrail.serve.mcp.tool_result import ToolResult
from handrail.sources.tiers import Location
from handrail.store.signing_keys import keys_in
from handrail.store.sqlite.log import open_log
from handrail.wiring.machine import this_machine
from support.cli.fresh import make_machine
from support.pull.room import Pull, advancing, definition, loop, step
from support.runtime.room import of_kind
from support.runtime.steps_room import Hand, StepsRoom, Turns

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


def _nowhere(_: Path) -> Location:
    raise AssertionError("no workflow is looked for")


def _nothing(_: str) -> None:
    pass


def make_call_context(shop: StepsRoom) -> CallContext:
    data = shop.folder / "data"
    return CallContext(shop.writer, keys_in(data), _nowhere, _nothing, this_machine(), agents=KnownAgents())


def call(shop: StepsRoom, **arguments: Any) -> ToolResult:
    """Go on as the agent; the engine does its part in between."""
    calls = Calls(make_call_context(shop), patience=0)
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
    given = handover(make_call_context(shop), run, holders[0])
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
    assert by["rounds@2/work"] == f"connected:{holders[0]}"
    assert by["rounds@1/work"] == by["rounds@3/work"] == by["last"] == ""
    late = call(shop, continueToken=said.data["continueToken"], intent="advance", output={"notesMarkdown": "late"})
    assert late.data["code"] == "HELD_BY_ANOTHER"


def test_a_token_from_before_the_step_was_known_shows_the_step_and_completes_nothing(shop: StepsRoom) -> None:
    run = shop.start(LOOP, {})
    holder = hand_to_agent(shop.writer, run)
    early = handover(make_call_context(shop), run, holder)
    assert (early.over, early.step) == (False, "")
    waits = call(shop, continueToken=early.continue_token, intent="rehydrate")
    assert (waits.data["code"], waits.data["retry"]["kind"]) == ("HELD_BY_ANOTHER", "retryable_after_ms")
    assert waits.texts[0].endswith("Next: wait a few seconds, then repeat this call until it is answered")
    shop.drive()
    said = call(shop, continueToken=early.continue_token, intent="advance", output={"notesMarkdown": "too early"})
    assert (said.data["kind"], said.data["pending"]["address"]) == ("ok", "rounds@1/work")
    assert of_kind(shop.log, run, StepEnded) == []


def taken(shop: StepsRoom, run: str) -> ToolResult:
    """Hand a run to an agent, and let the agent look where it stands."""
    holder = hand_to_agent(shop.writer, run)
    shop.drive()
    return call(shop, continueToken=handover(make_call_context(shop), run, holder).continue_token, intent="rehydrate")


def report(shop: StepsRoom, at: ToolResult, notes: str) -> ToolResult:
    """Hand in the work of the step that an answer gave."""
    return call(shop, continueToken=at.data["continueToken"], intent="advance", output={"notesMarkdown": notes})


def one_step(keys: str) -> str:
    return (
        f"name: one\nsteps:\n  - {{name: a, agent: scripted, prompt: Do it., done_when: [{{exists: a.txt}}], {keys}}}\n"
    )


def test_a_run_taken_before_it_began_is_given_back_and_taken_again(shop: StepsRoom) -> None:
    run = shop.start(LOOP, {"rounds/work": {**WORK, "repeat": True}})
    said = taken(shop, run)
    assert said.data["pending"]["address"] == "rounds@1/work"
    (shop.tree(run) / "a.txt").write_text("a\n")
    report(shop, said, "by the agent")
    runs.release(shop.writer, run, "ann")
    holders: list[str] = []

    def is_engines() -> bool:
        return len(shop.calls(run, "rounds@2/work")) == 2

    shop.during(lambda: holders.append(hand_to_agent(shop.writer, run)), is_engines)
    token = handover(make_call_context(shop), run, holders[0]).continue_token
    said = report(shop, call(shop, continueToken=token, intent="rehydrate"), "by the agent again")
    assert said.data["pending"]["address"] == "last"
    assert report(shop, said, "over").data["isComplete"]
    assert shop.state(run).status == "succeeded"
    assert (shop.tree(run) / "trace").read_text().splitlines() == [
        "by the agent",
        "by the engine",
        "by the agent again",
    ]
    assert [len(of_kind(shop.log, run, kind)) for kind in (RunTaken, RunReleased)] == [2, 1]


def test_a_run_whose_agent_is_not_installed_goes_on_with_a_connected_one(
    shop: StepsRoom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(make_machine(tmp_path / "bin")))
    shop.agent = "opencode"
    text = "name: x\nsteps:\n  - {name: think, prompt: Think hard., output: thought}\n"
    run = shop.run(text + "  - {name: b, command: 'echo ${thought} > said'}\n", {}).run
    assert (shop.state(run).status, shop.state(run).reason) == ("blocked", "step")
    report(shop, taken(shop, run), "deep")
    assert shop.state(run).status == "succeeded"
    assert (shop.tree(run) / "said").read_text() == "deep\n"


def test_the_tries_of_a_step_count_for_a_connected_agent_too(shop: StepsRoom) -> None:
    run = shop.start(one_step("retry: 1, output: made"), {})
    said = report(shop, taken(shop, run), "nothing yet")
    assert [each["code"] for each in said.data["blockers"]] == ["NOT_PROVEN"]
    (shop.tree(run) / "a.txt").write_text("a\n")
    assert report(shop, said, "made").data["isComplete"]
    state = shop.state(run)
    assert (state.status, state.steps["a"].attempts, state.names["made"]) == ("succeeded", 2, "made")
    assert [event.status for event in of_kind(shop.log, run, StepEnded)] == ["failed", "succeeded"]


def test_the_wait_before_a_try_is_kept_for_a_connected_agent_too(shop: StepsRoom) -> None:
    shop.clock = clock = Hand()
    run = shop.start(one_step("retry: {max: 1, backoff: 10s}"), {})
    said = taken(shop, run)
    report(shop, said, "nothing yet")
    assert shop.state(run).reason == "timer"
    clock.now = of_kind(shop.log, run, RetryScheduled)[0].due
    shop.drive()
    state = shop.state(run)
    assert state.pending is not None
    assert (state.pending.address, state.pending.attempt, state.held_by[:10]) == ("a", 2, "connected:")


@pytest.mark.parametrize(("on_fail", "status"), [("continue", "succeeded"), ("block", "blocked"), ("fail", "failed")])
def test_on_fail_counts_for_a_connected_agent_too(shop: StepsRoom, on_fail: str, status: str) -> None:
    run = shop.start(one_step(f"on_fail: {on_fail}"), {})
    report(shop, taken(shop, run), "nothing")
    assert shop.state(run).status == status
    (ended,) = of_kind(shop.log, run, StepEnded)
    assert (ended.status, ended.error, ended.by[:10]) == ("failed", "not proven: a.txt exists", "connected:")


def test_an_approval_is_asked_whoever_holds_the_run_and_a_stop_reaches_it_too(shop: StepsRoom) -> None:
    run = shop.start("name: x\nsteps:\n  - {name: ok, type: approval}\n  - {name: b, prompt: Do it.}\n", {})
    said = taken(shop, run)
    assert (said.data["pending"], shop.state(run).reason) == (None, "approval")
    assert shop.answer(run, "approve").pending is not None
    said = call(shop, continueToken=said.data["continueToken"], intent="rehydrate")
    assert said.data["pending"]["address"] == "b"
    runs.stop(shop.writer, run, "ann")
    shop.drive()
    assert shop.state(run).status == "cancelled"


def test_a_step_cannot_be_completed_while_another_process_drives_its_run(pull: Pull) -> None:
    first = pull.start(definition(step("one"), step("two")))
    with closing(open_log(pull.data)) as other:
        other.acquire(first.run, "another")
        refused = pull.call_once("continue_workflow", advancing(first.token))
    assert (refused.code, refused.data["retry"]["kind"]) == ("LOG_CONFLICT", "retryable_after_ms")
    assert f"{first.run} is driven by another (process" in refused.text
    assert pull.advance(first).address == "two"


def test_a_copy_taken_after_a_refusal_is_at_the_same_try_and_can_be_completed(pull: Pull) -> None:
    again = loop("again", step("look"), type="while", condition={"var": "more", "equals": "yes"})
    first = pull.start(definition(again), more="yes")
    ours = pull.advance(first, notes=None, context={"more": "no"})
    copy = runs.fork(pull.writer, first.run, None, "ann")
    holder = hand_to_agent(pull.writer, copy)
    pull.drive()
    theirs = pull.rehydrate(handover(pull.calls.ctx, copy, holder).continue_token)
    assert theirs.address == ours.address == "again@1/look"
    refusals = [[each.shortfalls for each in of_kind(pull.log, run, StepRefused)] for run in (first.run, copy)]
    assert len(refusals[0]) == 1
    assert refusals[0] == refusals[1]
    assert pull.advance(theirs, "Looked.").complete
    assert [event.address for event in of_kind(pull.log, copy, StepBegan)] == ["again@1/look"]
    assert pull.advance(ours, "Looked.").complete


def test_the_engine_goes_on_by_itself_with_a_copy_of_a_run_that_somebody_holds(shop: StepsRoom) -> None:
    run = shop.start(json.dumps(definition(step("look"))), {"look": [{"output": {"notesMarkdown": "Looked."}}]})
    refused = report(shop, taken(shop, run), "")
    assert [each["code"] for each in refused.data["blockers"]] == ["MISSING_REQUIRED_NOTES"]
    copy = runs.fork(shop.writer, run, None, "ann")
    shop.drive()
    assert shop.state(copy).status == "succeeded"
    assert (shop.state(run).status, shop.state(run).held_by[:10]) == ("running", "connected:")
