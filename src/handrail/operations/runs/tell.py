"""Sends a message to the agents of a run while it runs."""

import uuid

from handrail.engine.prompts.person_messages import hears
from handrail.errors import NotFound, UsageError
from handrail.frozen import frozen
from handrail.model.actors import actor_words, is_agents
from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import Pending, RunState
from handrail.operations.views.inner_steps import suggest_way_back
from handrail.operations.views.run_tree import find_acting_run
from handrail.ports.agents import AgentCatalog
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.agents.live_messages import can_listen
from handrail.runtime.run_writer import RunWriter

MAX_LENGTH = 20_000
"""The maximum number of characters of one message."""


@frozen
class MessageReceipt:
    """Who gets a message, and when."""

    run: str
    step: str
    """The step whose agent is at work; empty if none is."""
    words: str


def tell(writer: RunWriter, run: str, text: str, by: str, catalog: AgentCatalog) -> MessageReceipt:
    """Leave a message for the agent at work in a run or one of its child runs, or else for the next one."""
    said = find_recipient(writer.log, run, text, catalog)
    # An agent takes a message for that of a person, unless the message says otherwise.
    told = f"(from {actor_words(by)}) {text}" if is_agents(by) else text
    writer.send(said.run, f"tell:{uuid.uuid4().hex}", "tell", text=told, by=by)
    return said


def find_recipient(log: Log, run: str, text: str, catalog: AgentCatalog) -> MessageReceipt:
    """Find out who would get a message; refuse one that nobody can get."""
    if not text.strip():
        raise UsageError("the message is empty", next_step=f'handrail tell {run} "what you want to say"')
    if len(text) > MAX_LENGTH:
        hint = "put it into a file in the worktree, and tell the agent where it is"
        raise UsageError(f"the message has {len(text)} characters, more than {MAX_LENGTH}", next_step=hint)
    acting = find_acting_run(log, run).acting
    if acting.status in ("succeeded", "cancelled"):
        raise UsageError(f"{run} has already ended ({acting.status})", next_step=suggest_way_back(acting))
    if acting.reason == "question":
        raise UsageError(f"{acting.run} is waiting for an answer", next_step=f'handrail answer {acting.run} "..."')
    return _describe_delivery(log, acting, catalog)


def _describe_delivery(log: Log, state: RunState, catalog: AgentCatalog) -> MessageReceipt:
    pending = state.pending
    at_work = state.status == "running" and pending is not None and pending.action == "agent" and pending.kind == "step"
    if pending is not None and at_work and hears(state, pending.address):
        listening = _is_listening(log, state, pending, catalog)
        when = "while it works" if listening else "when it has finished its answer"
        return MessageReceipt(state.run, pending.address, f"the agent of '{pending.address}' gets the message {when}")
    if state.status in ("running", "queued"):
        return MessageReceipt(state.run, "", "the next agent gets the message")
    return MessageReceipt(state.run, "", "the next agent gets the message once the run continues")


def _is_listening(log: Log, state: RunState, pending: Pending, catalog: AgentCatalog) -> bool:
    """Whether the agent of a call accepts messages in the middle of it."""
    (began,) = (decode_event(each) for each in log.read(state.run, pending.seq - 1, 1))
    if not isinstance(began, StepBegan) or not began.spec.get("agent"):
        return False
    try:
        return can_listen(state, pending, began, catalog.find(str(began.spec["agent"])))
    except NotFound:
        return False
