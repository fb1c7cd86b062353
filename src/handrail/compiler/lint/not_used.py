"""Settings that are checked and stored, but that nothing acts on yet."""

from handrail.authoring.native.schema import WORKFLOW
from handrail.compiler.lint.context import LintContext
from handrail.model.workflow.actions import Action, PullRequestAction
from handrail.model.workflow.plan import ManualTrigger, Plan

_TRIGGERS = {
    "event": "an event",
    "schedule": "a schedule",
    "issue": "an issue",
    "pull_request": "a pull request",
}
_OTHER_WORDS = {name: alias for alias, name in WORKFLOW.aliases.items()}


def lint_unused_keys(context: LintContext) -> None:
    """Warn of triggers that nothing fires, and of keys by which nothing selects a workflow."""
    if context.document.dialect != "native":
        return
    for key, message in _inert_plan_keys(context.plan).items():
        root = context.document.root
        node = root.get(key) or root.get(_OTHER_WORDS.get(key, ""))
        if node is not None:
            hint = f"start it yourself: handrail run {context.plan.name}"
            context.report.warning("not-used-yet", message, node.span, hint)
    for visit in context.own:
        for key, message in _inert_step_keys(visit.step.action).items():
            if visit.node is not None and visit.node.get(key) is not None:
                context.report.warning(
                    "not-used-yet", message, context.locate(visit, key), "remove it, or keep it for a later version"
                )


def _inert_step_keys(action: Action) -> dict[str, str]:
    match action:
        case PullRequestAction():
            return {
                "follow": "pull requests are not followed yet: the run ends when the pull request is open",
            }
        case _:
            return {}


def _inert_plan_keys(plan: Plan) -> dict[str, str]:
    said: dict[str, str] = {}
    kinds = [_TRIGGERS[each.kind] for each in plan.triggers if not isinstance(each, ManualTrigger)]
    if kinds:
        said["trigger"] = f"runs cannot be started by {' or '.join(dict.fromkeys(kinds))} yet"
    if plan.labels:
        said["labels"] = "workflows are not chosen by labels yet; connected agents see them as tags"
    if plan.classifications:
        said["classifications"] = "workflows are not chosen by the kind of request yet"
    return said
