"""The form of workflows and diagnostics as data, for all calls that return them."""

from typing import Any

from handrail.model.diagnostics import Diagnostic
from handrail.operations.pull.workflow_offer import WorkflowOffer

Data = dict[str, Any]
_STALE = {
    "none": "it was reviewed against the current authoring spec",
    "likely": "it was reviewed against another version of the authoring spec",
    "possible": "it does not say against which version of the authoring spec it was reviewed",
}


def workflow_row(each: WorkflowOffer, *, sources: bool) -> Data:
    """Convert a workflow to data; with `sources`, also where it was found."""
    about = each.about
    row: Data = {
        "workflowId": about.name,
        "name": each.title,
        "description": about.description,
        "version": each.version,
        "kind": each.kind,
        "form": about.form,
        "tier": str(about.tier),
        "workflowHash": about.hash,
        "tags": list(each.tags),
        "startable": not each.distrust,
    }
    if about.staleness is not None:
        row["staleness"] = {"level": about.staleness, "reason": _STALE[about.staleness]}
    if each.distrust:
        row |= {"reason": each.distrust, "userMust": each.needs}
    return {**row, "path": about.path, "hides": list(about.shadows)} if sources else row


def diagnostic_row(each: Diagnostic) -> Data:
    """Convert a diagnostic to data."""
    return {
        "file": each.file,
        "line": each.line,
        "column": each.column,
        "code": each.code,
        "message": each.message,
        "suggestedFix": each.hint or "",
    }
