"""Hands runs over to the background driver of a data folder: the channel, and the environment of a run."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from handrail.errors import HandrailError
from handrail.late_import import late_import
from handrail.operations.driving.handover import AttendedRuns, Handover
from handrail.ports.machine import Machine
from handrail.processes.environment import build_run_environment
from handrail.processes.run_environment import HandedEnvironments
from handrail.runtime.history import state_of
from handrail.runtime.ports import Workflows
from handrail.sources.folders import Folders
from handrail.trackers.github.api import variables
from handrail.wiring.driver_channel import driver_environments
from handrail.wiring.system import System, open_system

if TYPE_CHECKING:
    from handrail.processes import environment_server
    from handrail.processes.environment_server import EnvironmentServer
else:
    environment_server = late_import("handrail.processes.environment_server")


def make_handover(system: System, folders: Folders) -> Handover:
    """Build what hands runs over to the background driver, with the environment of this process."""

    def choose(run: str) -> Mapping[str, str]:
        return choose_environment(system, run)

    return Handover(folders, system.machine.programs, system.log, driver_environments(folders.data), choose)


def choose_environment(system: System, run: str) -> dict[str, str]:
    """Choose which part of this process's environment a run gets: what its commands, agents and trackers may use."""
    try:
        state = state_of(system.log, run)
    except HandrailError:
        # Whoever drives it reports what is wrong with it.
        return build_run_environment(os.environ, variables.NAMES)
    source = state.pinned or state.source
    repository = state.workspace if source is None else source.repository
    named = system.agents.variables_in(os.environ, repository or None)
    return build_run_environment(os.environ, (*state.pass_env, *named, *variables.NAMES))


def open_background(folders: Folders, workflows: Workflows, machine: Machine) -> "tuple[System, EnvironmentServer]":
    """Open the user's database for the background driver, with its own end of the channel."""
    # Environments are handed to this process; it requests none itself.
    system = open_system(folders, workflows, machine, is_asking=False)
    environments = cast("HandedEnvironments", system.environments)
    return system, environment_server.EnvironmentServer(folders.data, environments, AttendedRuns(system.log))
