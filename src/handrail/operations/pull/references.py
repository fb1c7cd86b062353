"""The documents that a workflow refers to, as a connected agent sees or reads them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from handrail.errors import NotFound
from handrail.model.history.events import RunForked, RunStarted
from handrail.model.history.run_state import RunState
from handrail.model.workflow.guidance import Reference
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.answers import Caution, Item, Lifecycle
from handrail.operations.pull.call_context import CallContext
from handrail.operations.runs.references import ResolvedReference, bases_of, plan_references
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import plan_of
from handrail.sources.foreign_files import NOT_THERE, Refusal, decode, printable, read_bytes
from handrail.sources.tiers import Location


def read_reference(plan: Plan, place: Location, wanted: str) -> str:
    """Read the document behind a reference, as it is now; one outside its folder is refused."""
    reference = next((each for each in plan_references(plan) if each.id == wanted), None)
    if reference is None:
        known = ", ".join(each.id for each in plan_references(plan)) or "none"
        raise NotFound(f"'{plan.name}' has no reference '{printable(wanted)}'", next_step=f"its references: {known}")
    read = [_read_text(base / reference.source, base) for base in bases_of(reference, place)]
    text = next((each for each in read if not isinstance(each, Refusal)), read[0] if read else Refusal(NOT_THERE))
    if isinstance(text, Refusal):
        raise NotFound(
            f"the reference '{reference.id}' cannot be read: {text}", next_step="continue without it, and say so"
        )
    return text


def _read_text(path: Path, base: Path) -> str | Refusal:
    data = read_bytes(path, base)
    return data if isinstance(data, Refusal) else decode(data)


def references_of(ctx: CallContext, state: RunState) -> tuple[ResolvedReference, ...]:
    """Return the references of a run as they were found when it started."""
    declared = plan_references(plan_of(ctx.log, state.plan))
    if not declared:
        return ()
    # Where the documents of an imported run were says nothing about this machine.
    pinned: Mapping[str, JsonValue] = {} if state.imported else _read_pinned(ctx, state.run)
    return tuple(_resolve_pinned(each, pinned.get(each.id)) for each in declared)


def _resolve_pinned(reference: Reference, pinned: JsonValue) -> ResolvedReference:
    """Resolve a reference as pinned; a run that no agent started has nothing pinned, so its declaration is used."""
    if not isinstance(pinned, dict):
        return ResolvedReference(reference, reference.source)
    return ResolvedReference(reference, str(pinned.get("path")), str(pinned.get("problem") or ""))


def _read_pinned(ctx: CallContext, run: str) -> Mapping[str, JsonValue]:
    first = decode_event(ctx.log.read(run, limit=1)[0])
    while isinstance(first, RunForked):
        first = decode_event(ctx.log.read(first.source, limit=1)[0])
    return cast("RunStarted", first).references


def references_item(found: tuple[ResolvedReference, ...], lifecycle: Lifecycle) -> tuple[Item, ...]:
    """Build the item that follows an answer: full at the start, short for a returning agent, none in between."""
    if not found or lifecycle == "advance":
        return ()
    entries = (
        [_full_entry(each) for each in found] if lifecycle == "start" else [_compact_entry(each) for each in found]
    )
    heading = "# References\n\nDocuments that this workflow relies on. Read those that your step needs."
    text = f"{heading}\n\n" + "\n".join(entries)
    return (Item(kind="references", text=text, data=[each.document() for each in found]),)


def _full_entry(each: ResolvedReference) -> str:
    declared = each.reference
    marks = (
        *((" (authoritative)",) if declared.authoritative else ()),
        *((" [unresolved]",) if each.problem else ()),
        *((" [package]",) if declared.resolve_from == "package" else ()),
    )
    return f"- {declared.title}{''.join(marks)}\n  Path: {each.path}\n  Purpose: {declared.purpose}"


def _compact_entry(each: ResolvedReference) -> str:
    return f"- {each.reference.title}{' [unresolved]' if each.problem else ''}: {each.path}"


def reference_cautions(found: Iterable[ResolvedReference]) -> tuple[Caution, ...]:
    """Warn about references that could not be resolved."""
    return tuple(_caution(each) for each in found if each.problem)


def _caution(each: ResolvedReference) -> Caution:
    message = f"the reference '{each.reference.title}' could not be resolved ({each.path}): {each.problem}"
    data: dict[str, JsonValue] = {"referenceId": each.reference.id}
    return Caution(code="REFERENCE_UNRESOLVED", message=f"{message}; continue without it, and say so", data=data)
