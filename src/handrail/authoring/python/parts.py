"""The parts of a workflow as Python objects, with the keys of the YAML format; steps have their own module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import currentframe
from types import FrameType
from typing import ClassVar, Literal, TypeAlias

MAIN = "workflow.py"
MODULE = "handrail_workflow_"
"""The prefix of the module names under which authors' files are executed, whatever the file's name."""

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None
Fields: TypeAlias = Mapping[str, Json]
"""A part in the structure of the YAML format, for authors who prefer to write a dict."""
Texts: TypeAlias = str | Sequence[str]
Condition: TypeAlias = str | bool
Access: TypeAlias = Literal["read", "edit", "full"]
HandrailTool: TypeAlias = Literal["report_progress", "ask_person", "create_child_run", "give_feedback", "list_runs"]
Handoff: TypeAlias = Literal["summary", "full", "none"]
Reaction: TypeAlias = Literal["checks", "changes_requested", "comments", "conflict"]

KEYS = {
    "while_": "while",
    "for_": "for",
    "as_": "as",
    "from_": "from",
    "prompt_path": "prompt",
    "suppress_thought_posting": "suppress_thoughts",
    "subroutines": "steps",
}
"""Fields that have a different name as a key in YAML."""


def find_author_line() -> int | None:
    """Return the line of the author's file that is being executed, or None outside of one."""
    frame = currentframe()
    while frame is not None:
        if _is_authored(frame):
            return frame.f_lineno
        frame = frame.f_back
    return None


def _is_authored(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    if module.startswith("handrail."):
        return False  # one of Handrail's own modules may have the same file name
    return module.startswith(MODULE) or frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2] == MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The base class of all objects, with the line of workflow.py that created the object, which `replace` keeps."""

    TYPE: ClassVar[str] = ""
    """The type in YAML of steps of this class."""
    WITHIN: ClassVar[str] = ""
    """The key in YAML that contains the fields."""
    AS_MAP: ClassVar[str] = ""
    """The key of the first field in the map that YAML uses instead of it when further fields are set."""

    line: int | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.line is None:
            object.__setattr__(self, "line", find_author_line())


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Part):
    """What a run may spend, and what happens at the limit."""

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    agent_calls: int | None = None
    at_limit: Literal["ask", "finish", "stop"] | None = None
    unknown_price: Literal["estimate", "block"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Part):
    """The number of further attempts, and the pause before the first of them."""

    max: int | None = field(default=None, kw_only=False)
    max_iterations: int | None = None
    max_cycles: int | None = None
    backoff: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox(Part):
    """How an agent's process is confined, and whether it has network access."""

    kind: Literal["none", "bwrap"] = field(kw_only=False)
    network: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Part):
    """Agent settings that may also be set under `defaults`."""

    agent: str | None = None
    model: str | None = None
    access: Access | None = None
    handoff: Handoff | str | None = None
    role: str | None = None
    system_prompt: str | None = None
    single_turn: bool | None = None
    suppress_thoughts: bool | None = None
    no_comment: bool | None = None
    allowed_tools: Sequence[str] | None = None
    disallowed_tools: Sequence[str] | None = None
    handrail_tools: Sequence[HandrailTool] | bool | None = None
    idle_timeout: str | None = None
    tmux: bool | None = None
    sandbox: Literal["none", "bwrap"] | Sandbox | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults(Settings):
    """Settings for every step that does not set its own."""

    timeout: str | None = None
    retry: int | Retry | Fields | None = None
    budget: Budget | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings(Settings):
    """Agent settings of one step or task, which may continue an earlier conversation."""

    session: str | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Body(AgentSettings):
    """An agent that writes the description of a pull request."""

    prompt: str = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role(AgentSettings):
    """A reviewer, arbiter or fixer: its prompt with its agent settings."""

    prompt: str = field(kw_only=False)
    budget: Budget | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix(AgentSettings):
    """An agent that is asked to fix something, at most `max` times."""

    prompt: str = field(kw_only=False)
    max: int | None = None
    max_iterations: int | None = None
    max_cycles: int | None = None
    budget: Budget | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Input(Part):
    """An input of a workflow, named by its key in a dict of inputs or by `name` in a list."""

    name: str | None = field(default=None, kw_only=False)
    type: str | Sequence[Json] | None = None
    required: bool | None = None
    default: Json = None
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule(Part):
    """Starts the workflow on a schedule of five cron fields."""

    schedule: str = field(kw_only=False)
    timezone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueTrigger(Part):
    """Starts the workflow for an issue with one of the labels."""

    WITHIN: ClassVar[str] = "issue"
    labels: Sequence[str] | None = field(default=None, kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestTrigger(Part):
    """Starts the workflow for a pull request with one of the labels."""

    WITHIN: ClassVar[str] = "pull_request"
    labels: Sequence[str] | None = field(default=None, kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTrigger(Part):
    """Starts the workflow for a named event."""

    event: str = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency(Part):
    """Which runs exclude each other, and what happens to a new one."""

    key: str = field(kw_only=False)
    if_running: Literal["skip", "queue", "stop_old"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Converge(Part):
    """How a review loop detects that it no longer improves anything; `severity` may be a `${...}`."""

    severity: str | None = None
    plateau: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow(Part):
    """How a run follows up on its pull request."""

    on: Sequence[Reaction]
    fix: str | Fix | Fields
    max: int | None = None
    max_iterations: int | None = None
    max_cycles: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Part):
    """A document that agents should know about."""

    id: str = field(kw_only=False)
    title: str
    source: str
    purpose: str
    authoritative: bool | None = None
    resolve_from: Literal["workspace", "package"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature(Part):
    """Texts of the library that are appended to every agent's prompt, with their settings."""

    id: str = field(kw_only=False)
    config: Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionPoint(Part):
    """A slot that the project may bind."""

    default: str = field(kw_only=False)
    purpose: str | None = None
    accepts: Sequence[Literal["routine", "workflow"]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension(Part):
    """One aspect that an assessment judges."""

    purpose: str | None = field(default=None, kw_only=False)
    levels: Sequence[str] | None = None
    required: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assess(Part):
    """A judgment that an agent must give, as one of a few levels with reasons."""

    dimensions: Mapping[str, str | Dimension | Fields]
    purpose: str | None = None
    levels: Sequence[str] | None = None
    rationale: Literal["required", "optional"] | None = None
    follow_up_when: Texts | None = None
    guidance: str | None = None
