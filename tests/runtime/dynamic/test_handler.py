"""Flows written as a coroutine: recorded, replayed, and refused where the replay is another one."""

import os
import signal

import pytest
from inline_snapshot import snapshot

from handrail.engine.state.codec import decode_state, encode_state
from handrail.model.history.run_state import FlowCall
from handrail.model.workflow.actions import DynamicAction
from handrail.operations.driving.background_driver import ensure
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prepare import RunOptions, prepare
from handrail.processes.local_programs import LocalPrograms
from handrail.runtime.dynamic.flow_calls import CallCompiler, FlowCallContext, call_of
from handrail.runtime.dynamic.older_calls import is_same_as_older
from handrail.runtime.history import events_of, plan_of
from handrail.sources.tiers import here
from handrail.wiring.machine import this_machine
from handrail.wiring.system import FLOWS
from support.runtime.background_home import eventually
from support.runtime.flow_home import Flows

pytestmark = pytest.mark.system  # takes long

FIVE = """\
async def run(ctx):
    for number in range(1, 6):
        wait = "until [ -e go ]; do sleep 0.02; done" if number == 3 else ":"
        await ctx.run_step(f"call-{number}", command=f"echo {number} >> ran; {wait}")
    return "all five"
"""


def test_a_flow_calls_steps_and_goes_where_their_results_lead(flows: Flows) -> None:
    run = flows.start(
        '''
        """Greets, checks, asks."""
        from handrail import Gate, Script

        inputs = {"who": "string"}

        async def run(ctx):
            said = await ctx.run_step("greet", command='echo "hello ${who}"')
            tries = 1
            while not (await ctx.run_step(Gate("check", command="test -e thing || { touch thing; false; }"))).success:
                tries += 1
            answer = await ctx.approve(f"{said.output}, ${{it}}?")
            last = await ctx.run_step(Script("last", command="echo ${text}"), values={"text": answer.feedback})
            return {"tries": tries, "last": last.output, "decision": answer.decision}
        ''',
        "who=it's",
    )
    assert flows.drive(run).message == "hello it's, ${it}?"
    runs.answer(flows.home.writer, run, "revise", "me", "$(touch /tmp/pwned) 'x'")
    state = flows.drive(run)
    assert state.status == "succeeded"
    assert state.names["flow"] == {"tries": 2, "last": "$(touch /tmp/pwned) 'x'", "decision": "revise"}
    asked = [event.asks for _, event in events_of(flows.home.log, run) if event.kind == "call_requested"]
    assert asked == snapshot(
        [
            "script 'greet' (echo \"hello ${who}\")",
            "gate 'check' (test -e thing || { touch thing; false; })",
            "gate 'check' (test -e thing || { touch thing; false; })",
            "approval 'approve' (hello it's, ${it}?)",
            "script 'last' (echo ${text})",
        ]
    )


def test_its_source_is_pinned_with_the_plan(flows: Flows) -> None:
    flows.start(FIVE)
    place = here(flows.home.shop, os.environ)
    first, second = (prepare(this_machine(), place, RunOptions("flowing", folder=".")).request.pinned for _ in range(2))
    (step,) = first.plan.steps
    assert step.action == DynamicAction(FIVE, "workflow.py", origin="repository")
    assert first.definition == second.definition


def test_killed_in_its_third_call_it_goes_on_there_and_repeats_nothing(flows: Flows) -> None:
    run = flows.start(FIVE)
    ensure(flows.home.folders, LocalPrograms())
    eventually(lambda: (flows.home.shop / "ran").exists() and flows.ran() == "1\n2\n3\n")
    flows.home.end_driver(signal.SIGKILL)
    assert flows.home.state(run).status == "running"
    ensure(flows.home.folders, LocalPrograms())
    (flows.home.shop / "go").touch()
    assert flows.home.reaches(run, "succeeded").names["flow"] == "all five"
    assert flows.ran() == "1\n2\n3\n4\n5\n"
    ended = [getattr(event, "address", "") for _, event in events_of(flows.home.log, run) if event.kind == "step_ended"]
    assert ended == [*(f"flow/call-{number}" for number in range(1, 6)), "flow"]


