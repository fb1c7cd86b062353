"""The steps of a workflow as Python objects, one class per type; a key that is reserved in Python ends in `_`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from handrail.authoring.python.checks import Check
from handrail.authoring.python.parts import (
    AgentSettings,
    Assess,
    Body,
    Budget,
    Condition,
    Converge,
    Fields,
    Fix,
    Follow,
    Json,
    Retry,
    Role,
    Texts,
)

Returns: TypeAlias = str | Sequence["Returns"] | Mapping[str, "Returns"]
OnFail: TypeAlias = Literal["block", "fail", "continue", "warn", "retry", "escalate", "undo"]
OnMax: TypeAlias = Literal["continue", "block", "fail", "exit", "escalate"]
CovenOnMax: TypeAlias = Literal["continue", "block", "exit"]
Checks: TypeAlias = Literal["project"] | Mapping[str, str]
Env: TypeAlias = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(AgentSettings):
    """The keys that every step may have; use one of its subclasses."""

    name: str = field(kw_only=False)
    description: str | None = None
    when: Condition | None = None
    input: Fields | None = None
    output: str | None = None
    returns: Returns | None = None
    timeout: str | None = None
    retry: int | Retry | Fields | None = None
    on_fail: OnFail | None = None
    escalate_to: str | None = None
    budget: Budget | Fields | None = None
    message: str | None = None
    done_when: Sequence[Check | Fields] | None = None
    assess: str | Sequence[str] | Assess | Fields | None = None


Steps: TypeAlias = Sequence[Step | Fields]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Step):
    """An agent with a prompt: text, a file such as prompts/10-coding.md, or a prompt's name."""

    TYPE: ClassVar[str] = "agent"
    prompt: str
    requires_approval: bool | None = None
    require_confirmation: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLoop(Step):
    """One agent finds problems, a second judges them and a third fixes them, until nothing worth fixing is left."""

    TYPE: ClassVar[str] = "agent-loop"
    prompt: str | None = None
    arbiter_prompt: str | None = None
    reviewer: str | Role | Fields | None = None
    arbiter: str | Role | Fields | None = None
    fixer: str | Role | Fields | None = None
    checks: Checks | None = None
    exit_when: Condition | None = None
    converge: Literal["on", "off"] | bool | Converge | Fields | None = None
    max_iterations: int | None = None
    max: int | None = None
    max_cycles: int | None = None
    on_max: OnMax | None = None
    on_max_iterations: CovenOnMax | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(AgentLoop):
    """An agent loop with the library's prompts."""

    TYPE: ClassVar[str] = "review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Step):
    """Steps that are repeated: `while_`, `until`, `for_` a number of rounds, or `for_each` item."""

    TYPE: ClassVar[str] = "loop"
    while_: Condition | None = None
    until: Condition | None = None
    for_: int | str | None = None
    for_each: str | Sequence[Json] | None = None
    as_: str | None = None
    key: str | None = None
    max_iterations: int | None = None
    max: int | None = None
    max_cycles: int | None = None
    on_max: OnMax | None = None
    on_max_iterations: CovenOnMax | None = None
    steps: Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelAgents(Step):
    """The same work for many items concurrently, each in its own worktree."""

    TYPE: ClassVar[str] = "parallel-agents"
    for_each: str | Sequence[Json]
    as_: str | None = None
    key: str | None = None
    after: str | None = None
    max_concurrent: int | str | None = None
    prompt: str | None = None
    steps: Steps | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Step):
    """A shell command."""

    TYPE: ClassVar[str] = "script"
    command: str
    env: Env | None = None
    repeatable: bool | None = None
    on_success: Literal["exit_loop"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Step):
    """Commands that must succeed, with an agent that may fix what failed."""

    TYPE: ClassVar[str] = "gate"
    command: str | None = None
    checks: Checks | None = None
    fix: str | Fix | Fields | None = None
    env: Env | None = None
    warn_when: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Step):
    """A decision by a person, who approves, sends back or rejects."""

    TYPE: ClassVar[str] = "approval"
    show: Texts | None = None
    revise: str | None = None
    max: int | None = None
    max_iterations: int | None = None
    max_cycles: int | None = None
    on_reject: Literal["stop", "revise"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Step):
    """Another workflow, run as one step (`type: workflow`)."""

    TYPE: ClassVar[str] = "workflow"
    workflow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Step):
    """Another workflow, whose steps are inlined here."""

    TYPE: ClassVar[str] = "use"
    use: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIssues(Step):
    """Issues created from a list."""

    TYPE: ClassVar[str] = "create-issues"
    from_: Texts
    labels: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Step):
    """A commit of the changes."""

    TYPE: ClassVar[str] = "commit"
    paths: Texts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Step):
    """Branches that are merged one after the other."""

    TYPE: ClassVar[str] = "merge"
    from_: Texts
    checks: Checks | None = None
    on_conflict: str | Fix | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest(Step):
    """A pull request, opened or updated."""

    TYPE: ClassVar[str] = "pull-request"
    title: str
    body: str | Body | Fields | None = None
    base: str | None = None
    draft: bool | str | None = None
    labels: Texts | None = None
    reviewers: Texts | None = None
    key: str | None = None
    follow: Follow | Fields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class End(Step):
    """The end of the run before its last step."""

    TYPE: ClassVar[str] = "end"
    status: Literal["succeeded", "failed"] | None = None
