"""Hands a run that the engine drives to a connected agent, whatever the engine is doing."""

from handrail.frozen import frozen
from handrail.operations.pull.call_context import CallContext, holder_name, new_name
from handrail.operations.pull.pending_step import waits_for_holder
from handrail.operations.runs.lifecycle import take
from handrail.runtime.history import state_of
from handrail.runtime.run_writer import RunWriter


@frozen
class Handover:
    """A run on its way to a connected agent."""

    run: str
    continue_token: str
    step: str
    """The step that waits for the agent; empty while the engine has something to do first."""
    over: bool
    """Whether the agent holds the run already; if not, it will when the engine's own step is done."""


def hand_to_agent(writer: RunWriter, run: str, asked_by: str = "") -> str:
    """Request a run for an agent that will get its token; return the name of that holder."""
    holder = new_name()
    take(writer, run, holder_name(holder), asked_by)
    return holder


def handover(ctx: CallContext, run: str, holder: str) -> Handover:
    """Build the token with which an agent continues a run that was requested."""
    state = state_of(ctx.log, run)
    waits = waits_for_holder(state) and state.held_by == holder_name(holder)
    pending = state.pending if waits else None
    seq, step = (0, "") if pending is None else (pending.seq, pending.address)
    return Handover(run, ctx.mint("continue", run, seq, holder), step, over=state.held_by == holder_name(holder))
