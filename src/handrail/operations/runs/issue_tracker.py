"""Where the steps of a run create issues: what is configured, and what can be said of it before the run."""

from pathlib import Path

from handrail.model.diagnostics import Report
from handrail.operations.workflows.repository_config import RepositorySettings, read_configured
from handrail.ports.repositories import Repositories
from handrail.sources.config.issues import merge_issues, read_issues, read_user_issues
from handrail.sources.config.toml_file import parse_toml
from handrail.sources.tiers import Location

LOCALLY = "in the local tracker: handrail issues list"


def read_setting(place: Location) -> str:
    """Return which tracker is configured for a place: `local`, `remote`, or nothing."""
    return _configured(place, read_configured(place))


def _configured(place: Location, found: RepositorySettings | None) -> str:
    own = read_user_issues(place.folders, Report())
    if found is None or found.distrust:
        return own.tracker
    theirs = read_issues(parse_toml(found.content.data, found.shown, Report()), Report())
    return merge_issues(theirs, own).tracker


def describe_tracker(repositories: Repositories, place: Location, found: RepositorySettings | None) -> str:
    """Say where a run that works on no issue of its own creates issues."""
    setting = _configured(place, found)
    root: Path | None = place.repository
    url = repositories.remote_url(root) if root is not None and setting != "local" else ""
    if not url:
        return LOCALLY
    if setting == "remote":
        return "in the tracker of the repository's code host"
    return f"in the tracker of the repository's code host if Handrail has a token for it, else {LOCALLY}"
