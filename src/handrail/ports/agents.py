"""An agent as the engine sees it: a program that gets a task and prints lines, from which an outcome is read."""

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
from handrail.ports.agent_definitions import LoadedDefinition
from handrail.ports.agent_profiles import AgentProfile, ConnectedClient, ProjectFiles
from handrail.ports.processes import Ended, Gone

OutcomeStatus: TypeAlias = CallStatus
"""How a call of an agent ended."""


@frozen
class ToolServer:
    """The tools of Handrail that a call may use: an MCP server that the agent itself starts, over stdio."""

    command: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    """What the server itself needs, whatever environment the agent passes to it."""
    tools: tuple[str, ...]


ProjectTrust: TypeAlias = Literal["absent", "trusted", "untrusted"]


@frozen
class Project:
    """The repository around the folder in which an agent works."""

    folders: tuple[str, ...] = ()
    """The working folder and each one above it up to the root of the repository, links resolved."""
    checkout: str = ""
    """The main checkout, if the folder belongs to a linked worktree."""
    files: ProjectTrust = "absent"
    """Whether it contains files that configure the agent, and whether the user has trusted all of them."""

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
    """The number of this call of the step in this run, from 1; a call repeated after a crash has the same number."""
    prompt: str
    workspace: str
    """The folder in which the agent works."""
    model: str | None = None
    access: Access = "edit"
    system_prompt: str | None = None
    session: str | None = None
    """The conversation to resume; None begins a new one."""
    single_turn: bool = False
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    no_comment: bool = False
    """Whether it may not use tools that write to a tracker."""
    schema: JsonValue = None
    """JSON Schema of the result that is asked for."""
    options: dict[str, str] = field(default_factory=dict[str, str])
    """Options of the run for its agent: for the scripted one `script`, the path of its script."""
    turn_in_round: int = 1
    """Like `turn`, but counted for this exact address only, so that it starts over in each round."""
    server: ToolServer | None = None
    """The tools of Handrail that it is offered."""
    listens: bool = False
    """Whether its input stays open for what a person says meanwhile; only for agents that are `AcceptsMessages`."""
    project: Project = Project()
    """Only set for agents that a repository can configure (`Configurable`)."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables that it gets; if PATH is not among them, that of this process is used."""

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
    """Stored on disk, so that the agent outlives whoever started it."""
    until: str = ""
    """For a call that listens: what it prints when it is done, upon which its input is closed."""
    apart: float = 0.0
    """Seconds to wait before starting another one, for agents that interfere when they start together."""


@frozen
class Usage:
    """The tokens that a call used."""

    input_tokens: int = 0
    """Without those that came from a cache."""
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """The sum of all kinds of tokens."""
        return sum(self.parts)

    @property
    def parts(self) -> tuple[int, int, int]:
        """Each kind of tokens, in the order of the fields."""
        return self.input_tokens, self.output_tokens, self.cached_tokens

    def beyond(self, before: "Usage") -> "Usage":
        """Return what was added since an earlier count of the conversation; if the count started over, all of it."""
        if self.tokens < before.tokens:
            return self
        return Usage(*(max(0, now - then) for now, then in zip(self.parts, before.parts, strict=True)))


@frozen(kw_only=True)
class AgentOutcome:
    """How a call ended."""

    status: OutcomeStatus
    text: str = ""
    """The agent's last message."""
    output: JsonValue = None
    """The structured result, if there is one."""
    has_output: bool = False
    session: str | None = None
    usage: Usage = Usage()
    """What this call used."""
    total: Usage | None = None
    """What the whole conversation used so far, from an agent that counts so: the call used the increase."""
    cost: float | None = None
    """In US dollars; None if the agent does not report it."""
    message: str = ""
    """What went wrong, in words for a person."""
    retry_after: float | None = None
    """Seconds until another attempt makes sense."""
    question: str = ""
    """What the agent asks a person; it continues in the same conversation with the answer."""
    heard: tuple[str, ...] = ()
    """The marks of messages that it took up during the call."""
    drift: str = ""
    """For a call that is played from a cassette: where its prompt differs from the recorded one."""


