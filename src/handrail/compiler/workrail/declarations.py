"""Lowers what a workflow declares besides its steps: capabilities, references, preferences and texts."""

import re
from typing import Literal, cast

from handrail.compiler.workrail.capability_levels import read_levels
from handrail.compiler.workrail.functions import Functions
from handrail.compiler.workrail.message_names import quote_name
from handrail.compiler.workrail.passes_state import Compilation
from handrail.compiler.workrail.tree import flag, mapping, mappings, text, texts
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.guidance import Capability, GuidedWorkflow, Reference, Tier

KNOWN_CAPABILITIES = ("delegation", "web_browsing")
DRIVE = re.compile(r"[A-Za-z]:")


def lower_workflow(root: Mapping, work: Compilation, functions: Functions) -> GuidedWorkflow:
    """Collect the declarations that exist only in WorkRail-style workflows."""
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
        capabilities=lower_capabilities(root, work.capabilities, work.report),
        features=tuple(work.features),
        slots=tuple(work.slots),
        references=lower_references(root, work.report),
        functions=functions,
        autonomy=text(preferences, "recommendedAutonomy"),
        risk_policy=text(preferences, "recommendedRiskPolicy"),
        model_tier=cast("Tier | None", text(root, "modelTier")),
        metrics_profile=text(root, "metricsProfile"),
    )


def lower_capabilities(root: Mapping, of_feature: dict[str, str], report: Report) -> tuple[Capability, ...]:
    """Lower the capabilities of both forms and of the feature, sorted by name, without the disabled ones."""
    levels: dict[str, str] = {}
    for name, level, place in read_levels(root):
        if level is None:
            hint = "write a level for a capability, or capabilities under required, preferred or disabled"
            report.error("bad-value", f"'{name}' cannot be a list", place, hint)
            continue
        if levels.setdefault(name, level) != level:
            message = f"capability {quote_name(name)} is both {levels[name]} and {level}"
            report.error("conflicting-keys", message, place, "keep one of them")
        if name not in KNOWN_CAPABILITIES:
            message = f"unknown capability {quote_name(name)}{did_you_mean(name, KNOWN_CAPABILITIES)}"
            report.warning("unknown-capability", message, place, "known: " + ", ".join(KNOWN_CAPABILITIES))
    kept = sorted((name, level) for name, level in {**of_feature, **levels}.items() if level != "disabled")
    return tuple(Capability(name, cast('Literal["required", "preferred"]', level)) for name, level in kept)


def lower_references(root: Mapping, report: Report) -> tuple[Reference, ...]:
    """Lower references, refusing paths that lead out of their folder."""
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
    """Explain why a path may not be used, or return None."""
    if "\0" in path:
        return "contains a NUL character"
    if "\\" in path:
        return "contains a backslash"
    if path.startswith("/") or DRIVE.match(path):
        return "is absolute"
    return "leads outside its folder" if ".." in path.split("/") else None
