"""What is configured about issues here: the repository's file first, if it is trusted, then the user's own."""

from handrail.model.diagnostics import Report
from handrail.operations.issue_runs.assign_agent import StatusRules
from handrail.operations.issue_runs.start_on_issue import choose_workflow
from handrail.operations.workflows.list import is_routine
from handrail.operations.workflows.repository_config import read_configured
from handrail.sources.config.issues import IssueSetting, merge_issues, read_issues, read_user_issues
from handrail.sources.config.toml_file import parse_toml
from handrail.sources.tiers import Location, discover

__all__ = ["IssueSetting", "configured_issues", "default_workflow", "status_rules"]
NO_SETTING = IssueSetting()


def configured_issues(place: Location) -> IssueSetting:
    """Return what is configured about issues; a repository's file counts only if it is trusted."""
    own, found = read_user_issues(place.folders, Report()), read_configured(place)
    if found is None:
        return own
    theirs = read_issues(parse_toml(found.content.data, found.shown, Report()), Report())
    if found.distrust and theirs != NO_SETTING:
        found.require("[issues]", "needs")
    return merge_issues(theirs, own)


def status_rules(place: Location) -> StatusRules:
    """Return what is configured about the status of issues."""
    setting = configured_issues(place)
    return StatusRules(setting.close is not False, setting.blocked_label)


def default_workflow(place: Location, named: str) -> str:
    """Return the workflow for an issue: the one that is named, else the one that is configured."""
    if named:
        return named
    found = (each.name for each in discover(place, Report()) if each.wins and each.problem is None)
    choices = tuple(name for name in found if not is_routine(name))
    return choose_workflow("", (configured_issues(place).workflow,), choices)
