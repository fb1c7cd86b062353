"""Warns where a project binds a workflow's slots otherwise than when the run was pinned; the run keeps its own."""

from collections.abc import Iterator
from pathlib import Path

from handrail.compiler.workrail.passes.bindings import overrides_in
from handrail.model.history.run_state import RunState
from handrail.model.workflow.guidance import Slot
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.answers import Caution
from handrail.operations.pull.desk import Desk
from handrail.runtime.history import plan_of
from handrail.sources.open_workflow import bindings_for


def binding_drift(desk: Desk, state: RunState) -> tuple[Caution, ...]:
    """Compare the slots of a run with what the bindings file of its workspace says now."""
    plan = plan_of(desk.log, state.plan)
    workspace = state.workspace or (state.tree.path if state.tree is not None else "")
    if plan.guided is None or not plan.guided.slots or not workspace:
        return ()
    bindings = bindings_for(desk.place(Path(workspace)))
    now = overrides_in(bindings, state.workflow) if bindings is not None else {}
    return tuple(_drifted(plan.guided.slots, now))


def _drifted(slots: tuple[Slot, ...], now: dict[str, str]) -> Iterator[Caution]:
    for slot in slots:
        current = now.get(slot.id)
        if current != slot.bound_to and (slot.overridden or current is not None):
            yield _caution(slot, current)


def _caution(slot: Slot, current: str | None) -> Caution:
    became = "the override was removed" if current is None else f"the project binds it to '{current}' now"
    message = f"slot '{slot.id}': this run was pinned to '{slot.bound_to}', and {became}; the run keeps what it has"
    data: dict[str, JsonValue] = {"slotId": slot.id, "pinnedValue": slot.bound_to, "currentValue": current}
    return Caution(code="BINDING_DRIFT", message=message, data=data)
