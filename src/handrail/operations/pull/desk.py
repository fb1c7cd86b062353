"""Where the calls of connected agents are answered: the log, the keys of tokens, where workflows are found."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from handrail.errors import HandrailError
from handrail.model.actors import Actor, make_connected
from handrail.model.tokens import NO_BRANCH, Misread, Token, TokenFault, TokenKind, mint, read_token
from handrail.operations.pull.catalogue import Catalogue
from handrail.ports.agents import Agents
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.runtime.history import Known
from handrail.runtime.ports import Clock, machine_clock
from handrail.runtime.run_writer import RunWriter
from handrail.sources.tiers import Place

CONNECTED = make_connected("mcp")
_HELD_BEFORE = "connected agent "
"""How summaries that an older Handrail wrote begin the name of a holder."""
MOST_ASKED = 1000
"""Calls without an answer that are remembered."""
_FAULTS: dict[TokenFault, str] = {
    "format": "TOKEN_INVALID_FORMAT",
    "signature": "TOKEN_BAD_SIGNATURE",
    "foreign": "TOKEN_UNKNOWN_KEY",
}


class PullRefused(HandrailError):
    """A call that cannot be answered as it stands; the code says why, the next step what to call instead."""

    code: ClassVar[str] = "pull-refused"

    def __init__(self, reason: str, message: str, *, next_step: str, again: bool = False) -> None:
        super().__init__(message, next_step=next_step)
        self.reason = reason
        """A code for programs, such as TOKEN_BAD_SIGNATURE."""
        self.again = again
        """Whether the very same call may succeed a little later."""


@dataclass(slots=True)
class Desk:
    """Answers calls."""

    writer: RunWriter
    keys: tuple[bytes, ...]
    place: Callable[[Path], Place]
    """Where workflows are looked for, seen from a folder."""
    wake: Callable[[str], None]
    """Lets the engine go on with a run, in the environment of this process where the run has none yet."""
    machine: Machine
    clock: Clock = field(default_factory=machine_clock)
    known: Known = field(default_factory=Known)
    catalogue: Catalogue = field(default_factory=Catalogue)
    keys_now: Callable[[], tuple[bytes, ...]] | None = None
    """Reads the keys again: another process may sign with a newer one since."""
    caller: Actor = CONNECTED
    """Who calls: an agent that a person talks to, or one inside a step, which has nobody to ask."""
    offer: Callable[[str], None] = lambda _: None
    """Hands the environment of this process to a background driver that is at work, for a run that has none yet."""
    person: Actor | None = field(default=None, kw_only=True)
    """The person at the client, whom it may ask; nobody where an agent started the server."""
    agents: Agents = field(kw_only=True)
    """The agents that may perform steps of the runs."""

    asked: dict[Token, int] = field(default_factory=dict[Token, int], kw_only=True)
    """Of calls whose answer is not known yet, the newest event at the time: what came before it is no answer."""

    @property
    def log(self) -> Log:
        """The log."""
        return self.writer.log

    def place_of(self, workspace: str) -> Place:
        """Give the place of a workspace that an agent named."""
        folder = Path(workspace)
        try:
            there = folder.is_absolute() and folder.is_dir()
        except (OSError, ValueError):
            there = False
        if not there:
            message = f"workspacePath '{workspace}' is not the absolute path of a folder that exists"
            raise PullRefused("VALIDATION_ERROR", message, next_step="give the root of the repository that you work in")
        return self.place(folder)

    def came(self, token: Token, seq: int) -> int:
        """Give the newest event at the time when a call came first that has no answer yet."""
        while len(self.asked) >= MOST_ASKED:
            del self.asked[next(iter(self.asked))]
        return self.asked.setdefault(token, seq)

    def forget(self, run: str) -> None:
        """Take every call about a run as answered."""
        for each in [token for token in self.asked if token.run == run]:
            del self.asked[each]

    def mint(self, kind: TokenKind, run: str, seq: int, holder: str, branch: str = NO_BRANCH) -> str:
        """Write a token."""
        return mint(Token(kind, run, seq, holder, branch), self.keys[0])

    def read(self, text: str, *kinds: TokenKind) -> Token:
        """Read a token of one of these kinds."""
        token = read_token(text.strip(), self.keys)
        if isinstance(token, Misread) and token.fault == "foreign" and self.keys_now is not None:
            self.keys = self.keys_now()
            token = read_token(text.strip(), self.keys)
        find = "call resume_session to find your run and get a new token"
        if isinstance(token, Misread):
            raise PullRefused(_FAULTS[token.fault], f"{token.message}: copy it exactly", next_step=find)
        if token.kind not in kinds:
            raise PullRefused("TOKEN_SCOPE_MISMATCH", _mismatch(token.kind), next_step=_INSTEAD[token.kind])
        return token


def _mismatch(kind: TokenKind) -> str:
    return f"this is a {kind} token, which cannot be used for this call"


_INSTEAD: dict[TokenKind, str] = {
    "continue": 'use it as continueToken of continue_workflow; checkpoint_workflow takes the "checkpointToken"',
    "checkpoint": 'use it as checkpointToken of checkpoint_workflow; continue_workflow takes the "continueToken"',
    "resume": 'call continue_workflow with it and intent "rehydrate": the answer has a token that can advance',
    "agent": "it is for the tools of the step that you are called for; call resume_session to find a run",
}


def new_name() -> str:
    """Make up a name for a holder or a branch."""
    return secrets.token_hex(4)


def held_name(holder: str) -> str:
    """Give the name under which a run is held by whoever has a token of this holder."""
    return str(make_connected(holder))


def holder_in(held_by: str) -> str:
    """Give the holder that a token needs for a run that a connected agent holds; empty where none does."""
    prefix = next((each for each in ("connected:", _HELD_BEFORE) if held_by.startswith(each)), "")
    return held_by.removeprefix(prefix) if prefix else ""
