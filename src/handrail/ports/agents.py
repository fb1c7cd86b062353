"""An agent as the engine sees it: a program that is given a task and leaves lines, from which an outcome is read."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.history.prices import PriceList
from handrail.model.history.spending import CallStatus
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.settings import Access
from handrail.model.workflow.values import JsonValue
from handrail.ports.agent_definitions import Defined
from handrail.ports.agent_profiles import AgentProfile, ConnectedClient, ProjectFiles
from handrail.ports.processes import Ended, Gone

OutcomeStatus: TypeAlias = CallStatus
"""How a call of an agent ended."""


@frozen
class ToolServer:
    """The tools of Handrail that a call may use: an MCP server that the agent starts by itself, over stdio."""

    command: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    """What the server itself needs, whatever environment the agent gives it."""
    tools: tuple[str, ...]


ProjectTrust: TypeAlias = Literal["absent", "trusted", "untrusted"]


@frozen
class Project:
    """The repository around the folder in which an agent works."""

    folders: tuple[str, ...] = ()
    """The working folder and each one above it up to the root of the repository, links resolved."""
    checkout: str = ""
    """The main checkout, where the folder belongs to a linked worktree."""
    files: ProjectTrust = "absent"
    """Whether there are files in it that configure the agent, and whether the user has trusted all of them."""

    @property
    def root(self) -> str:
        """The root of the repository."""
        return self.folders[-1]


@frozen(kw_only=True)
class AgentCall:
    """One call of an agent, with everything that shapes it."""

    run: str
    address: str
    """The step, as people write it: `reproduce`, `review@2/reviewer`, `build[auth]/implement`."""
    turn: int
    """Which call of this step in this run it is, from 1; a call that is begun again after a crash keeps its number."""
    prompt: str
    workspace: str
    """The folder in which the agent works."""
    model: str | None = None
    access: Access = "edit"
    system_prompt: str | None = None
    session: str | None = None
    """The conversation that goes on; None begins a new one."""
    single_turn: bool = False
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    schema: JsonValue = None
    """JSON Schema of the result that is asked for."""
    options: dict[str, str] = field(default_factory=dict[str, str])
    """What the run says about its agent: for the scripted one `script`, the path of its script."""
    turn_in_round: int = 1
    """The same as `turn`, counted for this very address alone, and so anew in each round."""
    server: ToolServer | None = None
    """The tools of Handrail that it is offered."""
    listens: bool = False
    """Its input stays open for what a person says meanwhile; asked of agents that can (`Listening`) alone."""
    project: Project = Project()
    """Looked at for agents that a repository can configure (`Configurable`) alone."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that it gets; where there is no PATH among them, that of this process counts."""

    @property
    def path(self) -> str | None:
        """Where its program is looked for."""
        return self.environ.get("PATH")


@frozen
class Launch:
    """How to start an agent: arguments, the variables it needs beside the environment of every command, its input."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    stdin: bytes = b""
    """Held by the machine, so that the agent outlives whoever started it."""
    until: str = ""
    """Of a call that listens: what it prints when it is done, upon which its input is closed."""
    apart: float = 0.0
    """Seconds until another one is started beside it, where some that start together get in each other's way."""


@frozen
class Usage:
    """What a call took."""

    input_tokens: int = 0
    """Without those that came from a cache."""
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All of them."""
        return sum(self.parts)

    @property
    def parts(self) -> tuple[int, int, int]:
        """Each kind of them, in the order in which they stand here."""
        return self.input_tokens, self.output_tokens, self.cached_tokens

    def beyond(self, before: "Usage") -> "Usage":
        """Give what was added since a count of the same conversation; one that began anew is all of it."""
        if self.tokens < before.tokens:
            return self
        return Usage(*(max(0, now - then) for now, then in zip(self.parts, before.parts, strict=True)))


@frozen(kw_only=True)
class AgentOutcome:
    """How a call ended."""

    status: OutcomeStatus
    text: str = ""
    """The agent's last words."""
    output: JsonValue = None
    """The structured result, where there is one."""
    has_output: bool = False
    session: str | None = None
    usage: Usage = Usage()
    """What this call took."""
    total: Usage | None = None
    """What the whole conversation took so far, from an agent that counts so: the call took what that grew by."""
    cost: float | None = None
    """In US dollars; None where the agent does not tell."""
    message: str = ""
    """What went wrong, in words for a person."""
    retry_after: float | None = None
    """Seconds until it is worth another try."""
    question: str = ""
    """What the agent asks a person; it goes on in the same conversation with the answer."""
    heard: tuple[str, ...] = ()
    """The marks of what it took up that was said to it in the middle of the call."""
    drift: str = ""
    """Of a call that is played from a cassette: where its prompt is not the recorded one."""


