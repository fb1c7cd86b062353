"""Guided workflows that the engine walks itself: it calls agents, which are held to the same as a connected one."""

import json
import os
import signal
from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.engine.decide.complete_guided import MAX_REFUSALS
from handrail.model.history.events import RunBlocked, StepBegan, StepEnded, StepRefused
from handrail.model.workflow.settings import Budget
from handrail.operations.pull.call_context import holder_name
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.history import prompt_of, step_details
from handrail.runtime.ports import PinnedWorkflow
from support.compiler.native_case import compile_text
from support.runtime.guided_flows import flow, notes, refusals, step
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom, Turns

Json = dict[str, Any]
CONTROL: Json = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}
BY_ARTIFACT: Json = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "again"}


def again(*body: Json) -> Json:
    settings = {"type": "while", "maxIterations": 4, "conditionSource": BY_ARTIFACT}
    return {"id": "again", "type": "loop", "title": "Again", "loop": settings, "body": list(body)}


def control(decision: str) -> Json:
    return notes(decision, artifacts=[{"kind": "wr.loop_control", "decision": decision}])


LOOPED = flow(step("plan"), again(step("work"), step("decide", **CONTROL)), step("end"))


def test_a_guided_workflow_is_run_to_its_end_and_what_is_refused_is_repaired(shop: StepsRoom) -> None:
    script: Turns = {
        "plan": [notes(""), {"expect_prompt": ["the step needs notes"], **notes("planned")}],
        "again/work": {**notes("worked"), "repeat": True},
        "again@1/decide": [notes("go on"), {"expect_prompt": ["wr.loop_control"], **control("continue")}],
        "again@2/decide": [control("stop")],
        "end": [{"say": "All is done."}],
    }
    state = shop.run(LOOPED, script)
    assert (state.status, state.message) == ("succeeded", "")
    assert shop.path(state.run) == ["plan", *(f"again@{n}/{x}" for n in (1, 2) for x in ("work", "decide")), "end"]
    assert refusals(shop, state.run) == [("plan", ["missing_notes"]), ("again@1/decide", ["missing_output"])]
    assert state.steps["end"].stdout == "All is done."
    assert state.spent.agent_calls == 8


