"""The local tracker of a place: its log, opened without what drives runs, so that commands about issues start fast."""

import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from handrail.ports.issues.books import IssueBook
from handrail.processes.environment import process_redactor
from handrail.sources.folders import main_checkout
from handrail.store.sqlite.log import open_readable
from handrail.trackers.local.book import LocalIssues
from handrail.wiring.place import current_place


@contextmanager
def open_issue_book() -> Generator[IssueBook]:
    """Open the issues of the repository in which a command was called."""
    place = current_place()
    scope = str(main_checkout(place.repository or place.cwd or Path.cwd()))
    with closing(open_readable(place.folders.data)) as log:
        yield LocalIssues(log, scope, time.time, process_redactor())
