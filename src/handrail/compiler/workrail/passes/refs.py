"""Fourth pass: replaces each reference in the parts of a prompt with the library's text."""

from dataclasses import replace

from handrail.compiler.workrail.message_names import listed, unknown
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import made, mapping, text, with_entry, without
from handrail.compiler.workrail.visit import rewrite
from handrail.model.source import Document, Entry, Mapping, Node, Scalar, Sequence


def resolve_refs(document: Document, work: Compilation) -> Document:
    """Resolve every `{kind: ref}` part of the prompt blocks."""
    return rewrite(document, lambda step: (_resolved_step(step, work),))


def _resolved_step(step: Mapping, work: Compilation) -> Mapping:
    blocks = mapping(step, "promptBlocks")
    return step if blocks is None else with_entry(step, "promptBlocks", resolve_blocks(blocks, work))


def resolve_blocks(blocks: Mapping, work: Compilation) -> Mapping:
    """Replace the references in prompt blocks with the library's texts."""
    return replace(
        blocks,
        entries={name: Entry(entry.key, _resolved(entry.value, work)) for name, entry in blocks.entries.items()},
    )


def _resolved(node: Node, work: Compilation) -> Node:
    if isinstance(node, Sequence):
        return replace(node, items=tuple(_resolved(item, work) for item in node.items))
    if isinstance(node, Mapping) and text(node, "kind") == "ref":
        return _part(node, work)
    return node


def _part(part: Mapping, work: Compilation) -> Mapping:
    place = part.entries["refId"].value
    ref_id = text(part, "refId") or ""
    found = work.catalog.builtins.ref(ref_id) if ref_id.startswith("wr.refs.") else None
    if found is None:
        known = work.catalog.builtins.ref_ids()
        hint = "known references: " + listed(known)
        work.report.error("unknown-ref", unknown("reference", ref_id, known), place, hint)
    plain_part = with_entry(without(part, "refId"), "kind", Scalar("text", place.span, "made"))
    return with_entry(plain_part, "text", made(found or ref_id, place.span))
