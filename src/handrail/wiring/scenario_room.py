"""The system of a temporary room, in which a workflow is tested."""

from handrail.operations.scenarios.room import Room
from handrail.processes.run_environment import SharedEnvironments
from handrail.sources.folders import HOME
from handrail.wiring.machine import this_machine
from handrail.wiring.system import System


def open_room(room: Room) -> System:
    """Open the database of a room."""
    machine = this_machine()
    return System(
        machine.log_files.open(room.data),
        room.data,
        room.workflows,
        room.clock,
        environments=SharedEnvironments(machine.agents.account, room.environ, {HOME: str(room.home)}),
        instead=room.instead,
        bare=True,
        machine=machine,
    )
