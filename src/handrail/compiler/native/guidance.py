"""Lowers what guides a whole workflow: rules, references, features, capabilities, slots and named assessments."""

from handrail.compiler.extension_points import ExtensionPoint, fill_slots
from handrail.compiler.native.context import Lowering, text_of, texts_of
from handrail.compiler.native.proofs import lower_assessment
from handrail.compiler.workrail.declarations import lower_capabilities, lower_references
from handrail.compiler.workrail.passes.features import feature_lines
from handrail.compiler.workrail.passes_state import Compilation
from handrail.model.source import Entry, Mapping
from handrail.model.workflow.guidance import Reference


def lower_guides(work: Lowering) -> None:
    """Lower what the document declares for all of its steps; this runs before any step is lowered."""
    root = work.document.root
    work.guides.guidance.update(dict.fromkeys(texts_of(root.get("guidance"))))
    for reference in lower_references(root, work.report):
        _add_reference(work, root, reference)
    for capability in lower_capabilities(root, _lower_features(work, root), work.report):
        known = work.guides.capabilities.get(capability.name)
        if known is None or known.level != "required":
            work.guides.capabilities[capability.name] = capability
    _lower_slots(work, root)
    named = root.get("assessments")
    for entry in named if isinstance(named, Mapping) else ():
        lower_assessment(work, entry.name, entry.value)


def _add_reference(work: Lowering, root: Mapping, reference: Reference) -> None:
    before = work.guides.references.setdefault(reference.id, reference)
    if before != reference:
        message = f"reference '{reference.id}' is declared differently by the workflow that uses this one"
        work.report.error("duplicate-reference", message, root.entries["references"], "rename one of them")


def _lower_features(work: Lowering, root: Mapping) -> dict[str, str]:
    """Lower the features, and return the capabilities in their settings with their levels."""
    if "features" not in root:
        return {}
    passes = Compilation(work.catalog, work.report)
    work.feature_lines = feature_lines(root, passes)
    work.guides.features.update((each.id, each) for each in passes.features)
    return passes.capabilities


def _lower_slots(work: Lowering, root: Mapping) -> None:
    node = root.get("extension_points")
    points = tuple(_point(entry) for entry in node) if isinstance(node, Mapping) else ()
    slots = fill_slots(points, text_of(root.get("name")) or "", work.catalog, work.report)
    work.bindings = {name: slot.bound_to for name, slot in slots.items()}
    work.guides.slots.update(slots)


def _point(entry: Entry) -> ExtensionPoint:
    node = entry.value
    if not isinstance(node, Mapping):
        return ExtensionPoint(entry.name, text_of(node) or "", entry.key, node)
    default, purpose = node.entries["default"].value, text_of(node.get("purpose")) or ""
    return ExtensionPoint(
        entry.name, text_of(default) or "", entry.key, default, purpose, texts_of(node.get("accepts"))
    )
