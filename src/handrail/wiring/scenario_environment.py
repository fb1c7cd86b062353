"""The system of a temporary environment in which a workflow is tested."""

from handrail.operations.scenarios.scenario_environment import ScenarioEnvironment
from handrail.processes.run_environment import SharedEnvironments
from handrail.sources.folders import HOME
from handrail.wiring.machine import this_machine
from handrail.wiring.system import System


def open_environment(environment: ScenarioEnvironment) -> System:
    """Open the database of a environment."""
    machine = this_machine()
    return System(
        machine.log_files.open(environment.data),
        environment.data,
        environment.workflows,
        environment.clock,
        environments=SharedEnvironments(machine.agents.account, environment.environ, {HOME: str(environment.home)}),
        instead=environment.instead,
        bare=True,
        machine=machine,
    )
