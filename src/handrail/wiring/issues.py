"""The local tracker of a place: its log, opened without what drives runs, so that commands about issues start fast."""

import os
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from handrail.model.secrets.redaction import Redactor
from handrail.operations.issues.scope import find_scope
from handrail.ports.issue_books import IssueBook
from handrail.ports.log import Log
from handrail.processes.environment import process_redactor
from handrail.sources.folders import user_folders
from handrail.store.sqlite.log import open_readable
from handrail.trackers.local.book import LocalIssues
from handrail.wiring.place import current_place
from handrail.workspace.git_repositories import GitRepositories


@contextmanager
def open_issue_book() -> Generator[IssueBook]:
    """Open the issues of the repository in which a command was called."""
    place = current_place()
    repositories = GitRepositories(place.folders.data)
    scope = find_scope(repositories, place.repository or place.cwd or Path.cwd())
    with closing(open_readable(place.folders.data)) as log:
        yield make_issues(log, scope, process_redactor())


def make_issues(log: Log, scope: str, redactor: Redactor) -> LocalIssues:
    """Build the local tracker of a repository on a log."""
    return LocalIssues(log, scope, time.time, redactor)


def scope_of(folder: str) -> str:
    """Return the repository that the issues of a checkout belong to."""
    return find_scope(GitRepositories(user_folders(os.environ).data), Path(folder))
