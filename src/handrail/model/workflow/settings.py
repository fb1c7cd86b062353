"""What can be set on a step or a workflow: limits, retries, failure, and how an agent is called."""

from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import Prompt, Value

OnFail: TypeAlias = Literal["block", "fail", "continue", "warn", "escalate", "undo"]
Access: TypeAlias = Literal["read", "edit", "full"]
Carry: TypeAlias = Literal["conversation", "summary"]
Handoff: TypeAlias = Literal["summary", "full", "none"]
Limits: TypeAlias = Literal["shared", "own", "ask"]
Sandbox: TypeAlias = Literal["none", "bwrap"]
Autonomy: TypeAlias = Literal["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"]
Risk: TypeAlias = Literal["conservative", "balanced", "aggressive"]
HandrailTool: TypeAlias = Literal["report_progress", "ask_person", "create_child_run", "give_feedback", "list_runs"]
"""Tools of Handrail itself that an agent may be given."""


@frozen
class Retry:
    """How many more attempts, and the pause before the first of them in seconds, doubled each time."""

    more: int = 0
    backoff: int = 0


NO_RETRY = Retry()


@frozen
class Budget:
    """What may be spent before the run stops, asks or finishes up."""

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    agent_calls: int | None = None
    at_limit: Literal["ask", "finish", "stop"] | None = None
    unknown_price: Literal["estimate", "block"] | None = None


@frozen(kw_only=True)
class AgentTask:
    """One way of asking an agent: its prompt and everything that shapes the call, defaults already applied."""

    prompt: Prompt
    agent: str | None = None
    """Name of the agent; None means the one configured."""
    model: str | None = None
    access: Access = "edit"
    session: str = "fresh"
    """`fresh`, or the name of the earlier step whose conversation is continued."""
    carry: Carry = "conversation"
    """What is carried over from that step: its conversation, or a summary of it in a new one."""
    handoff: Handoff = "summary"
    handoff_template: Prompt | None = None
    """A text of its own around the prompt, instead of the usual handoff."""
    system_prompt: Prompt | None = None
    role: str | None = None
    """The role that it takes, stated before its task."""
    after: str = ""
    """Lines that the workflow's features add after the prompt."""
    single_turn: bool = False
    suppress_thoughts: bool = False
    no_comment: bool = False
    """Whether it may not use tools that write to the tracker."""
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    handrail_tools: tuple[HandrailTool, ...] = ()
    """The tools of Handrail that it may call while it works."""
    idle_timeout: int | None = None
    """Seconds for which it may print nothing; None means what the run says."""
    tmux: bool = False
    sandbox: Sandbox | None = None
    """None means what the run's configuration says."""
    network: bool = True
    """Whether its sandbox allows network access."""
    max: int = 1
    """How often it may be asked, if the step asks repeatedly."""
    budget: Budget | None = None
    with_values: tuple[tuple[str, Value], ...] = ()
    """Values that only this prompt sees."""


@frozen
class AgentPolicy:
    """Which agent performs steps that name none, and what happens if an agent cannot answer."""

    usual: str = ""
    """The agent of steps that name none, as people write it: `AGENT/MODEL`."""
    usual_why: str = ""
    """Where that was configured."""
    fallback: tuple[str, ...] = ()
    """The agents to fall back to, one after the other, when one is missing or stays overloaded."""
    limits: Limits = "shared"
    """At a usage limit: wait with all runs on the account, wait alone, or ask a person."""
    sandbox: Sandbox = "none"
    """The sandbox of agents whose steps name none."""
    network: bool = True
    """Whether it allows network access."""
    idle_timeout: int = 0
    """Seconds for which an agent may print nothing, if its step does not say; 0 means the default."""


NO_POLICY = AgentPolicy()


@frozen
class PullSetting:
    """The preferences for new runs of connected agents; empty if nothing is configured."""

    autonomy: str = ""
    risk: str = ""


NO_PULL = PullSetting()


@frozen
class FileCheck:
    """How a project checks one file, and how a failed test in it is recognized."""

    name: str
    command: str
    """The file replaces `$FILE`, or follows as one argument."""
    failed: tuple[int, ...] = ()
    """Exit codes that mean a failing test; none: 1, or any but 0 if a report or a pattern says more."""
    report: str = ""
    """A JUnit report that the command writes, which must show a failing test."""
    failed_when: str = ""
    """A pattern that some line of the output must match if a test failed."""


@frozen
class Project:
    """What a repository's configuration says about the project that workflows work on, as a run is pinned to it."""

    sources: tuple[str, ...] = ()
    """Globs of the product's own code."""
    default_branch: str = ""
    outdated: str = ""
    """The command that prints a line `NAME CURRENT WANTED` for each package that is outdated."""
    update: str = ""
    """The command that updates `$PACKAGE` to `$VERSION`."""
    file_checks: tuple[FileCheck, ...] = ()


NO_PROJECT = Project()


def confinement(task: AgentTask, policy: AgentPolicy) -> tuple[Sandbox, bool]:
    """Return the sandbox of a call, and whether it allows network access: as its step says, else its run."""
    return (policy.sandbox, policy.network) if task.sandbox is None else (task.sandbox, task.network)
