"""The environment of this process, in which every run works that it drives."""

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from handrail.frozen import frozen
from handrail.model.secrets.redaction import Redactor
from handrail.processes.environment import allowed_environment, secret_values
from handrail.processes.secret_forms import FORMS

FindAccount: TypeAlias = Callable[[str, Mapping[str, str]], str]
"""Names the account that an agent, with the variables it gets, is logged in to."""


@frozen
class ProcessEnvironment:
    """A `RunEnvironment` chosen from the variables of this process."""

    find_account: FindAccount
    parent: Mapping[str, str]
    """What the variables are chosen from."""
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that every command gets as well."""

    @property
    def secrets(self) -> dict[str, str]:
        """The variables that hold secrets, whether commands get them or not."""
        return secret_values(self.parent)

    @property
    def redactor(self) -> Redactor:
        """Takes the secrets of this environment out of what is recorded."""
        return Redactor(self.secrets, FORMS)

    def variables(self, pass_env: tuple[str, ...] = ()) -> dict[str, str]:
        """Give the allowed variables, and those that `pass_env` names."""
        return {**allowed_environment(self.parent, pass_env), **self.more}

    def account(self, agent: str, variables: Mapping[str, str]) -> str:
        """Name the account that an agent with these variables is logged in to; empty where that is not known."""
        return self.find_account(agent, variables)


@frozen
class SharedEnvironments:
    """`RunEnvironments` in which every run has the environment of this process."""

    find_account: FindAccount
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that differ from those of this process."""
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that every command gets, named or not."""

    def for_run(self, run: str) -> ProcessEnvironment:  # noqa: ARG002 - the same for every run
        """Give the environment of this process."""
        parent = {**os.environ, **self.changes} if self.changes else os.environ
        return ProcessEnvironment(self.find_account, parent, self.more)