@frozen
class Abilities:
    """What an agent can be held to."""

    access: frozenset[Access] = frozenset({"read", "edit", "full"})
    """The levels that it is really kept to."""
    tools: bool = False
    """Single tools can be allowed and denied."""
    single_turn: bool = False
    schema: bool = False
    """It checks a result's shape itself; without it the result is checked afterwards, and asked for again."""
    resume: bool = False
    """A conversation can go on."""
    system_prompt: bool = False
    """Without it the system prompt stands before the prompt."""
    model: bool = True
    cost: bool = False
    """It tells what it cost; without it the cost is estimated from tokens."""
    follow_up: bool = False
    """It takes what a person says in the middle of a call; without it that waits for the next call."""
    mcp: bool = False
    """It takes an MCP server for a single call, and so can be given tools of Handrail."""
    streams: bool = True
    """It tells what it does while it does it; without it only a step that asks for that is ended for its silence."""
    without_project_files: bool = False
    """It can be started so that files of the repository configure nothing; without it they have to be trusted."""


@frozen
class SoFar:
    """What the lines of a call show while it runs."""

    usage: Usage = Usage()
    """What the call has taken; nothing from an agent that tells that at its end alone."""
    cost: float | None = None
    model: str = ""
    """The model that answers, where the lines name it."""
    at_work: bool = False
    """Whether a tool that it started is running: its silence means nothing then."""


class Lines(Protocol):
    """Reads what an agent prints, line by line."""

    def feed(self, line: bytes) -> str:
        """Take one line; give what to show of it on the screen, or nothing."""
        ...

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Say how the call ended, from the lines first and from the exit status then."""
        ...


@runtime_checkable
class Telling(Protocol):
    """Lines that show in the middle of a call what it has taken and whether a tool runs; a reader need not be one."""

    def so_far(self) -> SoFar:
        """Give what the lines so far show."""
        ...


EntryKind: TypeAlias = Literal["said", "thought", "tool_call", "tool_result", "notice", "printed"]
"""What an entry of a transcript is; `printed` where nobody knows how to tell."""


class Part(NamedTuple):
    """Something that a line shows: what it is, and its text."""

    kind: EntryKind
    text: str


class TranscriptReader(Protocol):
    """Sorts what an agent prints, line by line."""

    def feed(self, line: bytes) -> tuple[Part, ...]:
        """Take one line; give what it shows, in order."""
        ...


@runtime_checkable
class Transcribing(Protocol):
    """An agent whose lines can be sorted by what they are."""

    def transcript(self) -> TranscriptReader | None:
        """Give a reader for one call; None where its lines cannot be sorted."""
        ...


@runtime_checkable
class Listening(Protocol):
    """An agent that takes words in the middle of a call; its lines tell which of them it took up."""

    def said(self, text: str, mark: str) -> bytes:
        """Give the bytes by which it is told something, under a mark in the form of a UUID."""
        ...


@runtime_checkable
class Configurable(Protocol):
    """An agent that files of a repository configure, or make run something."""

    def project_files(self, access: Access) -> ProjectFiles:
        """Name the files that count in a call with this access."""
        ...


@runtime_checkable
class Switchable(Protocol):
    """An agent that gets variables of further vendors where one of its own variables says so."""

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Name the variables that it gets of an environment, or globs of them."""
        ...


def variables_of(agent: "Agent", environ: Mapping[str, str]) -> tuple[str, ...]:
    """Name the variables that an agent gets of an environment, or globs of them."""
    return agent.variables_in(environ) if isinstance(agent, Switchable) else agent.variables


def so_far(lines: Lines) -> SoFar:
    """Give what the lines of a call show so far; nothing where its reader cannot tell."""
    return lines.so_far() if isinstance(lines, Telling) else SoFar()


class Agent(Protocol):
    """One kind of agent."""

    @property
    def name(self) -> str:
        """Its name in workflows."""
        ...

    @property
    def can(self) -> Abilities:
        """What it can be held to."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """Names or globs of its vendor's environment variables: it gets them, and nothing else that runs does."""
        ...

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Say how to start it; files it needs are written to `folder`, which is the call's own."""
        ...

    def lines(self) -> Lines:
        """Give a reader for one call."""
        ...

    def glimpse(self, line: bytes) -> str | None:
        """Say in a few words what a line shows the agent doing: `Bash npm test`; None where it shows nothing."""
        ...


