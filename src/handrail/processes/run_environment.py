"""The environments of runs: that of whoever started a run, where it is known here, else that of this process."""

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TypeAlias

from handrail.frozen import frozen
from handrail.model.secrets.redaction import Redactor
from handrail.processes.environment import filter_environment, secret_values
from handrail.processes.secret_forms import FORMS

FindAccount: TypeAlias = Callable[[str, Mapping[str, str]], str]
"""Returns the account that an agent, with the variables it gets, is logged in to."""
FindLogin: TypeAlias = Callable[[str, tuple[str, ...], Mapping[str, str]], str]
"""Returns how a person logs in where an agent, so started and with these variables, is certainly not logged in."""


def _assume_login(_agent: str, _argv: tuple[str, ...], _variables: Mapping[str, str]) -> str:
    return ""


@frozen
class ProcessEnvironment:
    """A `RunEnvironment` chosen from the variables of a process: this one, or the one that passed them on."""

    find_account: FindAccount
    parent: Mapping[str, str]
    """What the variables are chosen from."""
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    """Additional variables for every command."""
    find_login: FindLogin = _assume_login
    found: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secrets of the run that are in no variable, such as a token from a keyring."""

    @property
    def secrets(self) -> dict[str, str]:
        """The variables that contain secrets, whether commands get them or not."""
        return secret_values(self.parent)

    @property
    def redactor(self) -> Redactor:
        """Removes the secrets of this environment from what is recorded."""
        return Redactor({**self.found, **self.secrets}, FORMS)

    def variables(self, pass_env: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the allowed variables, and those that `pass_env` names."""
        return {**filter_environment(self.parent, pass_env), **self.more}

    def account(self, agent: str, variables: Mapping[str, str]) -> str:
        """Return the account that an agent with these variables is logged in to; empty where that is not known."""
        return self.find_account(agent, variables)

    def login_hint(self, agent: str, argv: tuple[str, ...], variables: Mapping[str, str]) -> str:
        """Return how a person logs in where an agent, so started, is certainly not logged in; empty where it may be."""
        return self.find_login(agent, argv, variables)


@frozen
class SharedEnvironments:
    """`RunEnvironments` in which every run has the environment of this process."""

    find_account: FindAccount
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that differ from those of this process."""
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that every command gets, named or not."""
    find_login: FindLogin = _assume_login
    found: dict[str, str] = field(default_factory=dict[str, str])
    """Secrets that are in no variable."""

    def environment_of(self, run: str) -> ProcessEnvironment:  # noqa: ARG002 - the same for every run
        """Return the environment of this process."""
        parent = {**os.environ, **self.changes} if self.changes else os.environ
        return ProcessEnvironment(self.find_account, parent, self.more, self.find_login, self.found)

    def add_secret(self, run: str, name: str, value: str) -> None:  # noqa: ARG002 - the same for every run
        """Have a secret removed from what is recorded that was found outside the environment."""
        self.found[name] = value


class HandedEnvironments:
    """`RunEnvironments` in which a run, with all that come from it, has the environment that was passed on for it.

    Where there is none, it is requested once; if that fails, the run has the environment of this process.
    """

    def __init__(
        self,
        own: SharedEnvironments,
        root_of: Callable[[str], str],
        fetch: Callable[[str], Mapping[str, str] | None] | None = None,
    ) -> None:
        self._own = own
        self._root_of = root_of
        self._fetch = fetch
        self._known: dict[str, ProcessEnvironment] = {}
        self._found: dict[str, dict[str, str]] = {}
        """Secrets that are in no variable, by run; shared with the environments that were handed out before."""

    def keep_own(self, run: str) -> None:
        """Use the environment of this process for a run: it is started here."""
        # A copy, like one that was passed on: `os.environ` decodes all of its variables each time they are read.
        self.hold(run, self._own.environment_of(run).parent)

    def hold(self, run: str, variables: Mapping[str, str]) -> None:
        """Hold an environment for a run."""
        root = self._root_of(run)
        found = self._found.setdefault(root, {})
        self._known[root] = replace(self._own.environment_of(run), parent=dict(variables), found=found)

    def drop(self, run: str) -> None:
        """Forget the environment of a run."""
        root = self._root_of(run)
        self._known.pop(root, None)
        self._found.pop(root, None)

    def add_secret(self, run: str, name: str, value: str) -> None:
        """Have a secret of a run removed from what is recorded that was found outside its environment."""
        root = self._root_of(run)
        if root not in self._known and self._fetch is None:
            self._own.add_secret(root, name, value)
        else:
            self._found.setdefault(root, {})[name] = value

    def list_held(self) -> dict[str, Mapping[str, str]]:
        """Return all environments that are held, by run."""
        return {run: each.parent for run, each in self._known.items()}

    def environment_of(self, run: str) -> ProcessEnvironment:
        """Return the environment of a run."""
        root = self._root_of(run)
        known = self._known.get(root)
        if known is not None:
            return known
        if self._fetch is None:
            return self._own.environment_of(root)
        handed = self._fetch(root)
        if handed is None:
            self.keep_own(root)
        else:
            self.hold(root, handed)
        return self._known[root]