def test_a_call_that_a_pause_ended_is_made_again_and_those_before_it_are_not(flows: Flows) -> None:
    run = flows.start(FIVE)
    ensure(flows.home.folders, LocalPrograms())
    eventually(lambda: (flows.home.shop / "ran").exists() and flows.ran() == "1\n2\n3\n")
    flows.home.writer.send(run, "pause", "pause")
    flows.home.reaches(run, "waiting")
    (flows.home.shop / "go").touch()
    runs.resume(flows.home.writer, run, "me")
    flows.home.keep_going(run)
    flows.home.reaches(run, "succeeded")
    assert flows.ran() == "1\n2\n3\n3\n4\n5\n"


READS = """\
from pathlib import Path

async def run(ctx):
    await ctx.run_step("first", command="echo 1 >> ran")
    if Path("FILE").exists():
        await ctx.run_step("second", command="echo " + Path("FILE").read_text() + " >> ran")
    await ctx.approve("go on?")
"""


@pytest.mark.parametrize("after", ["other", None], ids=["another command", "another step"])
def test_a_replay_that_asks_for_something_else_is_named(flows: Flows, after: str | None) -> None:
    file = flows.home.shop / "text"
    file.write_text("this")
    run = flows.start(READS.replace("FILE", str(file)))
    assert flows.drive(run).reason == "approval"
    if after is None:
        file.unlink()
    else:
        file.write_text(after)
    runs.answer(flows.home.writer, run, "approve", "me")
    state = flows.drive(run)
    assert (state.status, state.reason) == ("blocked", "fault")
    now = "script 'second' (echo other >> ran)" if after else "approval 'approve' (go on?)"
    was = "script 'second' (echo this >> ran)"
    assert state.message == f"call 2 of 'flow' was {was}; replayed, workflow.py calls {now}"
    file.write_text("this")
    runs.resume(flows.home.writer, run, "me")
    assert flows.drive(run).status == "succeeded"
    assert flows.ran() == "1\nthis\n"


def test_a_replay_that_ends_too_soon_is_named(flows: Flows) -> None:
    mark = flows.home.shop / "mark"
    source = f"""
        from pathlib import Path

        async def run(ctx):
            if not Path("{mark}").exists():
                await ctx.approve("go on?")
        """
    run = flows.start(source)
    flows.drive(run)
    mark.touch()
    runs.answer(flows.home.writer, run, "approve", "me")
    assert flows.drive(run).message == snapshot(
        "call 1 of 'flow' was approval 'approve' (go on?); replayed, workflow.py returns"
    )


FAULTY = {
    "raises": "    await ctx.run_step('a', command='true')\n    raise ValueError('boom')",
    "awaits": "    import asyncio\n    await asyncio.sleep(0)",
    "agent": "    from handrail import Agent\n    await ctx.run_step(Agent('ask', prompt='{{ nobody }}'))",
    "end": "    from handrail import End\n    await ctx.run_step(End('over'))",
    "file": "    await ctx.run_step('a', prompt_path='prompts/none.md')",
    "key": "    await ctx.run_step('a', prompt='Do it.', modle='opus')",
    "name": "    await ctx.run_step('a/b', command='true')",
    "parallel": "    await ctx.parallel([1], 2)",
    "unknown": "    await ctx.run_step('a', command='echo ${nobody}')",
    "unsafe": "    await ctx.run_step('a', command='sh -c \"${x}\"', values={'x': 'id'})",
    "when": "    from handrail import Script\n    await ctx.run_step(Script('a', command='true', when='true'))",
    "nothing": "    await ctx.run_step('a')",
    "result": "    return object()",
}


