"""Says before a run what will become of its pull requests, as far as that depends on the place."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.ports.log import Log
from handrail.ports.repositories import Repositories
from handrail.ports.trackers import TrackerCatalog
from handrail.runtime.history import state_of
from handrail.runtime.run_summary import repository_of


def list_pull_request_notices(
    log: Log, repositories: Repositories, catalog: TrackerCatalog, run: str, steps: Sequence[str]
) -> Iterator[str]:
    """Say of each step that cannot open a pull request here what it does instead."""
    why = _find_obstacle(log, repositories, catalog, run)
    if why:
        yield from (f"step '{step}' opens no pull request: {why}" for step in steps)


def _find_obstacle(log: Log, repositories: Repositories, catalog: TrackerCatalog, run: str) -> str:
    folder = repository_of(state_of(log, run))
    try:
        url = repositories.remote_url(repositories.find_root(Path(folder))) if folder else ""
    except WorkspaceFault:
        url = ""
    if not url:
        return "there is no remote to push to; it leaves the branch, with the command that merges it"
    repository = catalog.repository_of(url, run)
    if repository is None:
        return "the remote is not on GitHub; it leaves the branch, with the command that pushes it"
    if not catalog.token_for(repository, run):
        return f"there is no token for {repository.host}; it leaves the branch, with the command that pushes it"
    return ""
