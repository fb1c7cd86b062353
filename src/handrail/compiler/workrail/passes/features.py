"""Third pass: adds the texts of the workflow's features to every step whose prompt is written in blocks."""

import re
from collections.abc import Iterator

from handrail.compiler.builtins import Builtins, Feature
from handrail.compiler.workrail.capability_levels import FEATURE as CAPABILITIES
from handrail.compiler.workrail.capability_levels import feature_levels, merge_levels, read_levels
from handrail.compiler.workrail.message_names import describe_unknown, list_names, quote_name
from handrail.compiler.workrail.passes.feature_config import config_text, feature_config
from handrail.compiler.workrail.passes.prompt_blocks import render_blocks
from handrail.compiler.workrail.passes.refs import resolve_blocks
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import change_texts, items, make_scalar, mapping, node_of, set_entry, text
from handrail.compiler.workrail.visit import rewrite
from handrail.frozen import frozen
from handrail.model.source import Document, Mapping, Node, Scalar, Sequence
from handrail.model.workflow.guidance import FeatureUse
from handrail.model.workflow.values import JsonValue

SETTING = re.compile(r"\{config\.([A-Za-z_][A-Za-z0-9_]*)\}")


@frozen
class Addition:
    """The texts that one feature adds to each section."""

    sections: dict[str, tuple[Node, ...]]


def apply_features(document: Document, work: Compilation) -> Document:
    """Append each feature's texts after the author's, in the order in which the features are declared."""
    additions = _additions(document.root, work)
    return rewrite(document, lambda step: (_apply_additions(step, additions, work.catalog.builtins),))


def feature_lines(root: Mapping, work: Compilation) -> str:
    """Render the texts of a workflow's features as sections that can follow any prompt."""
    blocks = _extend_blocks(Mapping({}, root.span), _additions(root, work), work.catalog.builtins)
    return render_blocks(resolve_blocks(blocks, work))


def _additions(root: Mapping, work: Compilation) -> list[Addition]:
    additions: list[Addition] = []
    seen: set[str] = set()
    for node in items(root, "features"):
        feature = _feature(node, seen, work)
        if feature is not None:
            additions.append(_addition(feature, node, root, work))
    return additions


def _feature(node: Node, seen: set[str], work: Compilation) -> Feature | None:
    place = node.entries["id"].value if isinstance(node, Mapping) else node
    feature_id = str(place.value) if isinstance(place, Scalar) else ""
    if feature_id in seen:
        work.report.error("bad-value", f"feature {quote_name(feature_id)} appears twice in the list", place)
        return None
    seen.add(feature_id)
    found = work.catalog.builtins.feature(feature_id)
    if found is None:
        known = work.catalog.builtins.feature_ids()
        hint = "known features: " + list_names(known)
        work.report.error("unknown-feature", describe_unknown("feature", feature_id, known), place, hint)
    return found


def _addition(feature: Feature, node: Node, root: Mapping, work: Compilation) -> Addition:
    given = mapping(node, "config") if isinstance(node, Mapping) else None
    config = feature_config(feature.config, given, work.report)
    if feature.id == CAPABILITIES and config is not None:
        declared = {name: level for name, level, _ in read_levels(root) if level is not None}
        work.capabilities = feature_levels(given, declared, work.report)
        config = merge_levels(config, work.capabilities)
    # No settings and the defaults alone mean the same, so both are stored in the same form.
    work.features.append(FeatureUse(feature.id, dict(config) if config is not None else None))

    def fill_node(value: JsonValue) -> Node:
        return change_texts(node_of(value, node.span), lambda leaf: _fill_settings(leaf, config or {}), skip="refId")

    return Addition(
        {
            "constraints": tuple(fill_node(value) for value in feature.constraints),
            "procedure": tuple(fill_node(value) for value in feature.procedure),
            "verify": tuple(fill_node(value) for value in feature.verify),
        }
    )


def _fill_settings(leaf: Scalar, config: dict[str, JsonValue]) -> Scalar:
    def setting(found: re.Match[str]) -> str:
        return config_text(config[found[1]]) if found[1] in config else found[0]

    return make_scalar(SETTING.sub(setting, str(leaf.value)), leaf.span)


def _apply_additions(step: Mapping, additions: list[Addition], builtins: Builtins) -> Mapping:
    blocks = mapping(step, "promptBlocks")
    return step if blocks is None else set_entry(step, "promptBlocks", _extend_blocks(blocks, additions, builtins))


def _extend_blocks(blocks: Mapping, additions: list[Addition], builtins: Builtins) -> Mapping:
    said = [each for entry in blocks for each in _texts(entry.value, builtins)]
    for addition in additions:
        for section, added in addition.sections.items():
            new = [each for each in added if not _is_said(each, said, builtins)]
            said += [one for each in new for one in _texts(each, builtins)]
            if new:
                place = blocks.get(section) or blocks
                blocks = set_entry(blocks, section, Sequence((*items(blocks, section), *new), place.span))
    return blocks


def _is_said(node: Node, said: list[str], builtins: Builtins) -> bool:
    """Whether a step already contains a text, in its own words or by a reference to it."""
    return all(any(one in each for each in said) for one in _texts(node, builtins))


def _texts(node: Node, builtins: Builtins) -> Iterator[str]:
    """Iterate over the paragraphs of a value, with references resolved to the library's text."""
    if isinstance(node, Scalar):
        yield str(node.value).strip()
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _texts(item, builtins)
    elif text(node, "kind") == "ref":
        yield builtins.ref(text(node, "refId") or "") or ""
    else:
        for entry in node:
            yield from _texts(entry.value, builtins) if entry.name != "kind" else ()
