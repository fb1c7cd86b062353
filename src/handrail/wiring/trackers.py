"""Makes the trackers and code hosts that commands and runs use, each with the environment of its run."""

import asyncio
import os
import re
import time
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import TrackerFault
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.issues import BEADS, LOCAL, RepositoryRef, is_beads
from handrail.model.secrets.redaction import Redactor
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.pull_requests import PullRequests
from handrail.ports.trackers import AccountHealth, Tracker
from handrail.processes.environment import process_redactor
from handrail.processes.machine_tools import ask_program
from handrail.runtime.history import state_of
from handrail.sources.config.github import read_github
from handrail.sources.folders import Folders, main_checkout, repository_root
from handrail.trackers.github.api.endpoint import PUBLIC, Endpoint, GitHubSetting, configured_endpoint, endpoint_for
from handrail.trackers.github.api.token import Token, find_token, missing_token
from handrail.trackers.github.api.variables import NAMES
from handrail.trackers.github.remotes import parse_place, parse_remote

if TYPE_CHECKING:
    from handrail.trackers.beads import book as beads_book
    from handrail.trackers.beads import program as beads_program
    from handrail.trackers.github import health, pull_requests, tracker
    from handrail.trackers.github.api import connection
    from handrail.trackers.local import book
    from handrail.trackers.local import tracker as local_tracker
else:
    beads_book = late_import("handrail.trackers.beads.book")
    beads_program = late_import("handrail.trackers.beads.program")
    book = late_import("handrail.trackers.local.book")
    local_tracker = late_import("handrail.trackers.local.tracker")
    health = late_import("handrail.trackers.github.health")
    connection = late_import("handrail.trackers.github.api.connection")
    pull_requests = late_import("handrail.trackers.github.pull_requests")
    tracker = late_import("handrail.trackers.github.tracker")

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


class Trackers:
    """Implements the port `TrackerCatalog` on this machine."""

    def __init__(self, folders: Folders, environments: RunEnvironments, log: Log, folder: Path | None = None) -> None:
        self._folders = folders
        self._here = folder
        """The folder whose repository is meant without a run; None: the current one."""
        self._log = log
        self._environments = environments
        self._setting = read_setting(folders)
        self._known: dict[tuple[Endpoint, str], connection.GitHubConnection] = {}

    def repository_of(self, remote: str, run: str = "") -> RepositoryRef | None:
        """Return the repository that the URL of a git remote names; None if its host is not a known code host."""
        environ = self._environment_of(run)[0]
        named = (configured_endpoint(environ, self._setting), configured_endpoint({}, self._setting))
        return parse_remote(remote, tuple(each.host for each in named))

    def token_for(self, repository: RepositoryRef, run: str = "") -> str:
        """Return the token for the host of a repository, without calling the host; empty if there is none."""
        found = self._connect(repository.host, run).find_token()
        return "" if found is None else found.value

    def own_place(self, run: str = "") -> str:
        """Return the place of the issues that the repository keeps on this machine: `beads/KEY` or `local`."""
        found = self._find_beads(run)
        return LOCAL if isinstance(found, str) else beads_place(found.folder)

    def tracker(self, place: str, run: str = "") -> Tracker:
        """Return the tracker of a place: `local`, that of beads, or a repository such as `github.com/acme/shop`."""
        if place == LOCAL:
            return local_tracker.LocalTracker(self.local_issues(run))
        if is_beads(place):
            return local_tracker.LocalTracker(self._beads_issues(place, run), place)
        repository = parse_place(place)
        if repository is None:
            message = f"'{place}' is not a place of issues"
            raise TrackerFault(message, next_step="name a repository as HOST/OWNER/NAME, such as github.com/acme/shop")
        return tracker.GitHubTracker(self._connect(repository.host, run), repository)

    def local_issues(self, run: str = "") -> "book.LocalIssues":
        """Return the local issues of the repository of a run, or of the current folder."""
        redactor = self._environment_of(run)[1]
        return book.LocalIssues(self._log, find_repository(self._log, run, self._here), time.time, lambda: redactor)

    def _beads_issues(self, place: str, run: str) -> "beads_book.BeadsIssues":
        found = self._find_beads(run)
        if isinstance(found, str):
            message = f"the issues of beads cannot be used here: {found or 'there is no folder .beads'}"
            raise TrackerFault(message, next_step="install beads, so that `bd version --json` works in this repository")
        if place not in (BEADS, beads_place(found.folder)):
            message = f"the issues of {place} belong to another repository than {found.folder}"
            raise TrackerFault(message, next_step="go to that repository, and try again there")
        return beads_book.BeadsIssues(found, self._log, time.time, self._environment_of(run)[1])

    def _find_beads(self, run: str) -> "beads_program.Bd | str":
        return beads_program.find_bd(ask_program, find_repository(self._log, run, self._here))

    def pull_requests(self, repository: RepositoryRef, run: str = "") -> PullRequests:
        """Return the pull requests of the host of a repository."""
        return pull_requests.GitHubPullRequests(self._connect(repository.host, run))

    def _connect(self, host: str, run: str) -> "connection.GitHubConnection":
        environ, redactor = self._environment_of(run)
        endpoint = endpoint_for(host, environ, self._setting)
        key = endpoint, run
        if key not in self._known or self._known[key].environ != environ:
            find = partial(self._find_token, run)
            self._known[key] = connection.GitHubConnection(endpoint, environ, self._data, redactor, find)
        return self._known[key]

    def _find_token(self, run: str, endpoint: Endpoint, environ: Mapping[str, str]) -> Token | None:
        """Find the token of a run, and have it removed from all that the run records."""
        found = find_token(endpoint, environ)
        if run and found is not None:
            self._environments.add_secret(run, found.source, found.value)
        return found

    def _environment_of(self, run: str) -> tuple[Mapping[str, str], Redactor]:
        """Return what an environment says about GitHub: that of a run, or of this process."""
        if not run:
            return named_variables(os.environ), process_redactor()
        environment = self._environments.environment_of(run)
        return named_variables({**environment.secrets, **environment.variables(NAMES)}), environment.redactor

    @property
    def _data(self) -> Path:
        return self._folders.data


