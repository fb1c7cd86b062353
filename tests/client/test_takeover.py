"""A program that drives a run is killed: another one takes the run over, and nothing is done twice."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.client import Finished, NeedsPerson, open_client
from support.cli.fixtures import team
from support.cli.running import until
from support.cli.team import Team

__all__ = ["team"]
pytestmark = pytest.mark.system  # starts processes of its own, and waits for them
WORKFLOW = """\
name: NAME
steps:
  - {name: first, command: 'echo first >> "$TRACE"', env: {TRACE: 'WHERE'}}
  - name: wait
    command: 'echo wait >> "$TRACE"; until test -e "$TRACE.go"; do sleep 0.02; done'
    env: {TRACE: 'WHERE'}
  - {name: last, command: 'echo last >> "$TRACE"', env: {TRACE: 'WHERE'}}
"""
PROGRAM = """\
import asyncio, handrail

async def main():
    async with handrail.open() as client:
        run = await client.start("slow")
        print(run.id, flush=True)
        await run.result()

asyncio.run(main())
"""


def test_a_killed_program_loses_nothing_and_another_takes_its_run_over(team: Team, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    team.add("slow", WORKFLOW.replace("WHERE", str(trace)))
    environ = {**os.environ, **team.runs.environ()}
    os.environ["HANDRAIL_HOME"] = str(team.runs.shop.home)
    driver = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=team.root, env=environ, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    run = driver.stdout.readline().strip()
    until(lambda: trace.exists() and "wait" in trace.read_text())
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()

    async def program() -> None:
        async with open_client(team.root) as client:
            found = await client.get(run)
            left = await found.result()
            assert isinstance(left, NeedsPerson)
            assert left.kind == "interrupted"
            await found.resume()
            (tmp_path / "trace.go").touch()
            assert isinstance(await found.result(), Finished)

    try:
        asyncio.run(asyncio.wait_for(program(), 120))
    finally:
        del os.environ["HANDRAIL_HOME"]
    assert trace.read_text().split() == ["first", "wait", "last"]
