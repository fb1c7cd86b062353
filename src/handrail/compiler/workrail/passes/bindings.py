"""Second pass: replaces each slot's token with what the project, or else the workflow, binds to the slot."""

import re
from dataclasses import replace

from handrail.authoring.readers.locate import span_at
from handrail.compiler.extension_points import ExtensionPoint, fill_slots
from handrail.compiler.workrail.message_names import list_names, quote_name
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import mappings, text, texts
from handrail.compiler.workrail.visit import change_prompts, rewrite
from handrail.model.diagnostics import Report
from handrail.model.source import Document, Mapping, Scalar
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.guidance import Slot

TOKEN = re.compile(r"\{\{wr\.bindings\.([^\s{}]+)\}\}")


def resolve_bindings(document: Document, work: Compilation) -> Document:
    """Resolve every `{{wr.bindings.SLOT}}` in the prompts."""
    root = document.root
    points = (_point(each) for each in mappings(root, "extensionPoints"))
    slots = fill_slots(points, text(root, "id") or "", work.catalog, work.report)
    work.slots.extend(slots.values())
    return rewrite(document, lambda step: (change_prompts(step, lambda leaf: _fill_slots(leaf, slots, work.report)),))


def _point(node: Mapping) -> ExtensionPoint:
    slot, default = node.entries["slotId"].value, node.entries["default"].value
    purpose, accepts = text(node, "purpose") or "", texts(node, "acceptedKinds")
    return ExtensionPoint(text(node, "slotId") or "", text(node, "default") or "", slot, default, purpose, accepts)


def _fill_slots(leaf: Scalar, slots: dict[str, Slot], report: Report) -> Scalar:
    value = str(leaf.value)
    if "{{wr.bindings." not in value:
        return leaf
    for found in TOKEN.finditer(value):
        if found[1] not in slots:
            hint = "declared slots: " + list_names(slots) if slots else "declare it in 'extensionPoints'"
            message = f"no slot {quote_name(found[1])} is declared{did_you_mean(found[1], slots)}"
            report.error("unknown-slot", message, span_at(leaf, *found.span()), hint)
    filled = TOKEN.sub(lambda found: slots[found[1]].bound_to if found[1] in slots else found[0], value)
    return leaf if filled == value else replace(leaf, value=filled, style="made")
