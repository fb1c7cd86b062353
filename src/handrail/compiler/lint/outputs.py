"""Outputs that nothing reads."""

from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.walk import Visit
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import GroupAction, ParallelAction


def lint_unused_outputs(context: LintContext) -> None:
    """Advise against an output that nothing in the workflow reads."""
    read = _read(context)
    for visit in context.own:
        output = visit.step.output
        if output is None or _is_result(visit) or make_identifier(output) in read or _step_path(visit) in read:
            continue
        message = f"nothing reads the output '{output}'"
        name = make_identifier(output)
        hint = f"read it in a later step, as `${{{name}}}` or `{{{{ {name} }}}}`, or remove `output`"
        context.report.advice("unused-output", message, context.locate(visit, "output"), hint)


def _read(context: LintContext) -> set[str]:
    """Collect the names that are read, with `steps.NAME` for results that are read through their step."""
    found: set[str] = set()
    for visit, paths in zip(context.visits, context.reads, strict=True):
        for path in paths:
            found.add(path[0])
            if path[0] == "steps":
                # A field of the record may be part of the result: `steps.review.open_findings`.
                found.add(f"steps.{make_identifier(path[1])}" if len(path) > 1 else "steps")
            elif path[0] == "previous_step" and visit.index > 0:
                found.add(f"steps.{make_identifier(visit.siblings[visit.index - 1].name)}")
    return found


def _step_path(visit: Visit) -> str:
    return f"steps.{make_identifier(visit.step.name)}"


def _is_result(visit: Visit) -> bool:
    """Whether it is the result of a whole: of the workflow, of a fan-out's item, or of a routine."""
    inside = visit.parent.step.action if visit.parent is not None else None
    return visit.is_last and (inside is None or isinstance(inside, ParallelAction | GroupAction))
