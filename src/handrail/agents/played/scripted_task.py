"""What the scripted agent's program is given for one call: a turn, and the limits of the call."""

from typing import Literal, TypedDict

from handrail.authoring.scripts.turn import Turn


class Task(TypedDict):
    """One call, as the adapter writes it for the program."""

    workspace: str
    """Where it is played, wherever the program is started: a turn may delete files and run commands."""
    session: str
    access: Literal["read", "edit", "full"]
    allowed_tools: list[str] | None
    disallowed_tools: list[str]
    server: list[str]
    """The command that serves the tools of Handrail; nothing where the step offers none."""
    own_tools: list[str]
    """Those of them that the step offers."""
    turn: Turn
