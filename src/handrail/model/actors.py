"""Who did something: one typed form, `KIND:NAME`, in events, messages, views and JSON.

    person:ann            somebody at the command line
    agent:fix-1/reproduce the agent or the command of a step
    connected:1f09c2aa    an agent that is connected over MCP, or in whose shell a command was called
    github:ann            somebody on GitHub
    linear:a1b2           somebody on Linear
    token:ci              whoever has a token of this name

An empty text stands for Handrail itself. Names are sanitized when an actor is created, so that none can look like
another kind or write to a terminal. Version 1 of the events has plain words instead; `lift_words` reads those.
"""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias, cast

from handrail.frozen import frozen

ActorKind: TypeAlias = Literal["person", "agent", "connected", "github", "linear", "token"]
WORDS: Mapping[ActorKind, str] = {
    "person": "{}",
    "agent": "the agent of {}",
    "connected": "connected agent {}",
    "github": "{} on GitHub",
    "linear": "{} on Linear",
    "token": "the holder of token {}",
}
"""Every kind, with how it is shown to people."""
DECIDES: frozenset[ActorKind] = frozenset({"person", "github", "linear", "token"})
"""The kinds that may decide for a person; a token is given to a program by a person."""
NOBODY = "somebody"
MAX_LENGTH = 200
"""The most characters of a name."""


@frozen
class Actor:
    """Who did something."""

    kind: ActorKind
    name: str
    """For an agent `RUN/STEP`, or `RUN` alone if the step is not known."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def run(self) -> str:
        """The run that an agent belongs to; empty for all others."""
        return self.name.partition("/")[0] if self.kind == "agent" else ""

    @property
    def decides(self) -> bool:
        """Whether it may decide for a person."""
        return self.kind in DECIDES

    @property
    def words(self) -> str:
        """How it is shown to people: `ann`, `the agent of fix-1, step reproduce`."""
        run, _, step = self.name.partition("/")
        name = (f"{run}, step {step}" if step else run) if self.kind == "agent" else self.name
        return WORDS[self.kind].format(name)


def make_person(name: str) -> Actor:
    """Create the actor of a person, whatever the person's name."""
    return Actor("person", _clean(name))


def make_agent(run: str, step: str = "") -> Actor:
    """Create the actor of the agent, or the command, of a step."""
    # The address of a step may contain slashes, and the keys of items anything.
    address = "".join(each if each.isprintable() else "_" for each in step)[:MAX_LENGTH]
    return Actor("agent", f"{_clean(run)}/{address}" if address else _clean(run))


def make_connected(client: str) -> Actor:
    """Create the actor of a connected agent."""
    return Actor("connected", _clean(client))


def parse_actor(text: str) -> Actor:
    """Parse the typed form; a `ValueError` says what is wrong with it."""
    kind, colon, name = text.partition(":")
    if not colon or kind not in WORDS:
        raise ValueError(f"'{text[:MAX_LENGTH]}' does not start with one of {', '.join(f'{each}:' for each in WORDS)}")
    whole = name if kind != "agent" else name.partition("/")[0]
    if not whole or _clean(whole) != whole or not name.isprintable():
        raise ValueError(f"'{text[:MAX_LENGTH]}' has no name, or one with characters that are not allowed in names")
    return Actor(cast("ActorKind", kind), name)


def is_agents(by: object) -> bool:
    """Whether the field of a message or an event names an agent, and so nobody who may decide for a person."""
    kind = by.partition(":")[0] if isinstance(by, str) else ""
    return kind in WORDS and kind not in DECIDES


def actor_words(by: str) -> str:
    """Describe who did something, for people; `by` is the field of an event."""
    if not by:
        return NOBODY
    try:
        return parse_actor(by).words
    except ValueError:
        return _clean(by)


def type_actor(text: str) -> str:
    """Return the typed form of an actor in a message: as it is if it is typed, else a person of this name."""
    try:
        return str(parse_actor(text)) if text else ""
    except ValueError:
        return str(make_person(text))


_CONNECTED = re.compile(r"(?:a )?connected agent(?: (?P<name>[0-9a-f]+))?\Z")
_ITSELF = re.compile(r"the configuration\Z|who set it for |handrail ")
_RUN = re.compile(r"[A-Za-z][\w.-]*-r?[0-9a-f]+(\.[0-9]+)*\Z", re.ASCII)


def lift_words(words: str, *, may_be_run: bool = False) -> str:
    """Convert what version 1 of the events has in its place to the typed form."""
    if not words or _ITSELF.match(words) or (may_be_run and _RUN.match(words)):
        return ""
    if found := _CONNECTED.match(words):
        return str(make_connected(found["name"] or "mcp"))
    if words.startswith("the agent of "):
        return str(make_agent(words.removeprefix("the agent of ")))
    return str(make_person(words.removeprefix("import (").removesuffix(")") if words.startswith("import (") else words))


def _clean(name: str) -> str:
    """Remove from a name what could be read as another kind, or affect a terminal."""
    kept = "".join(each if each.isprintable() and each not in ":/" else "_" for each in name.strip())
    return kept[:MAX_LENGTH].strip() or NOBODY
