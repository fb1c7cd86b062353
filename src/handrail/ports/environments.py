"""The environment of a run: what its commands and agents see of the machine, and the secrets that it must not keep."""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.secrets.redaction import Redactor


class RunEnvironment(Protocol):
    """The environment in which a run works."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """The variables that hold secrets, whether commands get them or not."""
        ...

    @property
    def redactor(self) -> Redactor:
        """Takes the secrets of this environment out of what is recorded."""
        ...

    def variables(self, pass_env: tuple[str, ...] = ()) -> dict[str, str]:
        """Give the variables that every command gets, and those that `pass_env` names."""
        ...

    def account(self, agent: str, variables: Mapping[str, str]) -> str:
        """Name the account that an agent with these variables is logged in to; empty where that is not known."""
        ...

    def missing_login(self, agent: str, argv: tuple[str, ...], variables: Mapping[str, str]) -> str:
        """Say how a person logs in where an agent, so started, certainly is not logged in; empty where it may be."""
        ...


class RunEnvironments(Protocol):
    """Knows the environment of each run: that of whoever started it."""

    def for_run(self, run: str) -> RunEnvironment:
        """Give the environment of a run."""
        ...


@frozen
class HeldEnvironment:
    """What the background driver tells of an environment that it holds: names, and no value of any."""

    run: str
    """The run that it was handed over for; those that come from it have the same. Empty for the driver's own."""
    names: tuple[str, ...]


Handed: TypeAlias = Literal["held", "kept", "older", "gone"]
"""What became of an environment that was offered: the background driver holds it now; it keeps the one that it was
given before; it is of a version that takes none; there is none, or it does not answer."""


class EnvironmentHolder(Protocol):
    """The end of the private channel that is the background driver's own: it holds the environments of runs."""

    def open(self) -> str:
        """Open the channel and give its name, by which others find it; empty where that cannot be done."""
        ...

    def sweep(self) -> None:
        """Remove what drivers left that were killed; only the one that has the lock may."""
        ...

    async def serve(self, called: Callable[[], None]) -> None:
        """Take and give environments until it is cancelled; `called` hears of each that is offered."""
        ...

    def close(self) -> None:
        """Take no more."""
        ...


class DriverEnvironments(Protocol):
    """The environments that the background driver of a database holds in its memory, on behalf of runs."""

    def offer(self, run: str, variables: Mapping[str, str], *, instead: bool = False) -> Handed:
        """Hand an environment over for a run that this process attends to; `instead` of the one that is held."""
        ...

    def fetch(self, run: str) -> Mapping[str, str] | None:
        """Give the environment that is held for a run; None where none is."""
        ...

    def list_held(self) -> tuple[HeldEnvironment, ...] | None:
        """Tell which environments there are, the driver's own first; None where no driver tells that."""
        ...
