"""The in-memory twin of `RunEnvironments`: each run has exactly the variables that a test provides."""

from collections.abc import Mapping
from dataclasses import field, replace

from handrail.frozen import frozen
from handrail.model.secrets.redaction import Redactor
from handrail.processes.secret_forms import FORMS


@frozen
class MemoryEnvironment:
    """A `RunEnvironment` that is independent of this machine."""

    given: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that every command gets."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables whose values must not be stored; commands get those that `pass_env` names."""
    accounts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The account that each agent is logged in to."""
    logged_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """For each agent that is not logged in, how a person logs in."""

    found: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secrets that are in no variable."""

    @property
    def redactor(self) -> Redactor:
        """Removes the secrets from what is recorded."""
        return Redactor({**self.found, **self.secrets}, FORMS)

    def variables(self, pass_env: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the given variables and the secrets that `pass_env` names."""
        return {**self.given, **{name: value for name, value in self.secrets.items() if name in pass_env}}

    def account(self, agent: str, variables: Mapping[str, str]) -> str:  # noqa: ARG002 - no login depends on them here
        """Return the account of an agent."""
        return self.accounts.get(agent, "")

    def login_hint(self, agent: str, argv: tuple[str, ...], variables: Mapping[str, str]) -> str:  # noqa: ARG002
        """Explain how to log in where an agent is not logged in."""
        return self.logged_out.get(agent, "")


@frozen
class MemoryEnvironments:
    """`RunEnvironments` in which each run has its own environment."""

    by_run: Mapping[str, MemoryEnvironment] = field(default_factory=dict[str, MemoryEnvironment])
    others: MemoryEnvironment = MemoryEnvironment()
    found: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """Secrets that are in no variable, by run."""

    def environment_of(self, run: str) -> MemoryEnvironment:
        """Return the environment of a run."""
        known = self.by_run.get(run, self.others)
        return replace(known, found=self.found[run]) if run in self.found else known

    def add_secret(self, run: str, name: str, value: str) -> None:
        """Have a secret of a run removed from what is recorded that was found outside its environment."""
        self.found.setdefault(run, {})[name] = value
