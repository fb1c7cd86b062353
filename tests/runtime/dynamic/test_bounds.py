"""A flow is ended from outside: by a stop, by its bound, by the end of its driver; whatever it does meanwhile."""

import asyncio
import os
import signal

import pytest
from inline_snapshot import snapshot

from handrail.operations.driving.background_driver import ensure
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Holder
from handrail.processes.local_programs import LocalPrograms
from handrail.runtime.dynamic import handler as dynamic
from handrail.sources.python import flow_host
from handrail.sources.python.start_flow import start_flow
from handrail.testing.leaks import lasting_within, processes_within
from support.moved_time import MovedTime
from support.runtime.background_home import eventually
from support.runtime.flow_home import Flows

LONG_STEP = """
    async def run(ctx):
        await ctx.run_step("long", command="echo up >> ran; sleep 600")
    """
HANGS = {
    "loops": "while True: pass",
    "catches everything": "exec('while True:\\n try:\\n  while True: pass\\n except BaseException: pass')",
    "lets no thread run": "sum(range(10**14))",
    "sleeps": "import time; time.sleep(600)",
}


def hanging(flows: Flows, how: str) -> str:
    """Start a run whose flow leaves a mark and then does nothing that ends."""
    mark = flows.home.shop / "ran"
    return flows.start(f"async def run(ctx):\n    open({str(mark)!r}, 'w').close()\n    {HANGS[how]}\n")


def test_a_stop_ends_the_step_that_a_flow_called(flows: Flows) -> None:
    run = flows.start(LONG_STEP)
    flows.during(lambda: runs.stop(flows.home.writer, run, "me"), (flows.home.shop / "ran").exists)
    assert flows.home.state(run).status == "cancelled"
    assert lasting_within(flows.home.shop) == []


@pytest.mark.parametrize("how", HANGS)
def test_a_stop_ends_a_flow_that_never_calls(flows: Flows, how: str) -> None:
    run = hanging(flows, how)
    flows.during(lambda: runs.stop(flows.home.writer, run, "me"), (flows.home.shop / "ran").exists)
    assert flows.home.state(run).status == "cancelled"
    assert lasting_within(flows.home.shop) == []


def test_other_runs_go_on_while_a_flow_never_calls(flows: Flows) -> None:
    run = hanging(flows, "lets no thread run")
    other = flows.home.start("  - {name: hi, command: 'echo hi'}\n")
    flows.during(lambda: runs.stop(flows.home.writer, run, "me"), lambda: flows.home.state(other).status == "succeeded")
    assert flows.home.state(run).status == "cancelled"


def test_a_paused_flow_is_gone_and_comes_back_by_its_calls(flows: Flows) -> None:
    run = flows.start(
        """
        async def run(ctx):
            await ctx.run_step("first", command="echo first >> ran")
            await ctx.run_step("second", command="echo second >> ran; test -e go || sleep 600")
        """
    )

    def pause() -> None:
        flows.home.writer.send(run, "pause", "pause")

    flows.during(
        pause,
        lambda: (flows.home.shop / "ran").exists() and flows.ran() == "first\nsecond\n",
    )
    assert flows.home.state(run).reason == "pause"
    assert lasting_within(flows.home.shop) == []
    (flows.home.shop / "go").touch()
    runs.resume(flows.home.writer, run, "me")
    assert flows.drive(run).status == "succeeded"
    assert flows.ran() == "first\nsecond\nsecond\n"


@pytest.mark.parametrize("how", HANGS)
def test_a_flow_that_computes_too_long_blocks_its_run(flows: Flows, how: str, moved_time: MovedTime) -> None:
    run = hanging(flows, how)
    flows.during(lambda: moved_time.move(dynamic.MAX_SECONDS), (flows.home.shop / "ran").exists)
    state = flows.home.state(run)
    assert (state.status, state.reason) == ("blocked", "fault")
    assert state.message == snapshot(
        "flow 'flow' (workflow.py), at its start: computed longer than 30 s without calling a step and was stopped"
    )
    assert lasting_within(flows.home.shop) == []


