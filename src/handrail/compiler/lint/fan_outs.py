"""Fan-outs whose work stays on its own branches, where no later step sees it."""

from collections.abc import Iterator

from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.walk import Visit
from handrail.model.names import spoken
from handrail.model.parts import every_step, parts
from handrail.model.workflow.actions import CallAction, CommitAction, MergeAction, ParallelAction, ScriptAction
from handrail.model.workflow.settings import AgentTask


def unmerged_fan_outs(context: LintContext) -> None:
    """Warn of a fan-out that changes files which later steps do not see, because nothing merges them."""
    for visit in context.own:
        if not isinstance(visit.step.action, ParallelAction) or not _changes_files(visit.step.action):
            continue
        later = tuple(_later(context, visit))
        if later and not any(_merges(context, each, visit) for each in later):
            name = visit.step.output or f"steps.{spoken(visit.step.name)}.output"
            message = f"nothing merges `{spoken(name)}`; later steps do not see its changes"
            hint = f"add a step after it: {{name: combine, type: merge, from: '${{{spoken(name)}}}'}}"
            context.report.warning("unmerged-fan-out", message, context.at(visit), hint)


def _changes_files(action: ParallelAction) -> bool:
    """Whether an item may leave changes: an agent that may edit, a commit, or another workflow."""
    actions = [step.action for _, step in every_step(action.steps)]
    tasks = any(task.access != "read" for each in actions for task in parts(each, AgentTask))
    return tasks or any(isinstance(each, CommitAction | CallAction) for each in actions)


def _later(context: LintContext, visit: Visit) -> Iterator[Visit]:
    """Find the steps after a step and its body, at any depth."""
    inside = {id(visit)}
    for each in context.visits[visit.order + 1 :]:
        if each.parent is not None and id(each.parent) in inside:
            inside.add(id(each))
        else:
            yield each


def _merges(context: LintContext, later: Visit, fan_out: Visit) -> bool:
    action = later.step.action
    by_hand = isinstance(action, ScriptAction) and "merge" in action.command.script
    if not isinstance(action, MergeAction) and not by_hand:
        return False
    names: set[tuple[str, ...]] = {("steps", spoken(fan_out.step.name))}
    if fan_out.step.output is not None:
        names.add((spoken(fan_out.step.output),))
    return any(path[: len(name)] == name for path in context.reads[later.order] for name in names)
