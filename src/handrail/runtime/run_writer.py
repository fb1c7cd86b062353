"""Writes to runs on behalf of whoever controls them: creates them, and sends them messages."""

import contextlib
import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from handrail.engine.fold.step_tools import Call
from handrail.errors import StorageFault, UsageError
from handrail.frozen import frozen
from handrail.model.codec import CodecError, decode, unrecordable
from handrail.model.history import events as ev
from handrail.model.history.events import Event
from handrail.model.history.run_state import Pending, RunState
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.settings import AgentPolicy
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Holder, Lease, Log
from handrail.runtime.history import GIVE_PLAIN, build_first_append

MAX_BYTES = 16 * 1024 * 1024
"""The largest message."""
_BY: dict[str, Any] = {"by": str}
_SHAPES: dict[str, dict[str, Any]] = {
    "answer": {"decision": ev.Decision, "feedback": str, "asked": int, **_BY},
    "say": {"asked": int, "answer": str, **_BY},
    "report": {"seq": int, "text": str, "output": Any, "has_output": bool, "artifacts": Any, **_BY},
    "prefer": {"autonomy": str, "risk": str, **_BY},
    "tool": {"call": Call, "letter": Any},
    "tell": {"text": str, **_BY},
    "stop": {"why": str, **_BY},
    "stop_with": {"around": str},
    "stop_for": {"run": str, "key": str},
    "tried": {"command": str, "about": str, "address": str, **_BY},
    "notified": {"need": int, "to": str, "problem": str},
    "resume": _BY,
    "pause": {},
    "rewind": {"to": str, "seq": int, "state": str, "crossed": tuple[str, ...], **_BY},
    "take": {"hands": ev.Performer, "held_by": str, **_BY},
    "release": _BY,
    "release_import": {
        "source": TreeSource | None,
        "tree": Tree | None,
        "workspace": str,
        "pass_env": tuple[str, ...],
        "agents": AgentPolicy,
        "admission": ev.Admission | None,
        **_BY,
    },
    "child_ended": {"child": str},
    "time_came": {"key": str, "due": float},
}
"""The fields of each kind of message, all of which are required, with their types."""


def encode_message(redactor: Redactor, kind: str, /, **fields: object) -> bytes:
    """Build a message for a run's inbox, without secrets; refuses one that its reader could not understand."""
    shape = _SHAPES[kind]
    if fields.keys() != shape.keys():
        raise UsageError(f"a message '{kind}' has the fields {', '.join(shape) or 'nothing'}, not {', '.join(fields)}")
    for name, value in fields.items():
        # A prompt may become an argument of a program, which cannot contain this character.
        require_recordable(f"'{name}' of the message '{kind}'", value, forbidden="\0")
    payload = json.dumps({"kind": kind, **fields}).encode()
    if len(payload) > MAX_BYTES:
        hint = "put it in a file in the worktree, and send the path"
        raise UsageError(f"the message '{kind}' has {len(payload)} bytes, the maximum is {MAX_BYTES}", next_step=hint)
    data = json.loads(payload)
    for name, wanted in shape.items():
        try:
            decode(wanted, data[name])
        except (CodecError, TypeError) as error:
            raise UsageError(f"'{name}' of the message '{kind}' is not valid: {error}") from error
    return redactor.data(payload)


def require_recordable(what: str, value: object, forbidden: str = "") -> None:
    """Refuse a value that could not be read back, or a text with a forbidden character in it."""
    why = unrecordable(value, forbidden)
    if why:
        raise UsageError(f"{what} cannot be recorded: it contains {why}", next_step=GIVE_PLAIN)


@frozen
class RunMessage:
    """A message to the agents of another run; sent again, it counts once."""

    run: str
    key: str
    text: str
    by: str


class InboxEffects(NamedTuple):
    """What messages cause, and which of them were consumed."""

    events: tuple[ev.Event, ...]
    state: RunState
    consumed: tuple[int, ...] = ()
    given_up: tuple[Pending, ...] = ()
    begins: tuple[ev.RunStarted, ...] = ()
    """Runs that the messages create."""
    letters: tuple[RunMessage, ...] = ()
    """Messages to other runs that they cause."""


ATTENDED = "attended:"
"""The prefix of the lease by which a process attends to a run and to all runs that come from it."""


def attendant_of(log: Log, root: str) -> Holder | None:
    """Return the process that attends to a run and to all runs that come from it: the background driver skips them."""
    return log.holder(f"{ATTENDED}{root}")


@dataclass(slots=True)
class RunClaim:
    """The claim of a process to drive a run itself, or to decide who does: no background driver takes it meanwhile.

    It has two parts. Attending to a run holds off the background driver as long as this process lives, even while the
    run waits. The lease of a new run is taken before its first event, and passed on to whoever drives it here.
    """

    log: Log
    name: str
    _attends: Lease | None = None
    _first: Lease | None = None

    def attend(self, root: str) -> bool:
        """Attend to a run; False where another process does."""
        if self._attends is None or self._attends.stream != f"{ATTENDED}{root}":
            self.free()
            found = self.log.acquire(f"{ATTENDED}{root}", self.name)
            self._attends = None if isinstance(found, Holder) else found
        return self._attends is not None

    def begin(self, run: str) -> tuple[Lease, ...] | None:
        """Attend to a run that does not exist yet, and take its lease; None where another process has either."""
        if self._first is not None and self._first.stream == run:
            return (self._first,)
        if not self.attend(run):
            return None
        found = self.log.acquire(run, self.name)
        if isinstance(found, Holder):
            self.free()
            return None
        self._first = found
        return (found,)

    def pass_on(self) -> Lease | None:
        """Return the lease of the new run for whoever drives it here and then releases it."""
        lease, self._first = self._first, None
        return lease

    def free(self) -> None:
        """Release the run for whoever takes it."""
        for lease in (self._first, self._attends):
            if lease is not None:
                with contextlib.suppress(StorageFault):
                    self.log.release(lease)
        self._first = self._attends = None


@frozen
class RunWriter:
    """A log, and a redactor that removes the secrets of the writer's environment from everything written to it."""

    log: Log
    redactor: Redactor
    environments: RunEnvironments | None = None
    """Knows the secrets of the runs that are written to, which are removed from messages as well."""

    def begin(self, run: str, first: Event, *later: Event, leases: tuple[Lease, ...] = ()) -> None:
        """Create a run; a `VersionConflict` means that the name is taken."""
        self.log.append([build_first_append(self.log, self.redactor, run, first, *later)], list(leases))

    def send(self, run: str, key: str, kind: str, /, **fields: object) -> bool:
        """Put a message into the inbox of a run; False when the run was ever sent one with this key."""
        return self.log.send(run, key, encode_message(self.redactor_for(run), kind, **fields))

    def redactor_for(self, run: str) -> Redactor:
        """Return a redactor for the secrets of the writer and those of a run."""
        if self.environments is None:
            return self.redactor
        return self.redactor.merge(self.environments.environment_of(run).redactor)
