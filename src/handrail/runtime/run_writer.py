"""Writes to runs on behalf of whoever steers them: brings them into being, and sends them messages."""

import json
from typing import NamedTuple

from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.model.history.events import Event
from handrail.model.history.run_state import Pending, RunState
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Log
from handrail.runtime.history import beginning


def message(redactor: Redactor, kind: str, /, **fields: object) -> bytes:
    """Write a message for a run's inbox, without secrets."""
    return redactor.data(json.dumps({"kind": kind, **fields}).encode())


@frozen
class Letter:
    """What is told to the agents of another run; sent again, it counts once."""

    run: str
    key: str
    text: str
    by: str


class Heard(NamedTuple):
    """What messages cause, and which of them were taken."""

    events: tuple[ev.Event, ...]
    state: RunState
    consumed: tuple[int, ...] = ()
    given_up: tuple[Pending, ...] = ()
    begins: tuple[ev.RunStarted, ...] = ()
    """Runs that begin with them."""
    letters: tuple[Letter, ...] = ()
    """Messages to other runs that they bring about."""


@frozen
class RunWriter:
    """A log, and what takes the secrets of the writer's environment out of all that is written to it."""

    log: Log
    redactor: Redactor

    def begin(self, run: str, first: Event, *later: Event) -> None:
        """Bring a run into being; a `VersionConflict` says that there is one of this name."""
        self.log.append([beginning(self.log, self.redactor, run, first, *later)], [])

    def send(self, run: str, key: str, kind: str, /, **fields: object) -> bool:
        """Leave a message in the inbox of a run; False when the run was ever sent one with this key."""
        return self.log.send(run, key, message(self.redactor, kind, **fields))