@frozen
class Abilities:
    """What an agent supports and enforces."""

    access: frozenset[Access] = frozenset({"read", "edit", "full"})
    """The levels that it really enforces."""
    tools: bool = False
    """Single tools can be allowed and denied."""
    single_turn: bool = False
    schema: bool = False
    """It checks a result's schema itself; without it the result is checked afterwards, and asked for again."""
    resume: bool = False
    """A conversation can be resumed."""
    system_prompt: bool = False
    """Without it the system prompt precedes the prompt."""
    model: bool = True
    cost: bool = False
    """It reports its cost; without it the cost is estimated from tokens."""
    follow_up: bool = False
    """It accepts what a person says during a call; without it that waits for the next call."""
    mcp: bool = False
    """It accepts an MCP server for a single call, and so can be given tools of Handrail."""
    streams: bool = True
    """It reports what it does while it works; without it, only a step that sets a limit is ended for its silence."""
    without_project_files: bool = False
    """It can be started so that files of the repository configure nothing; without it they have to be trusted."""


@frozen
class CallProgress:
    """What the output of a call shows while it runs."""

    usage: Usage = Usage()
    """What the call has used; nothing from an agent that reports this only at its end."""
    cost: float | None = None
    model: str = ""
    """The model that answers, if the output names it."""
    at_work: bool = False
    """Whether a tool that it started is running: its silence means nothing then."""


class Lines(Protocol):
    """Reads what an agent prints, line by line."""

    def feed(self, line: bytes) -> str:
        """Read one line, and return what to show of it on the screen, or nothing."""
        ...

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Determine how the call ended, first from the lines and then from the exit status."""
        ...


@runtime_checkable
class ReportsProgress(Protocol):
    """A reader that shows during a call what it has used and whether a tool runs; not every reader is one."""

    def read_progress(self) -> CallProgress:
        """Return what the lines show so far."""
        ...


EntryKind: TypeAlias = Literal["said", "thought", "tool_call", "tool_result", "notice", "printed"]
"""The kind of an entry of a transcript; `printed` if it cannot be determined."""


class TranscriptPart(NamedTuple):
    """Something that a line shows: its kind and its text."""

    kind: EntryKind
    text: str


class TranscriptReader(Protocol):
    """Classifies what an agent prints, line by line."""

    def feed(self, line: bytes) -> tuple[TranscriptPart, ...]:
        """Read one line, and return what it shows, in order."""
        ...


@runtime_checkable
class HasTranscript(Protocol):
    """An agent whose output lines can be classified."""

    def transcript(self) -> TranscriptReader | None:
        """Create a reader for one call; None if its lines cannot be classified."""
        ...


@runtime_checkable
class AcceptsMessages(Protocol):
    """An agent that accepts messages during a call; its output tells which of them it took up."""

    def encode_message(self, text: str, mark: str) -> bytes:
        """Encode a message for the agent, under a mark in the form of a UUID."""
        ...


@runtime_checkable
class Configurable(Protocol):
    """An agent that files of a repository configure, or make run something."""

    def project_files(self, access: Access) -> ProjectFiles:
        """Return the files that count in a call with this access."""
        ...


@runtime_checkable
class Switchable(Protocol):
    """An agent that gets variables of further vendors if one of its own variables says so."""

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """List the variables that it gets from an environment, as names or globs."""
        ...


def variables_of(agent: "Agent", environ: Mapping[str, str]) -> tuple[str, ...]:
    """List the variables that an agent gets from an environment, as names or globs."""
    return agent.variables_in(environ) if isinstance(agent, Switchable) else agent.variables


def progress_of(lines: Lines) -> CallProgress:
    """Return what the lines of a call show so far; nothing if its reader does not support that."""
    return lines.read_progress() if isinstance(lines, ReportsProgress) else CallProgress()


class Agent(Protocol):
    """One kind of agent."""

    @property
    def name(self) -> str:
        """Its name in workflows."""
        ...

    @property
    def can(self) -> Abilities:
        """What it supports and enforces."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """Names or globs of its vendor's environment variables: it gets them, and nothing else that runs does."""
        ...

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Describe how to start it; files it needs are written to `folder`, which is the call's own."""
        ...

    def lines(self) -> Lines:
        """Create a reader for one call."""
        ...

    def describe_line(self, line: bytes) -> str | None:
        """Describe in a few words what a line shows the agent doing: `Bash npm test`; None if it shows nothing."""
        ...


