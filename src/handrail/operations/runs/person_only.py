"""Refuses to agents what is reserved for people: the attempt is recorded, and shown to the person."""

import shlex
from contextlib import suppress

from handrail.errors import HandrailError, PersonOnly
from handrail.frozen import frozen
from handrail.model.actors import Actor
from handrail.operations.runs.lifecycle import find
from handrail.operations.runs.refusals import RefusedCommand, record_attempt
from handrail.operations.views.questions import kind_of
from handrail.operations.views.run_tree import find_acting_run, make_family_test
from handrail.ports.log import Log
from handrail.runtime.run_writer import RunWriter


@frozen
class PersonCommand:
    """A command that acts for a person, and what it is about."""

    command: str
    why: str
    """Why it is reserved for people."""
    about: str = ""
    """The run, the workflow or the issue that it names."""
    for_children: bool = False
    """Whether an agent may call it for the runs that its own run started."""


def require_person(writer: RunWriter | None, actor: Actor, asked: PersonCommand) -> None:
    """Refuse a command that an agent calls in place of a person; without a log there is nothing to record."""
    if actor.decides:
        return
    if writer is not None:
        if asked.for_children and _is_own_child(writer.log, actor, asked):
            return
        with suppress(HandrailError, OSError):
            record_attempt(writer, RefusedCommand(actor, asked.command, asked.about))
    words = shlex.join(["handrail", *asked.command.split(), *([asked.about] if asked.about else [])])
    raise PersonOnly(_message(actor, asked), next_step=f"ask the person to run it in their own terminal: {words}")


def _is_own_child(log: Log, actor: Actor, asked: PersonCommand) -> bool:
    """Whether an agent means a run that its own run started; even then, only a person may grant more budget."""
    if not actor.run or not asked.about:
        return False
    found = find(log, asked.about)
    if found == actor.run or not make_family_test(log, actor.run)(found):
        return False
    return asked.command != "resume" or kind_of(log, find_acting_run(log, found).acting) != "budget"


def _message(actor: Actor, asked: PersonCommand) -> str:
    run, _, step = actor.name.partition("/")
    inside = f"inside step '{step}' of {run}" if step else f"inside a command of {run}"
    where = inside if actor.kind == "agent" else f"in a shell of {actor.name}"
    return f"`handrail {asked.command}` is reserved for people ({asked.why}), but was called {where}"
