"""Second pass: puts what the project, or else the workflow, binds to a slot in the place of its token."""

import re
from dataclasses import dataclass, field, replace

from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.readers.locate import span_at
from handrail.compiler.workrail.message_names import listed, quoted
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import mappings, text, texts
from handrail.compiler.workrail.visit import change_prompts, rewrite
from handrail.model.diagnostics import Report
from handrail.model.source import Document, Entry, Mapping, Scalar, SourceText
from handrail.model.suggest import did_you_mean, suggest
from handrail.model.workflow.guidance import Slot

TOKEN = re.compile(r"\{\{wr\.bindings\.([^\s{}]+)\}\}")

LONGEST_ID = 128


@dataclass(slots=True)
class Overrides:
    """What a project's bindings file says for one workflow."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    for_all: bool = False
    """Whether the file speaks to every workflow, so that it may name slots of others."""


def resolve_bindings(document: Document, work: Compilation) -> Document:
    """Resolve every `{{wr.bindings.SLOT}}` in the prompts."""
    slots = _slots(document.root, work)
    work.slots.extend(slots.values())
    return rewrite(document, lambda step: (change_prompts(step, lambda leaf: _bound(leaf, slots, work.report)),))


def _slots(root: Mapping, work: Compilation) -> dict[str, Slot]:
    points = mappings(root, "extensionPoints")
    overrides = Overrides()
    if points and work.catalog.bindings is not None:
        overrides = _overrides(work.catalog.bindings, text(root, "id") or "", work.report)
    slots: dict[str, Slot] = {}
    for point in points:
        slot = _slot(point, overrides)
        if slot.id in slots:
            place = point.entries["slotId"].value
            work.report.error("duplicate-slot", f"slot '{slot.id}' is declared twice", place, "rename one of them")
        slots[slot.id] = slot
    _warn_of_unknown(overrides, slots, work.report)
    return slots


def _slot(point: Mapping, overrides: Overrides) -> Slot:
    slot_id = text(point, "slotId") or ""
    purpose, accepts = text(point, "purpose") or "", tuple(sorted(texts(point, "acceptedKinds")))
    entry = overrides.entries.get(slot_id)
    if entry is not None:
        return Slot(slot_id, purpose, _bound_to(entry), overridden=True, accepts=accepts)
    return Slot(slot_id, purpose, text(point, "default") or "", accepts=accepts)


def _bound_to(entry: Entry) -> str:
    value = entry.value.value if isinstance(entry.value, Scalar) else None
    return value if isinstance(value, str) else ""


def overrides_in(source: SourceText, workflow: str) -> dict[str, str]:
    """Give what a bindings file says for a workflow, slot by slot; what is wrong in it says nothing."""
    return {name: _bound_to(entry) for name, entry in _overrides(source, workflow, Report()).entries.items()}


def _overrides(source: SourceText, workflow: str, report: Report) -> Overrides:
    root = read_json(source, report)
    if root is None:
        return Overrides()
    if not isinstance(root, Mapping):
        hint = 'write {"slot": "id"}, or {"workflow id": {"slot": "id"}}'
        report.error("bad-bindings", "the bindings file must hold a map", root, hint)
        return Overrides()
    if all(_is_text(entry) for entry in root):
        return replace(_section(root, report), for_all=True)
    for entry in root:
        if not isinstance(entry.value, Mapping):
            hint = 'give each workflow its section, {"workflow id": {"slot": "id"}}, or write slots only'
            report.error("bad-bindings", f"{quoted(entry.name)} must hold a map of slots", entry.value, hint)
    section = root.get(workflow)
    return _section(section, report) if isinstance(section, Mapping) else Overrides()


def _section(section: Mapping, report: Report) -> Overrides:
    for entry in section:
        if not 1 <= len(_bound_to(entry)) <= LONGEST_ID:
            message = f"slot {quoted(entry.name)} must be bound to an id, a text of 1 to {LONGEST_ID} characters"
            report.error("bad-bindings", message, entry.value)
    return Overrides({entry.name: entry for entry in section if _is_text(entry)})


def _is_text(entry: Entry) -> bool:
    return isinstance(entry.value, Scalar) and isinstance(entry.value.value, str)


def _warn_of_unknown(overrides: Overrides, slots: dict[str, Slot], report: Report) -> None:
    for name, entry in overrides.entries.items():
        # a file for all workflows may name slots of others, so only what looks like a slip is worth a word
        if name in slots or (overrides.for_all and suggest(name, slots) is None):
            continue
        message = f"the workflow has no slot {quoted(name)}{did_you_mean(name, slots)}"
        report.warning("unknown-slot", message, entry, "its slots: " + listed(slots))


def _bound(leaf: Scalar, slots: dict[str, Slot], report: Report) -> Scalar:
    value = str(leaf.value)
    if "{{wr.bindings." not in value:
        return leaf
    for found in TOKEN.finditer(value):
        if found[1] not in slots:
            hint = "declared slots: " + listed(slots) if slots else "declare it in 'extensionPoints'"
            message = f"no slot {quoted(found[1])} is declared{did_you_mean(found[1], slots)}"
            report.error("unknown-slot", message, span_at(leaf, *found.span()), hint)
    filled = TOKEN.sub(lambda found: slots[found[1]].bound_to if found[1] in slots else found[0], value)
    return leaf if filled == value else replace(leaf, value=filled, style="made")
