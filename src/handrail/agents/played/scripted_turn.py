"""What the scripted agent's program is given for one call: a turn in its long form, and the limits of the call."""

from typing import Literal, NotRequired, TypedDict

from handrail.model.workflow.values import JsonValue


class FileForm(TypedDict, total=False):
    """What a file becomes: one of `text`, `base64` and `link`."""

    text: str
    base64: str
    link: str
    executable: bool


class Failure(TypedDict):
    """How a turn fails."""

    status: str
    message: NotRequired[str]
    retry_after: NotRequired[float]


class ToolCall(TypedDict):
    """A tool that the agent says it uses; one of Handrail is really called."""

    name: str
    input: NotRequired[JsonValue]
    expect: NotRequired[list[str]]
    save: NotRequired[str]


class Turn(TypedDict, total=False):
    """What one call plays; what may be written in several ways has its longest form here."""

    say: str
    files: dict[str, FileForm | None]
    run: list[str]
    background: list[str]
    output: JsonValue
    usage: dict[str, float]
    delay: float
    fail: Failure
    ask: str
    call_tool: list[ToolCall]
    expect_prompt: list[str]
    repeat: bool


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
