"""Fourth pass: replaces each reference in the parts of a prompt with the library's text."""

from dataclasses import replace

from handrail.compiler.workrail.message_names import describe_unknown, list_names
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import make_scalar, mapping, remove_keys, set_entry, text
from handrail.compiler.workrail.visit import rewrite
from handrail.model.source import Document, Entry, Mapping, Node, Scalar, Sequence


def resolve_refs(document: Document, work: Compilation) -> Document:
    """Resolve every `{kind: ref}` part of the prompt blocks."""
    return rewrite(document, lambda step: (_resolve_step(step, work),))


def _resolve_step(step: Mapping, work: Compilation) -> Mapping:
    blocks = mapping(step, "promptBlocks")
    return step if blocks is None else set_entry(step, "promptBlocks", resolve_blocks(blocks, work))


def resolve_blocks(blocks: Mapping, work: Compilation) -> Mapping:
    """Replace the references in prompt blocks with the library's texts."""
    return replace(
        blocks,
        entries={name: Entry(entry.key, _resolve_node(entry.value, work)) for name, entry in blocks.entries.items()},
    )


def _resolve_node(node: Node, work: Compilation) -> Node:
    if isinstance(node, Sequence):
        return replace(node, items=tuple(_resolve_node(item, work) for item in node.items))
    if isinstance(node, Mapping) and text(node, "kind") == "ref":
        return _part(node, work)
    return node


def _part(part: Mapping, work: Compilation) -> Mapping:
    place = part.entries["refId"].value
    ref_id = text(part, "refId") or ""
    found = work.catalog.builtins.ref(ref_id) if ref_id.startswith("wr.refs.") else None
    if found is None:
        known = work.catalog.builtins.ref_ids()
        hint = "known references: " + list_names(known)
        work.report.error("unknown-ref", describe_unknown("reference", ref_id, known), place, hint)
    plain_part = set_entry(remove_keys(part, "refId"), "kind", Scalar("text", place.span, "made"))
    return set_entry(plain_part, "text", make_scalar(found or ref_id, place.span))
