"""A workflow as lines of text, readable in 80 columns."""

from collections.abc import Iterator

from handrail.cli.render.safe_text import crop, escape_controls
from handrail.model.workflow.actions import ApprovalAction, EndAction, GateAction, LoopAction, ParallelAction, body
from handrail.model.workflow.guidance import GuidedLoopAction
from handrail.model.workflow.plan import Plan, Step
from handrail.operations.workflows.condition_text import condition_words

WIDTH = 80
_MARKS = {"gate": "◇", "approval": "?", "end": "■"}


def draw_text(plan: Plan, reached: frozenset[str]) -> str:
    """Render the steps from top to bottom, with nested steps indented."""
    lines = [f"● {plan.name}", *_steps(plan.steps, "", "", reached), "■ done"]
    return "\n".join(crop(escape_controls(line), WIDTH) for line in lines)


def _steps(steps: tuple[Step, ...], indent: str, prefix: str, reached: frozenset[str]) -> Iterator[str]:
    for step in steps:
        place = prefix + step.name
        if step.when is not None:
            yield f"{indent}├─ if {condition_words(step.when)}"
        branch = "│  ├─" if step.when is not None else "├─"
        lost = "" if place in reached else "   ✗ never reached"
        yield f"{indent}{branch} {_MARKS.get(step.action.kind, '▪')} {step.name}  {_describe_step(step)}{lost}"
        deeper = f"{indent}│  │  " if step.when is not None else f"{indent}│  "
        yield from _steps(body(step.action), deeper, f"{place}/", reached)
        yield from (f"{deeper}{each}" for each in _ways(step))


def _describe_step(step: Step) -> str:
    match step.action:
        case LoopAction() | GuidedLoopAction():
            return f"{step.action.kind}, at most {step.action.max_iterations} rounds"
        case ParallelAction():
            return "for each item, in parallel"
        case EndAction():
            return f"the run ends, {step.action.status}"
        case _:
            return step.action.kind


def _ways(step: Step) -> Iterator[str]:
    """List where else a step may lead."""
    match step.action:
        case ApprovalAction(revise=target):
            yield "✗ rejected: the run ends, failed"
            if target is not None:
                yield f"↩ sent back: {target}"
        case GateAction(fix=fix):
            fixed = f"at most {fix.max} fixes, then " if fix is not None else ""
            yield f"✗ fails: {fixed}{step.on_fail}"
        case LoopAction() | GuidedLoopAction():
            yield "↻ repeats until it ends"
        case _:
            pass
