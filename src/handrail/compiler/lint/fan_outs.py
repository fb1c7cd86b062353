"""Fan-outs whose work stays on its own branches, where no later step sees it."""

from collections.abc import Iterator

from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.walk import Visit
from handrail.model.names import make_identifier
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import CallAction, CommitAction, MergeAction, ParallelAction, ScriptAction
from handrail.model.workflow.settings import AgentTask


def lint_unmerged_fan_outs(context: LintContext) -> None:
    """Warn of a fan-out that changes files which later steps do not see, because nothing merges them."""
    for visit in context.own:
        if not isinstance(visit.step.action, ParallelAction) or not _can_change_files(visit.step.action):
            continue
        later = tuple(_later(context, visit))
        if later and not any(_is_merged_by(context, each, visit) for each in later):
            name = visit.step.output or f"steps.{make_identifier(visit.step.name)}.output"
            message = f"nothing merges `{make_identifier(name)}`; later steps do not see its changes"
            hint = f"add a step after it: {{name: combine, type: merge, from: '${{{make_identifier(name)}}}'}}"
            context.report.warning("unmerged-fan-out", message, context.locate(visit), hint)


def _can_change_files(action: ParallelAction) -> bool:
    """Whether an item may leave changes: an agent that may edit, a commit, or another workflow."""
    actions = [step.action for _, step in walk_steps(action.steps)]
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


def _is_merged_by(context: LintContext, later: Visit, fan_out: Visit) -> bool:
    action = later.step.action
    by_hand = isinstance(action, ScriptAction) and "merge" in action.command.script
    if not isinstance(action, MergeAction) and not by_hand:
        return False
    names: set[tuple[str, ...]] = {("steps", make_identifier(fan_out.step.name))}
    if fan_out.step.output is not None:
        names.add((make_identifier(fan_out.step.output),))
    return any(path[: len(name)] == name for path in context.reads[later.order] for name in names)
