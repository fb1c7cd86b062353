"""A workflow as boxes and arrows, independent of what draws them."""

from dataclasses import dataclass, field, replace
from typing import Literal

from handrail.frozen import frozen
from handrail.model.workflow.actions import (
    ApprovalAction,
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    ParallelAction,
    body,
)
from handrail.model.workflow.guidance import GuidedLoopAction
from handrail.model.workflow.plan import Plan, Step
from handrail.operations.workflows.condition_text import condition_words

Shape = Literal["start", "end", "step", "question", "gate", "approval", "holder"]
MAX_LENGTH = 60


@frozen
class Box:
    """One box of the drawing."""

    id: str
    label: str
    shape: Shape
    depth: int = 0
    reached: bool = True


@frozen
class Arrow:
    """An arrow from one box to another."""

    start: str
    end: str
    label: str = ""


@frozen
class _OpenArrow:
    """An arrow that will end at the next box."""

    start: str
    label: str = ""


@dataclass(slots=True)
class FlowGraph:
    """Boxes from top to bottom, and the arrows between them."""

    reached: frozenset[str]
    boxes: list[Box] = field(default_factory=list[Box])
    arrows: list[Arrow] = field(default_factory=list[Arrow])

    def box(self, label: str, shape: Shape, depth: int = 0, *, reached: bool = True) -> str:
        """Add a box and return its id."""
        made = Box(f"n{len(self.boxes)}", label, shape, depth, reached)
        self.boxes.append(made)
        return made.id

    def join(self, loose: list[_OpenArrow], to: str) -> None:
        """Let loose arrows end at a box."""
        self.arrows += [Arrow(each.start, to, each.label) for each in loose]


def flow_graph(plan: Plan, reached: frozenset[str]) -> FlowGraph:
    """Build the boxes and arrows of a plan; steps that are not reached are marked."""
    graph = FlowGraph(reached)
    loose = [_OpenArrow(graph.box(plan.name, "start"))]
    loose = _steps(graph, plan.steps, loose, "", 0)
    graph.join(loose, graph.box("done", "end"))
    return graph


def _steps(
    graph: FlowGraph, steps: tuple[Step, ...], loose: list[_OpenArrow], prefix: str, depth: int
) -> list[_OpenArrow]:
    known: dict[str, str] = {}
    for step in steps:
        skipped: list[_OpenArrow] = []
        if step.when is not None:
            words = _short(condition_words(step.when))
            asked = graph.box(words, "question", depth, reached=prefix + step.name in graph.reached)
            graph.join(loose, asked)
            loose, skipped = [_OpenArrow(asked, "yes")], [_OpenArrow(asked, "no")]
        first = len(graph.boxes)
        loose = [*_step(graph, step, loose, prefix, depth), *skipped]
        known[step.name] = skipped[0].start if skipped else graph.boxes[first].id
        if isinstance(step.action, ApprovalAction) and step.action.revise in known:
            graph.arrows.append(Arrow(graph.boxes[first].id, known[step.action.revise], "revise"))
    return loose


def _step(graph: FlowGraph, step: Step, loose: list[_OpenArrow], prefix: str, depth: int) -> list[_OpenArrow]:
    place = prefix + step.name
    box = graph.box(_label(step), _shape(step), depth, reached=place in graph.reached)
    graph.join(loose, box)
    if isinstance(step.action, EndAction):
        return []
    inner = body(step.action)
    if not inner:
        return [_OpenArrow(box, "approved" if isinstance(step.action, ApprovalAction) else "")]
    last = _steps(graph, inner, [_OpenArrow(box, _entry_label(step))], f"{place}/", depth + 1)
    if isinstance(step.action, GroupAction):
        return last
    if isinstance(step.action, ParallelAction):
        # Items run in parallel, and what follows waits for all of them: nothing leads back.
        return [*(replace(each, label=each.label or "all done") for each in last), _OpenArrow(box, "no items")]
    graph.join([replace(each, label=each.label or "again") for each in last], box)
    return [_OpenArrow(box, "over")]


def _entry_label(step: Step) -> str:
    return (
        "" if isinstance(step.action, GroupAction) else "each" if isinstance(step.action, ParallelAction) else "round"
    )


def _shape(step: Step) -> Shape:
    match step.action:
        case GateAction():
            return "gate"
        case ApprovalAction():
            return "approval"
        case EndAction():
            return "end"
        case LoopAction() | ParallelAction() | GroupAction() | GuidedLoopAction():
            return "holder"
        case _:
            return "step"


def _label(step: Step) -> str:
    more = ""
    if isinstance(step.action, LoopAction | GuidedLoopAction):
        more = f", at most {step.action.max_iterations} rounds"
    if isinstance(step.action, EndAction):
        more = f", {step.action.status}"
    return f"{step.name} ({step.action.kind}{more})"


def _short(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…"
