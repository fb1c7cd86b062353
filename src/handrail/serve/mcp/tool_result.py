"""What a tool returns, independent of the protocol: texts for the agent, and the same as data."""

from dataclasses import field
from typing import Any

from handrail.frozen import frozen


@frozen
class Question:
    """What a person is asked, if the run waits for that."""

    run: str
    message: str
    token: str
    """Looks again at the state of the run."""


@frozen
class ToolResult:
    """The result of a call."""

    texts: tuple[str, ...]
    """The texts for the agent, each sent as a separate item."""
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    is_error: bool = False
    question: Question | None = None
    """What a client may ask its person before the agent gets its answer."""
