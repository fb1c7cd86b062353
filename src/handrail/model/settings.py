"""What can be set on a step or a workflow: limits, tries, failure, and how an agent is called."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from handrail.model.values import Prompt, Value

OnFail: TypeAlias = Literal["block", "fail", "continue", "warn", "escalate", "undo"]
Access: TypeAlias = Literal["read", "edit", "full"]
Handoff: TypeAlias = Literal["summary", "full", "none"]
Limits: TypeAlias = Literal["shared", "own", "ask"]


@dataclass(frozen=True, slots=True)
class Retry:
    """How many more tries, and the pause before the first of them in seconds, doubled each time."""

    more: int = 0
    backoff: int = 0


NO_RETRY = Retry()


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent before the run stops, asks or finishes up."""

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    agent_calls: int | None = None
    at_limit: Literal["ask", "finish", "stop"] | None = None
    unknown_price: Literal["estimate", "block"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """One way of asking an agent: its prompt and everything that shapes the call, defaults already applied."""

    prompt: Prompt
    agent: str | None = None
    """Name of the agent; None means the one configured."""
    model: str | None = None
    access: Access = "edit"
    session: str = "fresh"
    """`fresh`, or the name of the earlier step whose conversation goes on."""
    handoff: Handoff = "summary"
    system_prompt: Prompt | None = None
    single_turn: bool = False
    suppress_thoughts: bool = False
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    tmux: bool = False
    sandbox: Literal["none", "bwrap"] = "none"
    max: int = 1
    """How often it may be asked, where the step asks repeatedly."""
    budget: Budget | None = None
    with_values: tuple[tuple[str, Value], ...] = ()
    """Values that only this prompt sees."""


@dataclass(frozen=True, slots=True)
class AgentPolicy:
    """Whom a run turns to where its steps name no agent, and what it does where an agent cannot answer."""

    usual: str = ""
    """The agent of steps that name none, as people write it: `claude/opus`."""
    usual_why: str = ""
    """Where that was said."""
    fallback: tuple[str, ...] = ()
    """The agents that are turned to, one after the other, when one is missing or stays overloaded."""
    limits: Limits = "shared"
    """At a usage limit: wait with all runs on the account, wait alone, or ask a person."""


NO_POLICY = AgentPolicy()
