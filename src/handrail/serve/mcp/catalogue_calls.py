"""Answers the calls that find things: workflows to start, one workflow in full, a run to resume."""

from typing import Any

from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.list_workflows import WorkflowOffers, list_offers
from handrail.operations.pull.workflow_offer import WorkflowOffer
from handrail.operations.workflows.list import WorkflowEntry
from handrail.serve.mcp.catalogue_rows import diagnostic_row, workflow_row
from handrail.serve.mcp.tool_result import ToolResult

Data = dict[str, Any]
_SHORT = 200
"""The number of characters of a description in the text of a list."""


def list_workflows(ctx: CallContext, given: Data) -> ToolResult:
    """List the workflows that can be started from a folder."""
    tags = tuple(given.get("tags") or ())
    found = list_offers(ctx, ctx.place_of(given["workspacePath"]), tags)
    warnings = [warning for each in found.broken for warning in _warnings(each)]
    data: Data = {
        "workflows": [workflow_row(each, sources=bool(given.get("includeSources"))) for each in found.workflows],
        "tagSummary": [{"id": each.tag, "count": each.count, "examples": list(each.examples)} for each in found.tags],
        "validationWarnings": warnings,
        "warnings": [diagnostic_row(each) for each in found.diagnostics],
    }
    if given.get("includeSources"):
        data["sources"] = list(found.sources)
    return ToolResult((_render_list(found, tags, warnings),), data)


def _warnings(broken: WorkflowEntry) -> list[Data]:
    first = [each for each in broken.diagnostics if each.is_error] or list(broken.diagnostics)
    named = {"workflowId": broken.name, "tier": str(broken.tier)}
    return [{**named, **diagnostic_row(each)} for each in first[:5]]


def _render_list(found: WorkflowOffers, tags: tuple[str, ...], warnings: list[Data]) -> str:
    parts = [_heading(found, tags), *map(_line, found.workflows)]
    if not tags and found.tags:
        parts.append("\nTags (pass `tags` to filter): " + ", ".join(f"{t.tag} ({t.count})" for t in found.tags))
    if warnings:
        parts.append("\nFiles that cannot be used:")
        parts += [f"- {each['file']}:{each['line']}: {each['message']}" for each in warnings]
    parts += [f"\nNote: {each.file}:{each.line}: {each.message}" for each in found.diagnostics]
    return "\n".join(parts)


def _heading(found: WorkflowOffers, tags: tuple[str, ...]) -> str:
    of = f" with the tag {' or '.join(tags)}" if tags else ""
    if not found.workflows:
        return f"There are no workflows{of} here."
    how = "start_workflow starts one, inspect_workflow shows one in full"
    return f"{len(found.workflows)} workflow{'' if len(found.workflows) == 1 else 's'}{of}; {how}.\n"


def _line(each: WorkflowOffer) -> str:
    about = each.about
    text = " ".join(about.description.split())
    short = text if len(text) <= _SHORT else text[: _SHORT - 1].rstrip() + "…"
    title = f" {each.title}:" if each.title != about.name else ""
    needs = f" [cannot be started yet: {each.distrust}; {each.needs}]" if each.distrust else ""
    return f"- {about.name}:{title} {short}{needs}"
