"""Says something to the agents of a run while it runs."""

import uuid
from dataclasses import dataclass

from handrail.errors import UsageError
from handrail.model.run import RunState
from handrail.operations.families import standing
from handrail.ports.log import Log
from handrail.runtime.outside import message

LONGEST = 20_000
"""Characters of one message."""


@dataclass(frozen=True, slots=True)
class Said:
    """Who hears a message, and when."""

    run: str
    step: str
    """The step whose agent is at work; empty where none is."""
    words: str


def tell(log: Log, run: str, text: str, by: str) -> Said:
    """Leave a message for the agent that is at work in a run or in one that comes from it, else for the next one."""
    said = hearer(log, run, text)
    log.send(said.run, f"tell:{uuid.uuid4().hex}", message("tell", text=text, by=by))
    return said


def hearer(log: Log, run: str, text: str) -> Said:
    """Say who would hear a message; refuses one that nobody can be told."""
    if not text.strip():
        raise UsageError("the message is empty", next_step=f'handrail tell {run} "what you want to say"')
    if len(text) > LONGEST:
        hint = "put it into a file of the work tree, and tell the agent where it is"
        raise UsageError(f"the message has {len(text)} characters, more than {LONGEST}", next_step=hint)
    acting = standing(log, run).acting
    if acting.status in ("succeeded", "cancelled"):
        raise UsageError(
            f"{run} is over already ({acting.status})", next_step=f"handrail rewind {run} STEP, or fork it"
        )
    if acting.reason == "question":
        raise UsageError(f"{acting.run} asks a question", next_step=f'handrail answer {acting.run} "..."')
    return _said(acting)


def _said(state: RunState) -> Said:
    pending = state.pending
    if state.status == "running" and pending is not None and pending.action == "agent" and pending.kind == "step":
        return Said(state.run, pending.address, f"'{pending.address}' is told when its agent has ended its answer")
    if state.status in ("running", "queued"):
        return Said(state.run, "", "the next agent is told")
    return Said(state.run, "", "the next agent is told, once the run goes on")
