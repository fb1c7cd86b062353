"""The system of a throw-away room, in which a workflow is tested."""

import os

from handrail.operations.scenarios.room import Room
from handrail.sources.folders import HOME
from handrail.wiring.machine import this_machine
from handrail.wiring.system import ShellCommands, System


def open_room(room: Room) -> System:
    """Open the database of a room."""
    machine = this_machine()
    commands = ShellCommands({**os.environ, **room.environ}, {HOME: str(room.home)})
    log = machine.log_files.open(room.data)
    return System(log, room.data, room.workflows, room.clock, commands, room.instead, bare=True, machine=machine)
