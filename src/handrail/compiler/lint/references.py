"""References meant for the author of a workflow, which do not help the agent that carries it out."""

import re

from handrail.compiler.lint.context import LintContext
from handrail.compiler.workrail.tree import mappings, text
from handrail.model.source import Mapping

FOR_AUTHORS = re.compile(
    r"\bauthoring[ _.-]?(?:spec\w*|provenance|guid\w+|rules?|principles?|reference|truth)\b"
    r"|\bworkflow[ _.-]?(?:json[ _.-])?schema\b"
    r"|\bworkflow[ _-]authoring\b"
    r"|\b(?:maintainer|design|authoring)[ _-](?:provenance|rationale)\b"
    r"|\b(?:how|why) (?:this|the) workflow (?:was|is|came to be) (?:designed|written|made|built|authored|structured)\b"
    r"|\bfor (?:the )?(?:maintainers?|authors?) of (?:this|the) workflow\b",
    re.IGNORECASE,
)
ABOUT_WORKFLOWS = re.compile(
    r"\b(?:author|write|writ|creat|design|validat|check|lint|moderni[sz]|improv|maintain|review|audit)\w*"
    r"(?: (?:or|and) \w+)?(?: (?:a|an|the|your|new|existing|workrail|handrail))* workflows?\b"
    r"|\bworkflows?[ -](?:authoring|validation|design|maintenance)\b"
    r"|\bfor[ -]workflows\b",
    re.IGNORECASE,
)
"""Matches descriptions of workflows whose subject is workflows themselves."""


def lint_references(context: LintContext) -> None:
    """Advise against references that explain the workflow instead of helping with its task."""
    root = context.document.root
    if any(ABOUT_WORKFLOWS.search(text(root, key) or "") for key in ("id", "name", "description")):
        return
    for node in mappings(root, "references"):
        if _is_for_authors(node):
            name = text(node, "id") or text(node, "title") or ""
            message = f"reference '{name}' is meant for the workflow's author, not for whoever runs it"
            hint = (
                "remove it, or explain in its purpose how it helps with the task;"
                " put what a step needs to know in its prompt"
            )
            place = node.entries.get("id") or node.entries.get("source")
            context.report.advice("reference-for-authors", message, node if place is None else place.value, hint)


def _is_for_authors(node: Mapping) -> bool:
    return any(FOR_AUTHORS.search(text(node, key) or "") for key in ("id", "title", "source", "purpose"))
