"""Makes the trackers and code hosts that commands and runs use, each with the environment of its run."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import TrackerFault
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.history.run_lines import Filter
from handrail.model.issues import LOCAL, RepositoryRef
from handrail.model.secrets.redaction import Redactor
from handrail.operations.issues.scope import find_scope
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.pull_requests import PullRequests
from handrail.ports.trackers import Tracker
from handrail.processes.environment import process_redactor
from handrail.sources.config.github import read_github
from handrail.sources.folders import Folders
from handrail.trackers.github.endpoint import Endpoint, GitHubSetting, configured_endpoint, endpoint_for
from handrail.trackers.github.remotes import parse_place, parse_remote
from handrail.trackers.github.variables import NAMES
from handrail.wiring.place import current_place
from handrail.workspace.git_repositories import GitRepositories

if TYPE_CHECKING:
    from handrail.trackers.github import connection, pull_requests, tracker
    from handrail.trackers.local import book as local_book
    from handrail.trackers.local import tracker as local
else:
    connection = late_import("handrail.trackers.github.connection")
    pull_requests = late_import("handrail.trackers.github.pull_requests")
    tracker = late_import("handrail.trackers.github.tracker")
    local = late_import("handrail.trackers.local.tracker")
    local_book = late_import("handrail.trackers.local.book")


class Trackers:
    """Implements the port `TrackerCatalog` on this machine."""

    def __init__(self, folders: Folders, environments: RunEnvironments, log: Log) -> None:
        self._log = log
        self._folders = folders
        self._environments = environments
        table = read_github(folders, Report())
        self._setting = GitHubSetting(table.api_url, table.host)
        self._known: dict[tuple[Endpoint, str], connection.GitHubConnection] = {}

    def repository_of(self, remote: str) -> RepositoryRef | None:
        """Return the repository that the URL of a git remote names; None if its host is not a known code host."""
        named = (configured_endpoint(os.environ, self._setting), configured_endpoint({}, self._setting))
        return parse_remote(remote, tuple(each.host for each in named))

    def tracker(self, place: str, run: str = "") -> Tracker:
        """Return the tracker of a place: `local`, or a repository such as `github.com/acme/shop`."""
        if place == LOCAL:
            return self._make_local(run)
        repository = parse_place(place)
        if repository is None:
            message = f"'{place}' is not a place of issues"
            raise TrackerFault(message, next_step="name a repository as HOST/OWNER/NAME, such as github.com/acme/shop")
        return tracker.GitHubTracker(self._connect(repository.host, run), repository)

    def pull_requests(self, repository: RepositoryRef, run: str = "") -> PullRequests:
        """Return the pull requests of the host of a repository."""
        return pull_requests.GitHubPullRequests(self._connect(repository.host, run))

    def _make_local(self, run: str) -> Tracker:
        """Build the local tracker of the repository that a run works in, or in which a command was called."""
        rows = self._log.summaries(Filter(key=run)) if run else ()
        place = current_place()
        folder = next((row.facts.repository for row in rows if row.facts.repository), None)
        root = Path(folder) if folder else place.repository or place.cwd or Path.cwd()
        scope = find_scope(GitRepositories(self._data), root)
        redactor = self._environment_of(run)[1]
        return local.LocalTracker(local_book.LocalIssues(self._log, scope, time.time, redactor))

    def _connect(self, host: str, run: str) -> "connection.GitHubConnection":
        environ, redactor = self._environment_of(run)
        endpoint = endpoint_for(host, environ, self._setting)
        key = endpoint, run
        if key not in self._known or self._known[key].environ != environ:
            self._known[key] = connection.GitHubConnection(endpoint, environ, self._data, redactor)
        return self._known[key]

    def _environment_of(self, run: str) -> tuple[Mapping[str, str], Redactor]:
        """Return what an environment says about GitHub: that of a run, or of this process."""
        if not run:
            return {name: os.environ[name] for name in NAMES if os.environ.get(name)}, process_redactor()
        environment = self._environments.environment_of(run)
        seen = {**environment.secrets, **environment.variables(NAMES)}
        return {name: seen[name] for name in NAMES if seen.get(name)}, environment.redactor

    @property
    def _data(self) -> Path:
        return self._folders.data
