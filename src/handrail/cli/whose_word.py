"""Decides who may call a command: commands for people are refused to agents, recorded, and reported to the person."""

from collections.abc import Mapping
from typing import Any

from handrail.cli.command_table import ACTS_WITH, CHILD_COMMANDS, ONLY_LOOKS, PERSON_COMMANDS

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
    from handrail.operations.runs import person_only

    about = next((str(given[name]) for name in NAMED if given.get(name)), "")
    why = PERSON_COMMANDS.get(command) or CHILD_COMMANDS[command]
    asked = person_only.PersonCommand(command, why, about, for_children=command in CHILD_COMMANDS)
    with open_existing_session() as session:
        person_only.require_person(None if session is None else session.writer, actor, asked)
