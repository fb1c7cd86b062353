"""The input of the scripted agent's program for one call: a turn, and the limits of the call."""

from typing import Literal, TypedDict

from handrail.authoring.scripts.turn import Turn


class Task(TypedDict):
    """One call, as the adapter describes it to the program."""

    workspace: str
    """Where it is played, wherever the program is started: a turn may delete files and run commands."""
    session: str
    access: Literal["read", "edit", "full"]
    allowed_tools: list[str] | None
    disallowed_tools: list[str]
    quiet: list[str]
    """The tools of trackers that `no_comment` denies, without the names of their servers."""
    server: list[str]
    """The command that serves Handrail's tools; empty where the step offers none."""
    own_tools: list[str]
    """The tools that the step offers."""
    turn: Turn