@runtime_checkable
class Installable(Protocol):
    """An agent with a program that may be missing on a machine."""

    def require_program(self) -> None:
        """Raise what to install where the program is missing."""
        ...


def require_program(agent: Agent | Installable) -> None:
    """Raise what to install where the program of an agent is missing."""
    if isinstance(agent, Installable):
        agent.require_program()


def is_installed(agent: Agent | Installable) -> bool:
    """Tell whether an agent can be called on this machine."""
    try:
        require_program(agent)
    except NotFound:
        return False
    return True


CASSETTE, SCRIPTED = "cassette", "scripted"
"""The agents that play a file instead of asking a model: what was recorded, or what somebody wrote."""


def is_played(agent: object) -> bool:
    """Whether an agent, by its name, plays a file and so costs nothing."""
    return agent in (CASSETTE, SCRIPTED)


class AgentCatalog(Protocol):
    """The agents that come with Handrail: what is known of them, and what of them is on this machine."""

    @property
    def profiles(self) -> tuple[AgentProfile, ...]:
        """What is known of each agent of a vendor."""
        ...

    @property
    def clients(self) -> tuple[ConnectedClient, ...]:
        """What can be connected to Handrail."""
        ...

    @property
    def definitions(self) -> Path:
        """The file that describes further agents, as `agents.toml` does."""
        ...

    @property
    def names(self) -> AgentNames:
        """What people call them."""
        ...

    @property
    def prices(self) -> PriceList:
        """What their models cost."""
        ...

    def find(self, name: str) -> Agent:
        """Find an agent by its name, whatever is configured."""
        ...

    def define(self, definitions: Iterable[Defined]) -> "AgentTable":
        """Give these agents together with defined ones; a later one takes the place of an earlier one."""
        ...

    def read_played(self, name: str, path: str, *, strict: bool) -> bytes:
        """Read and check the file that a playing agent is to play; a strict cassette refuses other prompts."""
        ...

    def account(self, name: str, environ: Mapping[str, str]) -> str:
        """Find the account that an agent is logged in to; nothing where its files do not tell."""
        ...

    def missing_login(self, name: str, argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
        """Say how a person logs in where an agent, so started, certainly is not; empty where it is, or may be."""
        ...

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Name the variables that any of the agents gets of an environment, or globs of them."""
        ...

    def config_folders(self, name: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Find the folders and files in which an agent keeps its own data, as far as they exist."""
        ...


class Agents(Protocol):
    """The agents that are known here."""

    @property
    def catalog(self) -> AgentCatalog:
        """What is known of those that come with Handrail."""
        ...

    def find(self, name: str | None, repository: str | None = None) -> Agent:
        """Give an agent by its name, None for the one that is configured; raises what a person can act on.

        A repository may describe agents of its own.
        """
        ...

    def installed(self) -> tuple[str, ...]:
        """Name the agents whose program is on this machine."""
        ...

    def variables_in(self, environ: Mapping[str, str], repository: str | None = None) -> tuple[str, ...]:
        """Name the variables that any agent which is known here gets of an environment, or globs of them."""
        ...


class AgentTable(Agents, Protocol):
    """Agents that can be looked for without loading their adapters."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that are known."""
        ...

    def is_installed(self, name: str) -> bool:
        """Tell whether an agent can be called on this machine."""
        ...


def unmet(name: str, can: Abilities, call: AgentCall) -> tuple[str, ...]:
    """Say what of a call the agent cannot be held to: it is refused with the reason, never passed over."""
    asked = (
        (call.access not in can.access, f"`access: {call.access}` cannot be enforced"),
        (bool(call.disallowed_tools) and not can.tools, "`disallowed_tools` cannot be enforced"),
        (call.allowed_tools is not None and not can.tools, "`allowed_tools` cannot be enforced"),
        (call.single_turn and not can.single_turn, "`single_turn` cannot be enforced"),
        (call.server is not None and not can.mcp, "it cannot be given tools of Handrail (`handrail_tools`)"),
        (bool(call.session) and not can.resume, "a conversation cannot go on"),
        (call.model is not None and not can.model, "the model cannot be chosen"),
    )
    return tuple(f"{name}: {what}" for missing, what in asked if missing)
