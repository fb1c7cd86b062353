"""What surrounds an answer for an agent that starts or returns: supplements, references, warnings, a recap."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from handrail.compiler.extension_points import overrides_in
from handrail.model.history.run_state import RunState
from handrail.model.workflow.guidance import Slot
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.answers import Answer, Caution
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.decision_trace import newest_trace
from handrail.operations.pull.recap import recovery_text
from handrail.operations.pull.references import reference_cautions, references_item, references_of
from handrail.operations.pull.supplements import supplements_for
from handrail.runtime.history import plan_of
from handrail.sources.open_workflow import bindings_for


def add_start_context(ctx: CallContext, answer: Answer) -> Answer:
    """Complete the answer to a start with supplements, references and warnings."""
    found = references_of(ctx, answer.state)
    return replace(
        answer,
        before=supplements_for("start"),
        after=references_item(found, "start"),
        warnings=(*answer.warnings, *_caution_about_checkout(answer.state), *reference_cautions(found)),
        trace=newest_trace(ctx, answer.state),
    )


def _caution_about_checkout(state: RunState) -> tuple[Caution, ...]:
    """Warn in which folder the steps are done: no worktree is created for a run that a connected agent starts."""
    if state.source is not None or (state.tree is not None and state.tree.owned):
        return ()
    folder = state.workspace or ("" if state.tree is None else state.tree.path)
    message = (
        f"you work in your user's own folder, {folder}: Handrail does not create a worktree for a run that a connected"
        " agent starts, so every change takes effect there at once. Say so to your user; if that is not wanted, create"
        " a worktree first and start the workflow there"
    )
    return (Caution(code="WORKS_IN_PLACE", message=message, data={"workspacePath": folder}),)


def add_return_context(ctx: CallContext, answer: Answer) -> Answer:
    """Complete the answer to a returning agent with supplements, references, warnings and a recap."""
    state = answer.state
    return replace(
        answer,
        before=supplements_for("rehydrate"),
        after=references_item(references_of(ctx, state), "rehydrate"),
        warnings=(*answer.warnings, *binding_drift(ctx, state)),
        trace=newest_trace(ctx, state),
        recovery=recovery_text(plan_of(ctx.log, state.plan), state),
    )


def binding_drift(ctx: CallContext, state: RunState) -> tuple[Caution, ...]:
    """Warn if a project now binds a workflow's slots differently than at the start of the run, which keeps its own."""
    plan = plan_of(ctx.log, state.plan)
    workspace = state.workspace or (state.tree.path if state.tree is not None else "")
    if plan.guided is None or not plan.guided.slots or not workspace:
        return ()
    bindings = bindings_for(ctx.place(Path(workspace)))
    now = overrides_in(bindings, state.workflow) if bindings is not None else {}
    return tuple(_find_drifts(plan.guided.slots, now))


def _find_drifts(slots: tuple[Slot, ...], now: dict[str, str]) -> Iterator[Caution]:
    for slot in slots:
        current = now.get(slot.id)
        if current != slot.bound_to and (slot.overridden or current is not None):
            yield _caution(slot, current)


def _caution(slot: Slot, current: str | None) -> Caution:
    became = "the override was removed" if current is None else f"the project has bound it to '{current}'"
    message = (
        f"slot '{slot.id}': this run was pinned to '{slot.bound_to}', and since then {became};"
        " the run keeps its binding"
    )
    data: dict[str, JsonValue] = {"slotId": slot.id, "pinnedValue": slot.bound_to, "currentValue": current}
    return Caution(code="BINDING_DRIFT", message=message, data=data)
