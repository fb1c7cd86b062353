"""Writes to runs on behalf of whoever steers them: brings them into being, and sends them messages."""

from handrail.frozen import frozen
from handrail.model.history.events import Event
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Log
from handrail.runtime.history import beginning
from handrail.runtime.inbox_events import message


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
