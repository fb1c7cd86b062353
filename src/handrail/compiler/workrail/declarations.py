"""Lowers what a workflow declares beside its steps: capabilities, references, preferences and texts."""

import re
from collections.abc import Iterator
from typing import Literal, cast

from handrail.authoring.workrail.schema import LEVELS
from handrail.compiler.workrail.functions import Functions
from handrail.compiler.workrail.message_names import quoted
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import flag, mapping, mappings, text, texts
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.guidance import Capability, GuidedWorkflow, Reference, Tier

KNOWN_CAPABILITIES = ("delegation", "web_browsing")
DRIVE = re.compile(r"[A-Za-z]:")


def lower_workflow(root: Mapping, work: Compilation, functions: Functions) -> GuidedWorkflow:
    """Gather everything that only WorkRail-style workflows declare."""
    preferences = mapping(root, "recommendedPreferences") or root
    return GuidedWorkflow(
        version=text(root, "version"),
        title=text(root, "name") or "",
        about=text(root, "about") or "",
        examples=texts(root, "examples"),
        tags=texts(root, "tags"),
        preconditions=texts(root, "preconditions"),
        clarification_prompts=texts(root, "clarificationPrompts"),
        meta_guidance=texts(root, "metaGuidance"),
        agent_role=text(root, "agentRole"),
        capabilities=lower_capabilities(root, work.report),
        features=tuple(work.features),
        slots=tuple(work.slots),
        references=lower_references(root, work.report),
        functions=functions,
        autonomy=text(preferences, "recommendedAutonomy"),
        risk_policy=text(preferences, "recommendedRiskPolicy"),
        model_tier=cast("Tier | None", text(root, "modelTier")),
        metrics_profile=text(root, "metricsProfile"),
    )


def lower_capabilities(root: Mapping, report: Report) -> tuple[Capability, ...]:
    """Lower capabilities of both forms, sorted by name; what is disabled is as if it were not there."""
    levels: dict[str, str] = {}
    for name, level, place in _capabilities(mapping(root, "capabilities"), report):
        if levels.setdefault(name, level) != level:
            message = f"capability {quoted(name)} is both {levels[name]} and {level}"
            report.error("conflicting-keys", message, place, "keep one of them")
        if name not in KNOWN_CAPABILITIES:
            message = f"capability {quoted(name)} is not known{did_you_mean(name, KNOWN_CAPABILITIES)}"
            report.warning("unknown-capability", message, place, "known: " + ", ".join(KNOWN_CAPABILITIES))
    kept = sorted((name, level) for name, level in levels.items() if level != "disabled")
    return tuple(Capability(name, cast('Literal["required", "preferred"]', level)) for name, level in kept)


def _capabilities(node: Mapping | None, report: Report) -> Iterator[tuple[str, str, Node | Entry]]:
    for entry in node or ():
        value = entry.value
        if isinstance(value, Scalar):
            yield entry.name, str(value.value), entry
        elif isinstance(value, Sequence) and entry.name in LEVELS:
            for item in value.items:
                yield (str(item.value) if isinstance(item, Scalar) else ""), entry.name, item
        else:
            hint = "write a level for a capability, or capabilities under required, preferred or disabled"
            report.error("bad-value", f"'{entry.name}' cannot hold a list", entry, hint)


def lower_references(root: Mapping, report: Report) -> tuple[Reference, ...]:
    """Lower references and refuse paths that lead out of their folder."""
    found: dict[str, Reference] = {}
    for node in mappings(root, "references"):
        reference = _reference(node)
        if reference.id in found:
            message = f"reference '{reference.id}' is declared twice"
            report.error("duplicate-reference", message, node.entries["id"].value, "rename one of them")
        found[reference.id] = reference
        problem = path_problem(reference.source)
        if problem is not None:
            hint = "write a path below the workspace, with forward slashes, such as docs/guide.md"
            report.error("path-escape", f"the path {problem}", node.entries["source"].value, hint)
    return tuple(found.values())


def _reference(node: Mapping) -> Reference:
    return Reference(
        text(node, "id") or "",
        text(node, "title") or "",
        text(node, "source") or "",
        text(node, "purpose") or "",
        authoritative=flag(node, "authoritative"),
        resolve_from="package" if "package" in (text(node, "resolveFrom"), text(node, "resolve_from")) else "workspace",
    )


def path_problem(path: str) -> str | None:
    """Say why a path may not be used, or give None."""
    if "\0" in path:
        return "holds a NUL character"
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/") or DRIVE.match(path):
        return "is absolute"
    return "leads out of its folder" if ".." in path.split("/") else None
