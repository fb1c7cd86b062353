"""Finds the workflow that a person means: by a name, a file, a folder, or a folder of workflows."""

from pathlib import Path

from handrail.errors import NotFound
from handrail.model.diagnostics import Report
from handrail.sources.tiers import Location, WorkflowFile, find
from handrail.sources.workflow_files import WorkflowCandidate, find_candidate, workflows_in


def find_one_workflow(place: Location, text: str, report: Report | None = None) -> WorkflowFile:
    """Find a workflow by name or path; a path needs no slash if no workflow has that name."""
    report = Report() if report is None else report
    try:
        return find(place, text, report)
    except NotFound:
        path = _path(place, text)
        if path is None or find_candidate(path) is None:
            raise
        return find(place, str(path), report)


def find_workflows(place: Location, text: str, report: Report) -> list[WorkflowFile]:
    """Find a workflow, or all workflows of a folder that is not a workflow itself."""
    try:
        return [find_one_workflow(place, text, report)]
    except NotFound:
        path = _path(place, text)
        inside = _find_in_folder(path) if path is not None else []
        if not inside:
            raise
        return [find(place, str(each.main), report) for each in inside]


def _path(place: Location, text: str) -> Path | None:
    return (place.cwd or Path.cwd()) / text if text and "\0" not in text else None


def _find_in_folder(path: Path) -> list[WorkflowCandidate]:
    try:
        return workflows_in(path) if path.is_dir() else []
    except OSError:
        return []