def test_a_flow_that_was_too_slow_once_goes_on_after_a_resume(flows: Flows, moved_time: MovedTime) -> None:
    slow, computes = flows.home.shop / "slow", flows.home.shop / "computes"
    slow.touch()
    run = flows.start(
        f"""
        from pathlib import Path

        async def run(ctx):
            await ctx.run_step("first", command="echo first >> ran")
            Path({str(computes)!r}).touch()
            while Path({str(slow)!r}).exists():
                pass
            await ctx.run_step("second", command="echo second >> ran")
        """
    )
    flows.during(lambda: moved_time.move(dynamic.MAX_SECONDS), computes.exists)
    assert flows.home.state(run).message == snapshot(
        "flow 'flow' (workflow.py), after call 1: computed longer than 30 s without calling a step and was stopped"
    )
    slow.unlink()
    runs.resume(flows.home.writer, run, "me")
    assert flows.drive(run).status == "succeeded"
    assert flows.ran() == "first\nsecond\n"


def test_calls_that_are_refused_again_and_again_have_the_same_bound(
    flows: Flows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamic, "MAX_SECONDS", 1.0)
    run = flows.start(
        """
        async def run(ctx):
            while True:
                try:
                    await ctx.run_step("a", command="echo ${nobody}")
                except Exception:
                    pass
        """
    )
    assert flows.drive(run).reason == "fault"


def test_a_flow_whose_process_dies_blocks_its_run(flows: Flows) -> None:
    state = flows.drive(flows.start("import os\n\nasync def run(ctx):\n    os._exit(3)\n"))
    assert (state.status, state.reason) == ("blocked", "fault")
    assert state.message == snapshot("flow 'flow' (workflow.py), at its start: lost its process (exit code 3)")


def test_a_flow_cannot_disturb_the_conversation(flows: Flows, capfd: pytest.CaptureFixture[str]) -> None:
    run = flows.start("async def run(ctx):\n    print('{\"returned\": 1}')\n    return input()\n")
    assert flows.drive(run).message == snapshot("step 'flow' failed: workflow.py:3: EOFError: EOF when reading a line")
    printed = capfd.readouterr()
    assert printed.err.startswith('{"returned": 1}')
    assert printed.out == ""


def test_a_flow_sees_the_environment_of_commands_and_no_more(flows: Flows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_SECRET_KEY", "hunter2")
    monkeypatch.setenv("LANG", "C.UTF-8")
    run = flows.start(
        """
        import os

        async def run(ctx):
            return [os.environ.get("SHOP_SECRET_KEY"), os.environ.get("LANG"), os.getcwd()]
        """
    )
    assert flows.drive(run).names["flow"] == [None, "C.UTF-8", "/"]


def test_the_kernel_ends_a_flow_that_lets_no_thread_run_when_nobody_else_does() -> None:
    async def told() -> tuple[object, str]:
        partner = await start_flow(("flow of a test",), os.environ)
        source = f"async def run(ctx):\n    {HANGS['lets no thread run']}\n"
        about = {"file": "workflow.py", "source": source, "files": dict[str, str](), "inputs": dict[str, str]()}
        about |= {"run": "r", "task": "", "workspace": "/", "now": 0.0, "seed": ""}
        try:
            return await partner.ask({**about, "within": 0.5 - flow_host.EXTRA_SECONDS}), await partner.describe_end()
        finally:
            partner.end()

    assert asyncio.run(told()) == (None, f"signal {int(signal.SIGALRM)}")


def test_a_flow_that_computes_ends_with_its_driver(flows: Flows) -> None:
    run = hanging(flows, "loops")
    ensure(flows.home.folders, LocalPrograms())
    flows.home.shows("ran")
    assert isinstance(flows.home.log.holder(run), Holder)
    flows.home.end_driver(signal.SIGKILL)
    eventually(lambda: processes_within(flows.home.shop) == [])
