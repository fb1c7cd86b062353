"""The environment of a run: what its commands and agents see of the machine, and the secrets it must not record."""

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
        """Removes the secrets of this environment from what is recorded."""
        ...

    def variables(self, pass_env: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the variables that every command gets, and those that `pass_env` names."""
        ...

    def account(self, agent: str, variables: Mapping[str, str]) -> str:
        """Return the account that an agent with these variables is logged in to; empty if that is not known."""
        ...

    def login_hint(self, agent: str, argv: tuple[str, ...], variables: Mapping[str, str]) -> str:
        """Describe how a person logs in if an agent, started this way, certainly is not; empty if it may be."""
        ...


class RunEnvironments(Protocol):
    """Knows the environment of each run: that of whoever started it."""

    def environment_of(self, run: str) -> RunEnvironment:
        """Return the environment of a run."""
        ...

    def add_secret(self, run: str, name: str, value: str) -> None:
        """Have a secret of a run removed from what is recorded that was found outside its environment."""
        ...


@frozen
class HeldEnvironment:
    """What the background driver reports about an environment that it holds: names, but no values."""

    run: str
    """The run that it was handed over for, also for runs started by it. Empty for the driver's own."""
    names: tuple[str, ...]


HandoverOutcome: TypeAlias = Literal["held", "kept", "older", "gone"]
"""The outcome of offering an environment: the background driver holds it now (`held`); it retains the one that it was
given before (`kept`); it is of a version that accepts none (`older`); there is none, or it does not answer (`gone`).
"""


class EnvironmentHolder(Protocol):
    """The background driver's end of the private channel: it holds the environments of runs."""

    def open(self) -> str:
        """Open the channel and return its name, by which others find it; empty if that cannot be done."""
        ...

    def sweep(self) -> None:
        """Remove what killed drivers left behind; only the one that has the lock may."""
        ...

    async def serve(self, called: Callable[[], None]) -> None:
        """Accept and return environments until it is cancelled; `called` is invoked for each that is offered."""
        ...

    def close(self) -> None:
        """Accept no more."""
        ...


class DriverEnvironments(Protocol):
    """The environments that the background driver of a database holds in its memory, on behalf of runs."""

    def offer(self, run: str, variables: Mapping[str, str], *, instead: bool = False) -> HandoverOutcome:
        """Hand over an environment for a run that this process attends to; `instead` replaces the one that is held."""
        ...

    def fetch(self, run: str) -> Mapping[str, str] | None:
        """Fetch the environment that is held for a run; None if there is none."""
        ...

    def list_held(self) -> tuple[HeldEnvironment, ...] | None:
        """List the environments that are held, the driver's own first; None if no driver answers."""
        ...