def test_what_goes_wrong_in_a_flow_fails_the_run_with_its_line(flows: Flows) -> None:
    said: dict[str, str] = {}
    for what, body in FAULTY.items():
        state = flows.drive(flows.start(f"async def run(ctx):\n{body}\n"))
        assert state.status == "failed"
        said[what] = state.message.removeprefix("step 'flow' failed: workflow.py:")[:90]
    assert said == snapshot(
        {
            "raises": "3: ValueError: boom",
            "awaits": "3: run() awaits something that is not a step: await only what ctx offers, such as ctx.run_",
            "agent": "3: FlowError: unknown variable 'nobody': available here: current_step, env, input, issue, ",
            "end": "3: FlowError: step 'over' ends a workflow: return from run() instead",
            "file": "2: FlowError: there is no prompt 'prompts/none.md' beside the workflow, only none",
            "key": "2: FlowError: run_step('a'): Agent.__init__() got an unexpected keyword argument 'modle'",
            "name": "2: FlowError: 'a/b' is not a valid step name: for example run-tests",
            "parallel": "2: FlowError: ctx.parallel is not supported: call ctx.run_step(ParallelAgents(...)), then ",
            "unknown": "2: FlowError: unknown variable 'nobody': if it is a shell variable, write `$nobody` or `$$",
            "unsafe": "2: FlowError: a value is part of the code passed to `sh`: pass it as an argument: `sh -c '",
            "when": "3: FlowError: step 'a' sets when: in a flow, write that in Python",
            "nothing": "2: FlowError: run_step('a') has nothing to do: pass a prompt, a command, checks, a workflo",
            "result": "step 'flow' failed: run() returned something that is not a JSON value: unsupported type: <",
        }
    )


def test_going_back_to_a_call_keeps_the_calls_before_it(flows: Flows) -> None:
    run = flows.start(FIVE)
    (flows.home.shop / "go").touch()
    assert flows.drive(run).status == "succeeded"
    runs.rewind(flows.home.writer, run, "flow/call-4", "me")
    assert flows.drive(run).status == "succeeded"
    assert flows.ran() == "1\n2\n3\n4\n5\n4\n5\n"


def test_a_copy_of_a_run_keeps_the_calls_that_are_over(flows: Flows) -> None:
    run = flows.start(
        "async def run(ctx):\n    await ctx.run_step('a', command='echo 1 >> ran')\n    await ctx.approve('?')\n"
    )
    flows.drive(run)
    copy = runs.fork(flows.home.writer, run, None, "me")
    assert flows.drive(copy).reason == "approval"
    runs.answer(flows.home.writer, copy, "approve", "me")
    assert flows.drive(copy).status == "succeeded"
    assert flows.home.state(run).status == "waiting"
    assert flows.ran() == "1\n"


def test_the_state_in_the_middle_of_a_flow_survives_a_checkpoint(flows: Flows) -> None:
    run = flows.start("async def run(ctx):\n    await ctx.approve('?')\n")
    state = flows.drive(run)
    assert state.flow is not None
    assert decode_state(encode_state(state), flows.home.log.get_blob) == state


OLDER = {
    "greet": "146d9609c950958e61ead310eb9c7ee9b71e1be071049474e3931d28b2930778",
    "check": "a917b3e1fd3cdef64b23dcb574ffcaea1e0334198b49ebaf3e1c37e0ce93cfaf",
    "approve": "4565a17d61194a939f5663660ae9cddec83a2ba2b50afa7c6a09b06c0af231e0",
}
"""What a version before calls had names recorded for these."""


def test_calls_that_an_older_version_recorded_are_the_same_calls(flows: Flows) -> None:
    run = flows.start('inputs = {"who": "string"}\n\nasync def run(ctx):\n    await ctx.approve("?")\n', "who=me")
    state = flows.drive(run)
    assert state.flow is not None
    ctx, compiler = (
        FlowCallContext(state, "", 0.0, state.flow.pending),
        CallCompiler(plan_of(flows.home.log, state.plan), FLOWS.builtins),
    )
    asked: list[tuple[dict[str, object], dict[str, object]]] = [
        ({"name": "greet", "type": "script", "command": 'echo "hello ${who}"; echo x >> ran'}, {}),
        ({"name": "check", "type": "gate", "checks": {"one": "true", "two": 'test -n "${who}"'}}, {}),
        ({"name": "approve", "type": "approval", "message": "${message}"}, {"message": "hello me, ok?"}),
    ]
    calls = [call_of(ctx, {"step": step, "values": values}, compiler) for step, values in asked]
    for number, (call, hash_) in enumerate(zip(calls, OLDER.values(), strict=True), 1):
        assert is_same_as_older(call, FlowCall(hash_, "", f"flow#{number}"), ctx, number)
        assert not is_same_as_older(call, FlowCall(hash_[::-1], "", f"flow#{number}"), ctx, number)