@runtime_checkable
class Installable(Protocol):
    """An agent with a program that may be missing on a machine."""

    def require_program(self) -> None:
        """Raise an error that says what to install if the program is missing."""
        ...


def require_program(agent: Agent | Installable) -> None:
    """Raise an error that says what to install if the program of an agent is missing."""
    if isinstance(agent, Installable):
        agent.require_program()


def is_installed(agent: Agent | Installable) -> bool:
    """Whether an agent can be called on this machine."""
    try:
        require_program(agent)
    except NotFound:
        return False
    return True


CASSETTE, SCRIPTED = "cassette", "scripted"
"""The agents that play a file instead of asking a model: a recorded or a handwritten one."""


def is_played(agent: object) -> bool:
    """Whether an agent, by its name, plays a file and so costs nothing."""
    return agent in (CASSETTE, SCRIPTED)


class AgentCatalog(Protocol):
    """The agents that come with Handrail: what is known about them, and which are on this machine."""

    @property
    def profiles(self) -> tuple[AgentProfile, ...]:
        """What is known about each agent of a vendor."""
        ...

    @property
    def clients(self) -> tuple[ConnectedClient, ...]:
        """The programs that can be connected to Handrail."""
        ...

    @property
    def definitions(self) -> Path:
        """The file that describes further agents, as `agents.toml` does."""
        ...

    @property
    def names(self) -> AgentNames:
        """The names that people use for them."""
        ...

    @property
    def prices(self) -> PriceList:
        """The prices of their models."""
        ...

    def find(self, name: str) -> Agent:
        """Find an agent by its name, whatever is configured."""
        ...

    def define(self, definitions: Iterable[LoadedDefinition]) -> "AgentTable":
        """Return these agents together with defined ones; a later one replaces an earlier one."""
        ...

    def read_played(self, name: str, path: str, *, strict: bool) -> bytes:
        """Read and check the file that a playing agent should play; a strict cassette refuses other prompts."""
        ...

    def account(self, name: str, environ: Mapping[str, str]) -> str:
        """Find the account that an agent is logged in to; empty if its files do not tell."""
        ...

    def login_hint(self, name: str, argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
        """Describe how a person logs in if an agent, started this way, certainly is not; empty if it is, or may be."""
        ...

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """List the variables that any of the agents gets from an environment, as names or globs."""
        ...

    def config_folders(self, name: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """Find the existing folders and files in which an agent stores its own data."""
        ...


class Agents(Protocol):
    """The agents that are known here."""

    @property
    def catalog(self) -> AgentCatalog:
        """What is known about those that come with Handrail."""
        ...

    def find(self, name: str | None, repository: str | None = None) -> Agent:
        """Find an agent by its name, or the configured one for None; raises an error that a person can act on.

        A repository may describe agents of its own.
        """
        ...

    def list_installed(self) -> tuple[str, ...]:
        """List the agents whose program is on this machine."""
        ...

    def variables_in(self, environ: Mapping[str, str], repository: str | None = None) -> tuple[str, ...]:
        """List the variables that any agent known here gets from an environment, as names or globs."""
        ...


class AgentTable(Agents, Protocol):
    """Agents that can be looked up without loading their adapters."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all known agents."""
        ...

    def is_installed(self, name: str) -> bool:
        """Whether an agent can be called on this machine."""
        ...


def unmet(name: str, can: Abilities, call: AgentCall) -> tuple[str, ...]:
    """List what the agent cannot enforce of a call, which is then refused with the reason, never ignored."""
    asked = (
        (call.access not in can.access, f"`access: {call.access}` cannot be enforced"),
        (bool(call.disallowed_tools) and not can.tools, "`disallowed_tools` cannot be enforced"),
        (call.no_comment and not can.tools, "`no_comment` cannot be enforced"),
        (call.allowed_tools is not None and not can.tools, "`allowed_tools` cannot be enforced"),
        (call.single_turn and not can.single_turn, "`single_turn` cannot be enforced"),
        (call.server is not None and not can.mcp, "it cannot use the tools of Handrail (`handrail_tools`)"),
        (bool(call.session) and not can.resume, "conversations cannot be continued"),
        (call.model is not None and not can.model, "the model cannot be selected"),
    )
    return tuple(f"{name}: {what}" for missing, what in asked if missing)
