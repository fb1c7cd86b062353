"""Recorded and generated output of agents, and the ways in which their processes end."""

import json
from collections.abc import Iterable, Sequence
from typing import cast

from hypothesis import strategies as st

from handrail.frozen import frozen
from handrail.ports.agents import Agent, AgentOutcome
from handrail.ports.processes import Ended, Gone

ENDINGS: tuple[Ended | Gone, ...] = (
    *(Ended(code) for code in (0, 1, 2, 41, 52, 53, 54, 124, 126, 127, 130, 137, 143, 255)),
    *(Ended(None, signal) for signal in (1, 2, 6, 9, 11, 13, 15)),
    Ended(0, incomplete=True),
    Gone(),
)
"""Every way in which a process may end."""


@frozen
class Stream:
    """The output of an agent in one call."""

    name: str
    lines: Sequence[bytes]


def outcome(agent: Agent, lines: Iterable[bytes], ended: Ended | Gone = ENDINGS[0]) -> AgentOutcome:
    """Read lines with a new reader and return the outcome of the call."""
    reader = agent.lines()
    for line in lines:
        reader.feed(line)
    return reader.outcome(ended)


_JSON: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_REST: st.SearchStrategy[dict[str, object]] = st.dictionaries(st.text(max_size=8), _JSON, max_size=4)


def junk() -> st.SearchStrategy[bytes]:
    """Generate lines that are not events of any agent: bytes, broken text, other JSON, unknown events."""
    events = st.builds(_unknown, st.text(max_size=10), _REST)
    return st.binary(max_size=60) | st.text(max_size=40).map(_encode_utf16) | _JSON.map(_dump) | events


@frozen
class LineDamage:
    """A change to a recorded line, independent of the agent that printed it."""

    line: int
    at: int
    put: bytes
    value: object
    retypes: bool

    def done_to(self, streams: Sequence[Stream]) -> bytes:
        """Return a line that is cut, has changed bytes, or contains a value of the wrong type."""
        lines = [line for stream in streams for line in stream.lines if line] or [b"{}"]
        line = lines[self.line % len(lines)]
        event = _event(line) if self.retypes else None
        return _spoil(line, self.at, self.put) if event is None else _retype(event, self.at, self.value)


def harmed(streams: Sequence[Stream], told: Iterable[bytes | LineDamage]) -> list[bytes]:
    """Convert drawn examples to lines; drawing does not depend on the agent, so all agents get the same examples."""
    return [each.done_to(streams) if isinstance(each, LineDamage) else each for each in told]


def harms() -> st.SearchStrategy[list[bytes | LineDamage]]:
    """Generate lines that are not events of any agent, mixed with changes to recorded ones."""
    harm = st.builds(
        LineDamage, st.integers(0, 500), st.integers(0, 5000), st.binary(min_size=1, max_size=3), _JSON, st.booleans()
    )
    return st.lists(harm | junk(), max_size=6)


def _unknown(kind: str, rest: dict[str, object]) -> bytes:
    return _dump({**rest, "type": f"x-{kind}"})


def _encode_utf16(text: str) -> bytes:
    return text.encode("utf-16", errors="replace")


def _dump(value: object) -> bytes:
    return json.dumps(value).encode()


def _event(line: bytes) -> dict[str, object] | None:
    try:
        found = cast("object", json.loads(line))
    except ValueError:
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def _spoil(line: bytes, at: int, put: bytes) -> bytes:
    place = at % len(line)
    return line[:place] if at % 2 else line[:place] + put + line[place + 1 :]


def _retype(event: dict[str, object], at: int, value: object) -> bytes:
    names = [name for name in event if name != "type"]
    return _dump({**event, names[at % len(names)]: value} if names else event)
