"""Decides who may call a command: commands for people are refused to agents, recorded, and reported to the person."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from handrail.cli.command_table import ACTS_WITH, CHILD_COMMANDS, ONLY_LOOKS, PERSON_COMMANDS
from handrail.errors import HandrailError, PersonOnly
from handrail.model.actors import Actor

if TYPE_CHECKING:
    from handrail.wiring.session import Session

NAMED = ("run", "workflow", "issue")
"""The arguments that say what a command is about."""


def require_person(command: str, given: Mapping[str, Any]) -> None:
    """Refuse a command that an agent calls in place of a person."""
    if given.get(ONLY_LOOKS.get(command, "")) or not given.get(ACTS_WITH.get(command, ""), command not in ACTS_WITH):
        return
    from handrail.wiring.session import current_actor, open_existing_session

    actor = current_actor()
    if actor.decides:
        return
    about = next((str(given[name]) for name in NAMED if given.get(name)), "")
    with open_existing_session() as session:
        if session is not None and command in CHILD_COMMANDS and _is_own_child(session, actor, about, command):
            return
        if session is not None:
            _record(session, actor, command, about)
    words = shlex.join(["handrail", *command.split(), *([about] if about else [])])
    raise PersonOnly(_message(actor, command), next_step=f"ask the person to run it in their own terminal: {words}")


def _is_own_child(session: "Session", actor: Actor, about: str, command: str) -> bool:
    """Whether an agent means a run that its own run started; even then, only a person may grant more budget."""
    from handrail.operations.views.questions import kind_of
    from handrail.operations.views.run_tree import find_acting_run, make_family_test

    if not actor.run or not about:
        return False
    found = session.find(about)
    if found == actor.run or not make_family_test(session.log, actor.run)(found):
        return False
    return command != "resume" or kind_of(session.log, find_acting_run(session.log, found).acting) != "budget"


def _record(session: "Session", actor: Actor, command: str, about: str) -> None:
    """Record the attempt in the agent's own run, or else in the run that was meant; without either it stays refused."""
    from handrail.operations.runs.refusals import RefusedCommand, record_attempt

    with suppress(HandrailError, OSError):
        record_attempt(session.writer, RefusedCommand(actor, command, about))


def _message(actor: Actor, command: str) -> str:
    run, _, step = actor.name.partition("/")
    inside = f"inside step '{step}' of {run}" if step else f"inside a command of {run}"
    where = inside if actor.kind == "agent" else f"in a shell of {actor.name}"
    why = PERSON_COMMANDS.get(command) or CHILD_COMMANDS[command]
    return f"`handrail {command}` is reserved for people ({why}), but was called {where}"
