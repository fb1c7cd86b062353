"""Steps inside an item or a called workflow belong to another run: finds which one, and what to do there instead."""

import shlex
from typing import Literal

from handrail.errors import NotFound, UsageError
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.operations.views.step_addresses import find_member, find_steps
from handrail.ports.log import Log
from handrail.runtime.history import state_of


@frozen
class InnerStep:
    """A step of a run that another run started, or that run as a whole."""

    run: str
    address: str
    """Its address there; empty for the run as a whole."""


def find_inner_step(log: Log, run: str, words: str) -> InnerStep | None:
    """Find what an address means in the runs that a run started."""
    member = find_member(log, run, words)
    if member is not None:
        return InnerStep(member, "")
    try:
        found = find_steps(log, run, words)[-1]
    except NotFound:
        return None
    if found.run == run:
        return None
    return InnerStep(found.run, f"{found.address}@{found.nth}" if found.nth is not None else found.address)


def refusal(log: Log, run: str, words: str, command: Literal["rewind", "fork"]) -> UsageError | None:
    """Build the error for a step that belongs to another run, with the command that does what was intended."""
    inner = find_inner_step(log, run, words)
    if inner is None:
        return None
    message = f"'{words}' belongs to {inner.run}, which {run} started"
    if command == "rewind" and state_of(log, inner.run).status in ("succeeded", "failed", "cancelled"):
        return UsageError(
            f"{message} and whose result it has already used", next_step=_suggest_outer_command(log, run, words, inner)
        )
    step = f" {shlex.quote(inner.address)}" if inner.address else " STEP" if command == "rewind" else ""
    return UsageError(message, next_step=f"handrail {command} {inner.run}{step}")


def suggest_way_back(state: RunState) -> str:
    """Return the command that continues the work of an ended run: back to its last step, or in a fork."""
    run, last = state.run, _last_step(state)
    # A run that was stopped for good does not go back, and one that began no step has nowhere to go back to.
    if last and state.status != "cancelled":
        return f"handrail rewind {run}{last}, or handrail fork {run}{last}"
    return f"handrail fork {run}{last}"


def suggest_copy(state: RunState) -> str:
    """Return the command that continues the work of an imported run that has ended."""
    return f"handrail fork {state.run}{_last_step(state)}, then release the copy"


def _last_step(state: RunState) -> str:
    """Return the last step that a run itself began, as it is typed after the run's name; empty if there is none."""
    own = [(step.began, address) for address, step in state.steps.items() if not set("/[@#") & set(address)]
    return f" {shlex.quote(max(own)[1])}" if own else ""


def _suggest_outer_command(log: Log, run: str, words: str, inner: InnerStep) -> str:
    """Return the command that repeats an ended inner run: its step in the run around it starts over."""
    if state_of(log, inner.run).status == "failed" and state_of(log, run).status in ("blocked", "failed"):
        return f"handrail resume {run}, which starts over what failed"
    outer = words.partition("[")[0] if "[" in words else words.partition("/")[0]
    return f"handrail rewind {run} {shlex.quote(outer)}, which starts all of it over"
