"""The environment of a run: what its commands and agents see of the machine, and the secrets that it must not keep."""

from collections.abc import Mapping
from typing import Protocol

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


class RunEnvironments(Protocol):
    """Knows the environment of each run: that of whoever started it."""

    def for_run(self, run: str) -> RunEnvironment:
        """Give the environment of a run."""
        ...
