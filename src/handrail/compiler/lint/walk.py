"""Every step of a plan in its place, with the mapping it was written as."""

from collections.abc import Iterator

from handrail.compiler.outcome import StepPositions
from handrail.compiler.workrail.tree import text
from handrail.compiler.workrail.visit import walk_steps
from handrail.frozen import frozen
from handrail.model.source import Document, Mapping, Scalar
from handrail.model.workflow.actions import ParallelAction, body
from handrail.model.workflow.plan import Plan, Step


@frozen(eq=False)
class Visit:
    """A step in its place in the plan."""

    address: str
    step: Step
    node: Mapping | None
    """The step as written; None for a step from another file, which is checked there."""
    siblings: tuple[Step, ...]
    index: int
    order: int
    """Its position among all steps of the plan, from 0."""
    parent: "Visit | None"

    @property
    def is_last(self) -> bool:
        """Whether no step follows in the same list."""
        return self.index == len(self.siblings) - 1

    def ancestors(self) -> Iterator["Visit"]:
        """Iterate over the enclosing steps, innermost first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent

    @property
    def fan_out(self) -> "Visit | None":
        """The nearest enclosing fan-out."""
        return next((each for each in self.ancestors() if isinstance(each.step.action, ParallelAction)), None)


def collect_visits(plan: Plan, document: Document, places: StepPositions) -> tuple[Visit, ...]:
    """List the steps of a plan in the order of its text."""
    found: list[Visit] = []
    _walk(plan.steps, None, _source_nodes(document, places), found)
    return tuple(found)


def _source_nodes(document: Document, places: StepPositions) -> dict[str, Mapping]:
    """Map native steps by address, and WorkRail's by their unique id, as they were before the compiler's passes."""
    if document.dialect == "native":
        return places.nodes
    return {text(step, "id") or "": step for step in walk_steps(document.root)}


def _walk(steps: tuple[Step, ...], parent: Visit | None, written: dict[str, Mapping], found: list[Visit]) -> None:
    for index, step in enumerate(steps):
        address = step.name if parent is None else f"{parent.address}/{step.name}"
        node = written.get(address)
        if node is None and step.action.kind in ("guided", "guided-loop", "delegate"):
            node = written.get(step.name)
        # An expanded step may have the id of its template call; its text is the routine's, not the author's.
        if node is not None and (step.injected is not None or "templateCall" in node):
            node = None
        visit = Visit(address, step, node, steps, index, len(found), parent)
        found.append(visit)
        inner = body(step.action)
        if inner:
            _walk(inner, visit, written, found)


def scalar(node: Mapping | None, *keys: str) -> Scalar | None:
    """Return the scalar at the end of a path of keys, or None."""
    at: object = node
    for key in keys:
        at = at.get(key) if isinstance(at, Mapping) else None
    return at if isinstance(at, Scalar) else None
