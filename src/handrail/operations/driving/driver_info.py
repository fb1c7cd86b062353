"""Identifies the background driver and the environments it holds, for commands that must start fast."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.frozen import frozen
from handrail.runtime.local.driver_lock import DriverInfo, find_driver

if TYPE_CHECKING:
    from handrail.ports.agent_profiles import AgentProfile
    from handrail.ports.environments import HeldEnvironment

__all__ = ["DriverInfo", "HeldLogins", "describe_environments", "find_running_driver", "list_logins"]


@frozen
class HeldLogins:
    """The logins that an environment has through variables: each agent with the variable, never its value."""

    run: str
    """The run for which the environment is held; empty for that of the driver itself."""
    logins: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """Describe the logins for a person: `claude by ANTHROPIC_API_KEY`."""
        return ", ".join(f"{agent} by {variable}" for agent, variable in self.logins) or "no login variable"


def find_running_driver(folder: Path) -> DriverInfo | None:
    """Return the background driver of a data folder, or None."""
    return find_driver(folder)


def list_logins(
    held: "Iterable[HeldEnvironment] | None", profiles: "Iterable[AgentProfile]"
) -> tuple[HeldLogins, ...] | None:
    """List the logins of each environment that a driver holds, its own first; None if it does not report them."""
    if held is None:
        return None
    known = tuple((each.name, variable) for each in profiles for variable in each.login.variables)
    return tuple(HeldLogins(each.run, tuple(one for one in known if one[1] in each.names)) for each in held)


def describe_environments(held: tuple[HeldLogins, ...] | None) -> str:
    """Describe for a person which environments a driver holds, its own first."""
    if held is None:
        return "from an older version, which does not hold environments of runs"
    own = next((f"its own environment: {each.words}" for each in held if not each.run), "")
    runs = ", ".join(f"{each.run} ({each.words})" for each in held if each.run)
    return "; ".join(part for part in (own, f"holds those of {runs}" if runs else "") if part)