def test_a_judgment_that_asks_for_more_is_followed_up_in_the_same_conversation(shop: StepsRoom) -> None:
    dimension = {"id": "level", "purpose": "How sure.", "levels": ["low", "high"]}
    follow: Json = {"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "Once more."}}
    judged = step("judge", assessmentRefs=["conf"], assessmentConsequences=[follow])
    text = flow(judged, assessments=[{"id": "conf", "purpose": "Confidence.", "dimensions": [dimension]}])

    def judgment(level: str) -> Json:
        one = {"level": {"level": level, "rationale": "for a reason"}}
        return notes(artifacts=[{"kind": "wr.assessment", "assessmentId": "conf", "dimensions": one}])

    state = shop.run(text, {"judge": [judgment("low"), {"expect_prompt": ["Once more."], **judgment("high")}]})
    assert state.status == "succeeded"
    first, second = of_kind(shop.log, state.run, StepRefused)[0], of_kind(shop.log, state.run, StepEnded)[0]
    assert first.shortfalls[0].code == "follow_up"
    assert first.details["session"] == second.details["session"]


def test_what_each_call_was_told_and_took_is_shown(shop: StepsRoom) -> None:
    cost = {"usage": {"input_tokens": 10, "cost": 0.25}}
    state = shop.run(flow(step("plan")), {"plan": [{**notes(""), **cost}, {**notes("yes"), **cost}]})
    assert prompt_of(shop.log, state.run, "plan").startswith("# Not done yet")
    assert "Do plan." in prompt_of(shop.log, state.run, "plan@1")
    details = step_details(shop.log, state.run, "plan")[0]
    assert (details["tries"], details["agent"]) == (2, "scripted")
    assert details["session"] == state.steps["plan"].session != ""
    assert (details["cost"]["usd"], details["cost"]["tokens"], details["cost"]["agent_calls"]) == (0.5, 20, 2)
    assert state.spent.usd == 0.5


def test_work_that_is_handed_on_is_asked_for_until_all_of_it_is_reported(shop: StepsRoom) -> None:
    def result(number: int) -> Json:
        return {"kind": "wr.delegation_result", "delegation": number, "status": "done", "summary": f"saw {number}"}

    work = [{"workflowId": "look-a"}, {"workflowId": "look-b"}]
    text = flow({"id": "split", "type": "parallel", "title": "Split", "parallelDelegations": work}, step("end"))
    one, two = ({"output": {"notesMarkdown": "", "artifacts": [result(number)]}} for number in (1, 2))
    more = {"expect_prompt": ["nothing was reported on"], **two}
    script: Turns = {"split": [one, more, {"expect_prompt": ["needs notes"], **notes("both")}]}
    state = shop.run(text, {**script, "end": [notes("over")]})
    assert (state.status, state.message) == ("succeeded", "")
    assert state.spent.agent_calls == 4
    assert refusals(shop, state.run) == [
        ("split", ["missing_delegation", "missing_notes"]),
        ("split", ["missing_notes"]),
    ]


def test_files_of_a_refused_call_stay_and_the_next_one_works_on_them(shop: StepsRoom) -> None:
    script: Turns = {"plan": [{"files": {"a.txt": "one\n"}, **notes("")}, {"run": "cat a.txt >> b.txt", **notes("ok")}]}
    state = shop.run(flow(step("plan")), script)
    assert state.status == "succeeded"
    assert (shop.tree(state.run) / "b.txt").read_text() == "one\n"


def test_an_agent_that_never_gets_it_right_is_ended_and_resumed_with_the_step_anew(shop: StepsRoom) -> None:
    wrong: list[Json] = [notes("")] * MAX_REFUSALS
    state = shop.run(flow(step("plan")), {"plan": [*wrong, notes("at last")]})
    assert (state.status, len(refusals(shop, state.run))) == ("blocked", MAX_REFUSALS)
    blocked = of_kind(shop.log, state.run, RunBlocked)[0]
    assert blocked.next_step == snapshot(
        "see what was submitted: handrail show flow-1 plan; then start over: handrail resume flow-1"
    )
    state = shop.resume(state.run)
    assert (state.status, state.steps["plan"].stdout) == ("succeeded", "at last")


def test_refused_calls_count_for_the_budget(shop: StepsRoom) -> None:
    compiled, _, _ = compile_text(flow(step("plan")), main="workflow.json")
    assert compiled.plan is not None
    pinned = PinnedWorkflow(replace(compiled.plan, budget=Budget(agent_calls=2)), compiled.hash or "")
    script = json.dumps({"plan": [notes(""), notes(""), notes(""), notes("at last")]}).encode()
    run = runs.start(shop.writer, runs.Request(pinned, str(shop.folder), agent="scripted", script=script))
    shop.drive()
    state = shop.state(run)
    assert (state.status, state.reason, state.spent.agent_calls) == ("blocked", "budget", 2)
    assert shop.resume(run).status == "succeeded", "a grant is for two more calls"


@pytest.mark.parametrize("at", ["the first call", "the repair"])
def test_a_driver_that_is_killed_in_a_call_finds_it_again(shop: StepsRoom, at: str) -> None:
    slow: Json = {"run": "echo x >> calls; until test -e go; do sleep 0.02; done"}
    first = notes("") if at == "the repair" else {**slow, **notes("")}
    second = {**slow, **notes("yes")} if at == "the repair" else notes("yes")
    run = shop.start(flow(step("plan"), step("end")), {"plan": [first, second], "end": [notes("over")]})
    driver = shop.drive_elsewhere()
    try:
        shop.until(lambda: shop.state(run).tree is not None and (shop.tree(run) / "calls").exists())
    finally:
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    (shop.tree(run) / "go").touch()
    shop.drive()
    state = shop.state(run)
    assert state.status == "succeeded"
    assert (shop.tree(run) / "calls").read_text() == "x\n", "it was not called twice"
    assert refusals(shop, run) == [("plan", ["missing_notes"])]


def test_a_run_goes_back_into_a_loop_and_walks_it_again(shop: StepsRoom) -> None:
    script: Turns = {
        "again/work": {**notes("worked"), "repeat": True},
        "again/decide": [control("continue"), control("stop"), control("stop")],
        "default": {**notes("done"), "repeat": True},
    }
    state = shop.run(LOOPED, script)
    runs.rewind(shop.writer, state.run, "again@2/decide", "ann")
    shop.drive()
    assert shop.state(state.run).status == "succeeded"
    assert shop.path(state.run)[-2:] == ["again@2/decide", "end"]
    assert len(shop.calls(state.run, "again@2/decide")) == 2


def test_a_run_changes_hands_in_a_loop_and_the_engine_goes_on_with_the_rest(shop: StepsRoom) -> None:
    script: Turns = {"again@3/decide": [control("stop")], "again/decide": {**control("continue"), "repeat": True}}
    run = shop.start(LOOPED, {**script, "default": {**notes("by the engine"), "repeat": True}})
    holder = holder_name("0a1b2c3d")

    def take() -> None:
        runs.take(shop.writer, run, holder)

    shop.during(take, lambda: "again@1/work" in shop.state(run).steps)
    state = shop.state(run)
    assert (state.held_by, state.hands) == (holder, "agents")
    assert state.pending is not None
    at = state.pending.address
    began = [each for each in of_kind(shop.log, run, StepBegan) if each.address == at][-1]
    assert "call" not in began.spec
    runs.release(shop.writer, run, "ann")
    shop.drive()
    state = shop.state(run)
    assert state.status == "succeeded"
    again = [each for each in of_kind(shop.log, run, StepBegan) if each.address == at]
    assert len(again) == 2
    assert "call" in again[-1].spec


def test_rules_and_references_are_told_whole_in_a_new_conversation_and_short_after(
    shop: StepsRoom,
) -> None:
    reference = {"id": "api", "title": "The API", "source": "README.md", "purpose": "It binds.", "authoritative": True}
    text = flow(step("one"), step("two"), metaGuidance=["Never guess."], references=[reference])
    state = shop.run(text, {"one": notes("one"), "two": notes("two")})
    first, second = (prompt_of(shop.log, state.run, name) for name in ("one", "two"))
    assert "- Never guess." in first
    assert "- The API (authoritative)\n  Path: README.md\n  Purpose: It binds." in first
    assert "Never guess." not in second
    assert "- The API: README.md" in second
