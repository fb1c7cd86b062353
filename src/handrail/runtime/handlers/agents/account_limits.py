"""Usage limits shared by several runs: a run that hits one leaves a note, and the others wait too, without a call.

1. There is one note per agent and account. The account is identified by the vendor's variables and by the name under
which the agent is logged in: a different login is not held back. An agent without any variables has no account.
2. The run that left the note ignores it: resuming that run really tries the agent.
3. A note is only a hint: one that cannot be read or written holds nobody back, and the agent itself reports the limit.
"""

import asyncio
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.ports.agents import Agent, AgentOutcome, variables_of
from handrail.ports.environments import RunEnvironment, RunEnvironments
from handrail.runtime.ports import Clock

FOLDER = "limits"


@frozen
class AccountLimit:
    """A usage limit of an account."""

    agent: str
    until: float
    run: str
    """The run that hit it."""
    message: str

    @property
    def words(self) -> str:
        """Describe the limit to somebody who waits for it in another run."""
        said = f": {self.message}" if self.message else ""
        return f"{self.agent} is at its usage limit, as {self.run} found{said}"


@frozen
class AccountLimits:
    """The notes in a folder."""

    folder: Path

    @property
    def has_notes(self) -> bool:
        """Whether there is any note; usually there is none."""
        try:
            return any(self.folder.iterdir())
        except OSError:
            return False

    def find_limit(self, account: str, run: str, now: float) -> AccountLimit | None:
        """Return an active limit that another run hit; None where the agent may be called."""
        limit = _read(self.folder / f"{account}.json")
        return None if limit is None or limit.run == run or limit.until <= now else limit

    def note(self, account: str, limit: AccountLimit) -> None:
        """Leave a note for the other runs."""
        path = self.folder / f"{account}.json"
        draft = path.with_suffix(f".{limit.run}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            told = {"agent": limit.agent, "until": limit.until, "run": limit.run, "message": limit.message}
            draft.write_text(json.dumps(told), encoding="utf-8")
            draft.replace(path)
        except OSError:
            return

    def lift(self, account: str) -> None:
        """Remove a note: the agent has answered."""
        try:
            (self.folder / f"{account}.json").unlink(missing_ok=True)
        except OSError:
            return

    def list_active(self, now: float) -> tuple[AccountLimit, ...]:
        """List all limits that are still active."""
        read = (_read(path) for path in sorted(self.folder.glob("*.json")))
        return tuple(limit for limit in read if limit is not None and limit.until > now)


@frozen
class Accounts:
    """The limits of the accounts that the agents of runs use."""

    limits: AccountLimits
    environments: RunEnvironments
    clock: Clock

    def find_limit(self, state: RunState, agent: Agent) -> AccountLimit | None:
        """Return the limit that another run hit, where runs share limits."""
        if state.agents.limits != "shared" or not agent.variables or not self.limits.has_notes:
            return None
        return self.limits.find_limit(self._account(state, agent), state.run, self.clock())

    def record_outcome(self, state: RunState, agent: Agent, outcome: AgentOutcome) -> None:
        """Note a limit whose end is known, and remove the note once the agent answers."""
        if not agent.variables or outcome.status not in ("ok", "quota"):
            return
        if outcome.status == "ok" and not self.limits.has_notes:
            return
        account = self._account(state, agent)
        if outcome.status == "ok":
            self.limits.lift(account)
        elif outcome.retry_after is not None:
            until = self.clock() + outcome.retry_after
            self.limits.note(account, AccountLimit(agent.name, until, state.run, outcome.message))

    def _account(self, state: RunState, agent: Agent) -> str:
        environment = self.environments.environment_of(state.run)
        usual = environment.variables(state.pass_env)
        given = agent_environment(environment, agent, state.pass_env)
        own = {name: value for name, value in given.items() if name not in usual}
        return account_of(agent.name, own, environment.account(agent.name, given))


def agent_environment(environment: RunEnvironment, agent: Agent, pass_env: tuple[str, ...]) -> dict[str, str]:
    """Return the environment of an agent: the variables that every command gets, and those of its vendor."""
    usual = environment.variables((*pass_env, *agent.variables))
    return environment.variables((*pass_env, *variables_of(agent, usual)))


def account_of(agent: str, variables: Mapping[str, str], login: str = "") -> str:
    """Name the account that an agent uses, by a hash of its vendor's variables and its login, which reveals neither."""
    told = json.dumps([*sorted(variables.items()), *((("", login),) if login else ())])
    return f"{agent}-{sha256(told.encode(errors='replace')).hexdigest()[:12]}"


def _read(path: Path) -> AccountLimit | None:
    try:
        told = cast("dict[str, Any]", json.loads(path.read_bytes()))
        return AccountLimit(str(told["agent"]), float(told["until"]), str(told["run"]), str(told["message"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


class StartPacing:
    """When each agent may be started next; one for all runs of a process."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def turn(self, agent: str, apart: float) -> bool:
        """Wait until an agent may be started, and make the next one wait `apart` seconds; return whether it waited."""
        if not apart:
            return False
        now = asyncio.get_running_loop().time()
        due = max(now, self._next.get(agent, now))
        self._next[agent] = due + apart
        if due > now:
            await asyncio.sleep(due - now)
        return due > now
