"""Lowers the steps that ask agents: agent, agent-loop and review."""

from dataclasses import replace
from typing import Literal, cast

from handrail.compiler.native.agent_tasks import RoleSettings, lower_task
from handrail.compiler.native.context import Lowering, flag_of, int_of, text_of
from handrail.compiler.native.prompts import lower_prompt
from handrail.compiler.native.proofs import lower_checks
from handrail.compiler.native.texts import lower_condition, lower_value
from handrail.compiler.record_types import ROLE_NAMES
from handrail.model.source import Mapping, Node, Scalar
from handrail.model.workflow.actions import AgentAction, AgentLoopAction, Convergence
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import Constant

ARBITER = RoleSettings(access="read", handoff="none", always_fresh="the arbiter")
REVIEWS = RoleSettings(access="read", handoff="none", always_fresh="the reviewer")
REVIEWS_AND_FIXES = RoleSettings(handoff="none", always_fresh="the reviewer")
OnMax = Literal["continue", "block", "fail"]


def lower_agent(work: Lowering, node: Mapping, _: Type | None) -> AgentAction:
    """Lower a step with one prompt to one agent."""
    return AgentAction(lower_task(work, node, node), flag_of(node.get("requires_approval")))


def lower_agent_loop(work: Lowering, node: Mapping, _: Type | None) -> AgentLoopAction:
    """Lower a loop of reviewer, arbiter and fixer."""
    reviewer = node.get("reviewer") or node.get("prompt")
    return _review(work, node, reviewer, most=int_of(node.get("max_iterations"), 5))


def lower_review(work: Lowering, node: Mapping, _: Type | None) -> AgentLoopAction:
    """Lower a review: the same loop with a decision, and with the library's prompts where the author gives none."""
    reviewer = node.get("reviewer") or node.get("prompt") or _library_prompt("review-changes", node)
    most = int_of(node.get("max_iterations"), 3)
    return _review(work, node, reviewer, most=most, decides=True)


def _library_prompt(prompt: str, node: Mapping) -> Scalar:
    return Scalar(prompt, node.span, "made")


def _review(
    work: Lowering, node: Mapping, reviewer: Node | None, *, most: int, decides: bool = False
) -> AgentLoopAction:
    arbiter = (
        node.get("arbiter")
        or node.get("arbiter_prompt")
        or (_library_prompt("is-actionable", node) if decides else None)
    )
    fixer = node.get("fixer") or (_library_prompt("apply-findings", node) if decides else None)
    with work.scope.enter_body(ROLE_NAMES):
        role_settings = REVIEWS_AND_FIXES if fixer is None else REVIEWS
        on_max, escalate = lower_on_max(work, node)
        reviews = lower_task(work, reviewer if reviewer is not None else node, node, role_settings)
        return AgentLoopAction(
            reviewer=reviews,
            arbiter=_role(work, arbiter, node, ARBITER),
            fixer=_role(work, fixer, node, RoleSettings()) or _reviewer_fixes(work, reviews, node),
            checks=lower_checks(work, node.get("checks")),
            max_iterations=most,
            exit_when=lower_condition(work, node.get("exit_when")),
            converge=_converge(work, node.get("converge")),
            on_max=on_max,
            escalate=escalate,
            decides=decides,
        )


def _role(work: Lowering, node: Node | None, step: Mapping, role_settings: RoleSettings) -> AgentTask | None:
    return None if node is None else lower_task(work, node, step, role_settings)


def _reviewer_fixes(work: Lowering, reviewer: AgentTask, node: Mapping) -> AgentTask:
    """Build the task in which the reviewing agent fixes what it found, with the prompt for applying findings."""
    return replace(reviewer, prompt=lower_prompt(work, _library_prompt("apply-findings", node)))


def _converge(work: Lowering, node: Node | None) -> Convergence | None:
    if isinstance(node, Mapping):
        severity = node.get("severity")
        value = lower_value(work, severity) if severity is not None else Constant("low")
        return Convergence(value, int_of(node.get("plateau"), 2))
    off = isinstance(node, Scalar) and node.value in ("off", False)
    return None if off else Convergence(Constant("low"))


def lower_on_max(work: Lowering, node: Mapping) -> tuple[OnMax, bool]:
    """Lower what happens after the last round; older words keep the meaning they had where they come from."""
    theirs = node.entries.get("on_max_iterations")
    if theirs is not None:
        word = "fail" if text_of(theirs.value) == "exit" else text_of(theirs.value)
        message = "'on_max_iterations' is Coven's word for 'on_max'"
        work.report.advice("other-word", message, theirs.key, f"write `on_max: {word}`")
        return cast("OnMax", word), False
    entry = node.entries.get("on_max")
    word = text_of(entry.value) if entry is not None else "continue"
    if word == "exit" and entry is not None:
        work.report.warning("old-word", "'exit' is read as 'continue'", entry.value, "write `on_max: continue`")
        return "continue", False
    if word == "escalate":
        return "block", True
    return cast("OnMax", word or "continue"), False
