"""Each run works in the environment that it is given, whoever drives it and whatever else is driven beside it."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.processes.local import LocalProcesses
from handrail.runtime.driver import Handlers
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.local.supervisor import Supervisor
from handrail.testing.memory_environments import MemoryEnvironment, MemoryEnvironments
from handrail.wiring.system import FLOWS, ShellCommands
from support.runtime.room import Room, library

SAYS = """
name: says
steps:
  - name: say
    command: |
      echo "I am $WHO"; for who in anns bens; do echo "$who-own-secret"; done
"""
PATH = {"PATH": "/usr/bin:/bin"}
ENVIRONMENTS = MemoryEnvironments(
    {
        "says-1": MemoryEnvironment({**PATH, "WHO": "ann"}, {"OWN": "anns-own-secret"}),
        "says-2": MemoryEnvironment({**PATH, "WHO": "ben"}, {"OWN": "bens-own-secret"}),
    },
    MemoryEnvironment(PATH),
)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path, {"says": SAYS})
    yield made
    made.close()


def drive(room: Room, environments: MemoryEnvironments) -> None:
    starts = CommandStarter(LocalProcesses(), ShellCommands(), environments)
    commands = CommandHandler(starts, room.data / "runs", time.time)
    children = ChildHandler(room.log, environments, library(room.workflows), time.time)
    asyncio.run(
        Supervisor(room.log, Handlers(environments, commands, children, FLOWS), time.time, "t").run_until_idle()
    )


def test_a_command_gets_the_variables_of_its_own_run(room: Room) -> None:
    ann, ben = room.start(SAYS), room.start(SAYS)
    drive(room, ENVIRONMENTS)
    assert room.state(ann).steps["say"].stdout.startswith("I am ann\n")
    assert room.state(ben).steps["say"].stdout.startswith("I am ben\n")


def test_the_secrets_of_its_own_environment_are_taken_out_of_what_a_run_records(room: Room) -> None:
    ann, ben = room.start(SAYS), room.start(SAYS)
    drive(room, ENVIRONMENTS)
    kept = {run: b"".join(each.payload for each in room.log.read(run)) for run in (ann, ben)}
    assert [b"anns-own-secret" in kept[run] for run in (ann, ben)] == [False, True]
    assert [b"bens-own-secret" in kept[run] for run in (ann, ben)] == [True, False]


def test_the_secrets_of_its_own_environment_are_masked_in_the_files_of_a_command(room: Room) -> None:
    run = room.start(SAYS)
    drive(room, ENVIRONMENTS)
    (output,) = (room.data / "runs" / run).glob("*/*/stdout")
    assert (b"anns-own-secret" in output.read_bytes(), b"bens-own-secret" in output.read_bytes()) == (False, True)


def test_a_child_begins_without_the_secrets_of_the_run_that_called_it(room: Room) -> None:
    room.workflows["asks"] = "name: asks\ninput: {what: string}\nsteps:\n  - {name: a, command: 'true'}\n"
    text = """
name: calls
steps:
  - {name: look, command: 'printf "%s-%s" calling secret', output: found}
  - {name: call, type: workflow, workflow: asks, input: {what: 'it is ${found}'}}
"""
    run = room.start(text)
    drive(room, MemoryEnvironments({run: MemoryEnvironment(PATH, {"OWN": "calling-secret"})}, MemoryEnvironment(PATH)))
    assert room.state(run).status == "succeeded"
    recorded = b"".join(each.payload for each in room.log.read_all())
    assert b"calling-secret" not in recorded