def examine_github(folders: Folders) -> AccountHealth:
    """Examine the account under which this process would call GitHub; nothing is called without a token."""
    environ = named_variables(os.environ)
    try:
        endpoint = configured_endpoint(environ, read_setting(folders))
    except TrackerFault as error:
        return AccountHealth(host=PUBLIC, problem=error.message, next_step=error.next_step or "")
    token = find_token(endpoint, environ)
    if token is None:
        missing = missing_token(endpoint)
        return AccountHealth(host=endpoint.host, problem="no token", next_step=missing.next_step or "")
    reached = connection.GitHubConnection(endpoint, environ, folders.data, find=lambda _endpoint, _environ: token)
    return asyncio.run(health.examine_account(reached, token))


def read_setting(folders: Folders) -> GitHubSetting:
    """Read where GitHub is; what cannot be understood is refused, as a token would go to the wrong place."""
    report = Report()
    table = read_github(folders, report)
    for each in report:
        if each.is_error:
            message = f"{folders.config / 'config.toml'}: {each.message}"
            raise TrackerFault(message, next_step=each.hint)
    return GitHubSetting(table.api_url, table.host)


def named_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what an environment says about GitHub."""
    return {name: environ[name] for name in NAMES if environ.get(name)}


def beads_place(repository: str) -> str:
    """Return the place of the issues that beads keeps in a repository, which no other repository has."""
    name = _UNFIT.sub("-", Path(repository).name).strip("-.") or "repository"
    return f"{BEADS}/{name[:60]}-{sha256(repository.encode(errors='surrogateescape')).hexdigest()[:8]}"


def find_repository(log: Log, run: str, folder: Path | None = None) -> str:
    """Return the checkout whose local issues a run works on; without a run, that of a folder or the current one."""
    if run:
        state = state_of(log, run)
        source = state.pinned or state.source
        named = (state.workspace if source is None else source.repository) or ""
        return str(main_checkout(Path(named))) if named else ""
    here = folder or Path.cwd()
    return str(main_checkout(repository_root(here) or here))
