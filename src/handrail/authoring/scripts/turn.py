"""What the scripted agent does in one call: a turn of a script, in its long form."""

from typing import NotRequired, TypedDict

from handrail.model.workflow.values import JsonValue


class FileForm(TypedDict, total=False):
    """The new content of a file: one of `text`, `base64` and `link`."""

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
    """A tool that the agent claims to use; one of Handrail's is really called."""

    name: str
    input: NotRequired[JsonValue]
    expect: NotRequired[list[str]]
    save: NotRequired[str]


class Turn(TypedDict, total=False):
    """What happens in one call; where there are several notations, this is the longest."""

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
