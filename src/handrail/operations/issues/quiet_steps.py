"""Keeps agents whose step has `no_comment` from writing to the tracker with the commands of Handrail."""

from handrail.errors import NotFound, PersonOnly
from handrail.model.actors import Actor
from handrail.model.history.events import StepBegan
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of


def refuse_quiet_step(log: Log, actor: Actor) -> None:
    """Raise an error if somebody is the agent of a step that writes nothing to the tracker."""
    if not actor.run:
        return
    try:
        pending = state_of(log, actor.run).pending
    except NotFound:
        return
    began = None if pending is None else decode_event(log.read(actor.run, pending.seq - 1, 1)[0])
    if isinstance(began, StepBegan) and began.spec.get("no_comment"):
        message = f"step '{began.address}' of {actor.run} writes nothing to the tracker (`no_comment`)"
        raise PersonOnly(message, next_step="state in your answer what should be known: Handrail posts the result")
