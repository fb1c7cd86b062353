"""Records that an agent called a command that is for people."""

import time
from contextlib import suppress

from handrail.engine.fold.apply import apply
from handrail.engine.fold.runs import MAX_TRIED
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.actors import Actor
from handrail.model.history.events import CommandRefused
from handrail.model.history.run_state import RunState
from handrail.operations.runs.lifecycle import find
from handrail.ports.log import Append, Holder, Log
from handrail.runtime.event_records import encode_event, redact_event
from handrail.runtime.history import state_of
from handrail.runtime.run_summary import summary_of
from handrail.runtime.run_writer import RunWriter

MAX_ABOUT = 200
"""The number of characters of an agent's argument that are stored."""


@frozen
class RefusedCommand:
    """A command that was refused."""

    actor: Actor
    command: str
    about: str = ""
    """The run or the workflow that it named."""

    @property
    def words(self) -> str:
        """The command as it is stored."""
        return " ".join(part for part in (self.command, self.about[:MAX_ABOUT]) if part)


def record_attempt(writer: RunWriter, attempt: RefusedCommand) -> str:
    """Record an attempt in the run of the agent, or else in the run that it named; return that run, or nothing.

    The same attempt is recorded once, and a run records only a limited number.
    """
    state = _run_for(writer.log, attempt)
    if state is None:
        return ""
    known = any((by, words) == (str(attempt.actor), attempt.words) for _, _, by, words in state.tried)
    if not known and len(state.tried) < MAX_TRIED:
        _note(writer, state, attempt)
    return state.run


def _run_for(log: Log, attempt: RefusedCommand) -> RunState | None:
    for words in filter(None, (attempt.actor.run, attempt.about)):
        with suppress(UsageError):
            return state_of(log, find(log, words))
    return None


def _note(writer: RunWriter, state: RunState, attempt: RefusedCommand) -> None:
    log, run, address = writer.log, state.run, attempt.actor.name.partition("/")[2]
    about, by = attempt.about[:MAX_ABOUT], str(attempt.actor)
    lease = log.acquire(run, "handrail")
    if isinstance(lease, Holder):
        key = f"tried:{by}:{attempt.words}"
        writer.send(run, key, "tried", command=attempt.command, about=about, address=address, by=by)
        return
    try:
        refused = CommandRefused(command=attempt.command, about=about, address=address, by=by, at=time.time())
        event = redact_event(refused, writer.redactor_for(run))
        state = state_of(log, run)
        after = apply(state, event, state.seq + 1, log.get_blob)
        log.append([Append(run, state.seq, (encode_event(event),), summary=summary_of(after))], [lease])
    finally:
        log.release(lease)
