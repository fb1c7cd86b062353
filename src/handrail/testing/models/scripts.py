"""What a scripted model does: vendor-neutral actions, and the choice of the next one.

A prompt names its script as `[[s:NAME]]`, and the number of answers after that prompt selects the next action. So the
server needs no state, agents may run concurrently, and their side requests (titles, suggestions) disturb nothing.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol, TypeAlias, cast

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

Data: TypeAlias = dict[str, JsonValue]
_MARK = re.compile(r"\[\[s:([\w.-]+)\]\]")


@frozen
class Say:
    """Answer with text, and end the turn."""

    text: str
    after: float = 0.0
    """Seconds before its first word."""


@frozen
class Shell:
    """Run a command with the agent's own shell tool."""

    command: str


@frozen
class Call:
    """Call a tool by the agent's name for it."""

    tool: str
    input: Data = field(default_factory=dict[str, JsonValue])


@frozen
class Mcp:
    """Call a tool of an MCP server by the name under which the agent offers it."""

    server: str
    tool: str
    input: Data = field(default_factory=dict[str, JsonValue])
    takes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names with patterns: `{{name}}` in the input is replaced with the pattern's match in the newest tool result."""


@frozen
class Structured:
    """Return the structured result in the way that the agent asks for it."""

    value: JsonValue


@frozen
class Fail:
    """Refuse the request."""

    status: int
    message: str = "the scripted model refuses"
    headers: tuple[tuple[str, str], ...] = ()


@frozen
class Hang:
    """Accept the request and never answer."""


@frozen
class Cut:
    """Begin to answer, and close the connection halfway."""

    text: str = "half a sentence that "


Action: TypeAlias = Say | Shell | Call | Mcp | Structured | Fail | Hang | Cut
Scripts: TypeAlias = Mapping[str, Sequence[Action]]


class Dialect(Protocol):
    """How one vendor's protocol encodes requests and answers."""

    def turns(self, request: Data) -> list[tuple[str, str]]:
        """Return the conversation as (`model` or `person`, text), one entry for each turn, in order."""
        ...

    def results(self, request: Data) -> list[str]:
        """Return the results of tools, in order."""
        ...

    def events(self, request: Data, action: Action) -> Iterable[bytes]:
        """Generate the stream of an answer."""
        ...

    def refusal(self, fail: Fail) -> Data:
        """Return the body of a refused request."""
        ...


def due(scripts: Scripts, turns: list[tuple[str, str]]) -> tuple[str, Action]:
    """Find the script that a conversation names last, and its next action; a plain answer where none is named."""
    for place in range(len(turns) - 1, -1, -1):
        who, text = turns[place]
        found = _MARK.findall(text) if who == "person" else []
        if found:
            steps = scripts.get(found[-1], ())
            index = sum(1 for speaker, _ in turns[place + 1 :] if speaker == "model")
            return found[-1], steps[index] if index < len(steps) else Say("done")
    return "", Say("ok")


def filled(action: Action, results: list[str]) -> Action:
    """Fill a call with values from earlier tool results; a name without a match stays as written."""
    if not isinstance(action, Mcp) or not action.takes:
        return action
    text = json.dumps(action.input)
    for name, pattern in action.takes.items():
        found = next((match for each in reversed(results) if (match := re.search(pattern, each))), None)
        if found is not None:
            value = found[1] if found.re.groups else found[0]
            text = text.replace(f"{{{{{name}}}}}", json.dumps(value)[1:-1])
    return replace(action, input=cast("Data", json.loads(text)))
