"""Budgets that are too small for what must run."""

from handrail.compiler.bounds import Calls
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.walk import Visit
from handrail.model.source import Mapping, Node, Span
from handrail.model.workflow.settings import Budget


def lint_small_budgets(context: LintContext) -> None:
    """Warn of a budget that stops the workflow, or a step, before it can be completed."""
    calls = Calls(context.catalog)
    if context.plan.budget is not None:
        written = context.document.root.get("budget")
        least = calls.count_in_steps(context.plan.steps).least
        _compare(context, context.plan.budget, least, written, "the workflow")
    for visit in context.own:
        if visit.step.budget is not None:
            least = calls.count_in_action(visit.step.action).least
            _compare(context, visit.step.budget, least, _find_budget_node(context, visit), f"step '{visit.step.name}'")


def _find_budget_node(context: LintContext, visit: Visit) -> Node | None:
    """Find the node of a step's budget: on the step, or else in the defaults."""
    own = visit.node.get("budget") if visit.node is not None else None
    defaults = context.document.root.get("defaults")
    return own if own is not None else defaults.get("budget") if isinstance(defaults, Mapping) else None


def _compare(context: LintContext, budget: Budget, least: int, written: Node | None, who: str) -> None:
    if least == 0:
        return
    calls = "1 agent call" if least == 1 else f"{least} agent calls"
    if budget.agent_calls is not None and budget.agent_calls < least:
        message = f"{who} needs at least {calls}, the budget allows {budget.agent_calls}"
        hint = f"write `agent_calls: {least}` or more"
        context.report.warning("budget-too-small", message, _key(context, written, "agent_calls"), hint)
    for key, amount in (("usd", budget.usd), ("minutes", budget.minutes)):
        if amount == 0:
            message = f"{who} needs at least {calls}, and `{key}: 0` allows none"
            context.report.warning("budget-too-small", message, _key(context, written, key), f"raise `{key}`")


def _key(context: LintContext, written: Node | None, key: str) -> Span:
    value = written.get(key) if isinstance(written, Mapping) else None
    found = value or written or context.document.root
    return found.span
