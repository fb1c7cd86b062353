"""The context in which calls of connected agents are answered: the log, the keys of tokens, places of workflows."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from handrail.errors import HandrailError
from handrail.model.actors import Actor, make_connected
from handrail.model.tokens import NO_BRANCH, Token, TokenFault, TokenKind, TokenProblem, mint, read_token
from handrail.operations.issue_runs.start_on_issue import IssueDesk
from handrail.operations.pull.catalogue import Catalogue
from handrail.ports.agents import Agents
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.runtime.history import StateCache
from handrail.runtime.ports import Clock, machine_clock
from handrail.runtime.run_writer import RunWriter
from handrail.sources.tiers import Location

CONNECTED = make_connected("mcp")
_HELD_BEFORE = "connected agent "
"""How summaries that an older Handrail wrote begin the name of a holder."""
MAX_ASKED = 1000
"""The number of calls without an answer that are remembered."""
_FAULTS: dict[TokenFault, str] = {
    "format": "TOKEN_INVALID_FORMAT",
    "signature": "TOKEN_BAD_SIGNATURE",
    "foreign": "TOKEN_UNKNOWN_KEY",
}


class PullError(HandrailError):
    """A call that cannot be answered as it is; the code says why, the next step what to call instead."""

    code: ClassVar[str] = "pull-refused"

    def __init__(self, reason: str, message: str, *, next_step: str, again: bool = False) -> None:
        super().__init__(message, next_step=next_step)
        self.reason = reason
        """A code for programs, such as TOKEN_BAD_SIGNATURE."""
        self.again = again
        """Whether exactly the same call may succeed a little later."""


@dataclass(slots=True)
class CallContext:
    """The context in which calls are answered."""

    writer: RunWriter
    keys: tuple[bytes, ...]
    place: Callable[[Path], Location]
    """Returns the place in which workflows are looked up, seen from a folder."""
    wake: Callable[[str], None]
    """Lets the engine continue a run, with the environment of this process if the run has none yet."""
    machine: Machine
    clock: Clock = field(default_factory=machine_clock)
    known: StateCache = field(default_factory=StateCache)
    catalogue: Catalogue = field(default_factory=Catalogue)
    keys_now: Callable[[], tuple[bytes, ...]] | None = None
    """Reads the keys again: another process may sign with a newer one by now."""
    caller: Actor = CONNECTED
    """Who calls: an agent that talks to a person, or one inside a step, which has nobody to ask."""
    offer: Callable[[str], None] = lambda _: None
    """Hands the environment of this process to a running background driver, for a run that has none yet."""
    person: Actor | None = field(default=None, kw_only=True)
    """The person at the client, who may be asked; None if an agent started the server."""
    issues: Callable[[Location], IssueDesk] | None = field(default=None, kw_only=True)
    """Returns what starts runs on issues, seen from a place."""
    agents: Agents = field(kw_only=True)
    """The agents that may perform steps of the runs."""

    asked: dict[Token, int] = field(default_factory=dict[Token, int], kw_only=True)
    """For calls without an answer so far, the newest event when they arrived: an earlier event is not their answer."""

    @property
    def log(self) -> Log:
        """The log."""
        return self.writer.log

    def place_of(self, workspace: str) -> Location:
        """Return the place of a workspace that an agent named."""
        folder = Path(workspace)
        try:
            there = folder.is_absolute() and folder.is_dir()
        except (OSError, ValueError):
            there = False
        if not there:
            message = f"workspacePath '{workspace}' is not the absolute path of a folder that exists"
            raise PullError("VALIDATION_ERROR", message, next_step="pass the root of the repository that you work in")
        return self.place(folder)

    def record_first_call(self, token: Token, seq: int) -> int:
        """Return the newest event at the time when an unanswered call first arrived."""
        while len(self.asked) >= MAX_ASKED:
            del self.asked[next(iter(self.asked))]
        return self.asked.setdefault(token, seq)

    def forget(self, run: str) -> None:
        """Treat every call about a run as answered."""
        for each in [token for token in self.asked if token.run == run]:
            del self.asked[each]

    def mint(self, kind: TokenKind, run: str, seq: int, holder: str, branch: str = NO_BRANCH) -> str:
        """Write a token."""
        return mint(Token(kind, run, seq, holder, branch), self.keys[0])

    def read(self, text: str, *kinds: TokenKind) -> Token:
        """Read a token of one of these kinds."""
        token = read_token(text.strip(), self.keys)
        if isinstance(token, TokenProblem) and token.fault == "foreign" and self.keys_now is not None:
            self.keys = self.keys_now()
            token = read_token(text.strip(), self.keys)
        find = "call resume_session to find your run and get a new token"
        if isinstance(token, TokenProblem):
            raise PullError(_FAULTS[token.fault], f"{token.message}; copy it exactly", next_step=find)
        if token.kind not in kinds:
            raise PullError(
                "TOKEN_SCOPE_MISMATCH",
                f"this is a {token.kind} token, which cannot be used for this call",
                next_step=_INSTEAD[token.kind],
            )
        return token


_INSTEAD: dict[TokenKind, str] = {
    "continue": 'use it as continueToken of continue_workflow; checkpoint_workflow takes the "checkpointToken"',
    "checkpoint": 'use it as checkpointToken of checkpoint_workflow; continue_workflow takes the "continueToken"',
    "resume": 'call continue_workflow with it and intent "rehydrate": the answer has a token that can advance',
    "agent": "it is for the tools of the step that you are called for; call resume_session to find a run",
}


def new_name() -> str:
    """Make up a random name for a holder or a branch."""
    return secrets.token_hex(4)


def holder_name(holder: str) -> str:
    """Return the name under which a run is held by whoever has a token of this holder."""
    return str(make_connected(holder))


def holder_in(held_by: str) -> str:
    """Return the holder that a token needs for a run held by a connected agent; empty if none holds it."""
    prefix = next((each for each in ("connected:", _HELD_BEFORE) if held_by.startswith(each)), "")
    return held_by.removeprefix(prefix) if prefix else ""
