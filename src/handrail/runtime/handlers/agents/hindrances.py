"""How a call that was hindered goes on: with another agent, a shared wait, or a person."""

import re
from dataclasses import replace
from typing import TypeAlias

from handrail.frozen import frozen
from handrail.model.history.events import BlockReason, QuestionAsked, RunBlocked, StepBegan, StepEnded
from handrail.model.history.run_state import Hindrance, Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentOutcome, OutcomeStatus
from handrail.runtime.handlers.agents.account_limits import AccountLimit

WAITS: frozenset[OutcomeStatus] = frozenset({"quota", "rate_limited", "overloaded", "network"})
"""Outcomes that are over after a wait."""
PERSON: frozenset[OutcomeStatus] = frozenset({"auth", "denied"})
"""Outcomes that only a person can fix."""
_FAILURES: dict[OutcomeStatus, str] = {
    "limit": "the agent was stopped at a limit",
    "quota": "the agent has used up its quota",
    "auth": "the agent is not logged in",
    "rate_limited": "the agent is rate limited",
    "overloaded": "the agent's service is overloaded",
    "network": "the agent cannot reach its service",
    "api_error": "the agent reported an error",
    "no_output": "the agent returned nothing",
    "denied": "the agent was denied permission",
    "cancelled": "the agent was cancelled",
    "timeout": "the agent timed out",
    "crashed": "the agent crashed",
}
MAX_WAITS = 3
"""How often to wait for an overloaded agent before turning to another one."""
NO_MODEL = re.compile(
    r"\bmodel\b.*\b(not found|not exist|not supported|not available|unknown|invalid|no access|have access)\b"
    r"|model_not_found|\b(unknown|invalid|no such) model\b",
    re.IGNORECASE | re.DOTALL,
)
SESSION_NOT_FOUND = re.compile(
    r"no (?:conversation|rollout|session|thread) (?:was )?found|(?:conversation|session|thread)\b.{0,80}?"
    r"\b(?:not found|not exist|does not know)|does not know (?:the|this) conversation",
    re.IGNORECASE,
)
"""How agents report that they do not know a conversation."""
Answered: TypeAlias = StepEnded | QuestionAsked | RunBlocked


@frozen
class Refusal:
    """Why a call cannot be made, and what helps."""

    why: str
    hint: str
    missing: bool = True
    """Whether the agent is missing, and not only unable to do what is asked."""
    limit: AccountLimit | None = None
    """The limit to wait for."""
    reason: BlockReason = "step"
    """Why a person is needed, where no other agent can take over."""


def require_login(agent: str, way: str, root: str) -> Refusal:
    """Ask a person to log in to an agent, before it is called in an environment in which it cannot work."""
    why = f"{agent} has no login in the environment of this run; it was not called, and no try was used"
    hint = f"{way}, then from that shell: handrail resume {root}"
    return Refusal(why, hint, missing=False, reason="login")


def handle_refusal(
    state: RunState, pending: Pending, began: StepBegan, refusal: Refusal, now: float
) -> StepEnded | RunBlocked:
    """Wait for a limit, or turn to the next agent where one is left; otherwise ask a person."""
    if refusal.limit is not None:
        return _wait_for_limit(refusal.limit, pending, began, now)
    replaceable = refusal.missing or state.steps[pending.address].falls > 0
    if began.spec.get("instead") and replaceable:
        details = {"hindrance": "replace", "agent": began.spec.get("agent")}
        return StepEnded(
            address=pending.address, began=pending.seq, status="failed", error=refusal.why, details=details, at=now
        )
    message = f"step '{pending.address}': {refusal.why}"
    return RunBlocked(reason=refusal.reason, message=message, address=pending.address, next_step=refusal.hint, at=now)


def mark_hindrance(state: RunState, began: StepBegan, outcome: AgentOutcome, judged: Answered) -> Answered:
    """Mark an outcome as needing another agent or a person, where the run's settings say so."""
    if not isinstance(judged, StepEnded) or judged.status == "succeeded":
        return judged
    if _is_forgotten(began, outcome):
        return _restart_conversation(began, judged)
    if began.spec.get("instead") and _needs_other_agent(state, began, outcome):
        return replace(judged, details={**judged.details, "hindrance": "replace"})
    if outcome.status == "quota" and state.agents.limits == "ask":
        return replace(judged, details={**judged.details, "hindrance": "person"})
    return judged


def mark_budget_exhausted(outcome: AgentOutcome, judged: Answered) -> Answered:
    """Mark a call that was ended midway as needing more budget; it is not a failed try."""
    if not isinstance(judged, StepEnded) or outcome.status != "limit":
        return judged
    return replace(judged, details={**judged.details, "hindrance": "budget"})


def _is_forgotten(began: StepBegan, outcome: AgentOutcome) -> bool:
    """Whether the agent does not know the conversation that it was to continue; it has done nothing then."""
    asked = bool(began.spec.get("session")) and outcome.status in ("crashed", "api_error")
    return asked and not outcome.usage.tokens and SESSION_NOT_FOUND.search(outcome.message) is not None


def _restart_conversation(began: StepBegan, judged: StepEnded) -> StepEnded:
    """Begin a new conversation with a summary of the run so far; the try is not charged."""
    lost = str(began.spec["session"])
    said = judged.error.partition("\n")[0]
    error = f"{said}; the conversation {lost} no longer exists, so the step starts a new one"
    details: dict[str, JsonValue] = {**judged.details, "hindrance": "anew", "lost": lost, "session": ""}
    return replace(judged, error=error, details=details)


def _needs_other_agent(state: RunState, began: StepBegan, outcome: AgentOutcome) -> bool:
    if outcome.status == "overloaded":
        return state.steps[began.address].waits >= MAX_WAITS
    return outcome.status == "api_error" and "model" in began.spec and NO_MODEL.search(outcome.message) is not None


def _wait_for_limit(limit: AccountLimit, pending: Pending, began: StepBegan, now: float) -> StepEnded:
    """Wait, together with another run, for the end of a limit of the same account; nothing was called."""
    return StepEnded(
        address=pending.address,
        began=pending.seq,
        status="failed",
        error=limit.words,
        details={
            "agent": began.spec.get("agent"),
            # The conversation was not touched, so it can still be continued.
            "session": began.spec.get("session", ""),
            "agent_status": "quota",
            "hindrance": "wait",
            "blocks": "budget",
            "after": limit.until - now,
            "spent": {},
        },
        at=now,
    )


def explain_failure(outcome: AgentOutcome) -> tuple[str, dict[str, JsonValue]]:
    """Explain why a call failed, and what helps; empty where it did not fail."""
    if outcome.status == "ok":
        return "", {}
    hindrance: Hindrance = "wait" if outcome.status in WAITS else "person" if outcome.status in PERSON else "try"
    details: dict[str, JsonValue] = {"agent_status": outcome.status, "hindrance": hindrance}
    if outcome.retry_after is not None:
        details["after"] = outcome.retry_after
    if outcome.status == "quota":
        details["blocks"] = "budget"
    return _FAILURES[outcome.status] + (f": {outcome.message}" if outcome.message else ""), details
