"""The issues of a place: the log, opened without what drives runs, so that commands about issues start fast."""

import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.model.actors import Actor
from handrail.ports.issue_books import IssueBook
from handrail.sources.folders import main_checkout
from handrail.sources.tiers import Location
from handrail.store.sqlite.log import open_readable
from handrail.trackers.local.book import LocalIssues
from handrail.wiring.place import current_place

if TYPE_CHECKING:
    from handrail.operations.issues import quiet_steps
    from handrail.processes import environment, machine_tools
    from handrail.trackers.beads import book as beads_book
    from handrail.trackers.beads import program
else:
    quiet_steps = late_import("handrail.operations.issues.quiet_steps")
    environment = late_import("handrail.processes.environment")
    machine_tools = late_import("handrail.processes.machine_tools")
    beads_book = late_import("handrail.trackers.beads.book")
    program = late_import("handrail.trackers.beads.program")

BEADS_FOLDER = ".beads"


@contextmanager
def open_issue_book(writer: Actor | None = None) -> Generator[IssueBook]:
    """Open the issues of the repository in which a command was called: those of beads, if it is used there.

    `writer` is whoever writes to them; the agent of a step with `no_comment` may not.
    """
    place = current_place()
    scope = _scope(place)
    found = find_beads(scope)
    with closing(open_readable(place.folders.data)) as log:
        if writer is not None and writer.run:
            quiet_steps.refuse_quiet_step(log, writer)
        if isinstance(found, str):
            yield LocalIssues(log, scope, time.time, lambda: environment.process_redactor())  # noqa: PLW0108 - it is imported with the first call
        else:
            yield beads_book.BeadsIssues(found, log, time.time, environment.process_redactor())


def find_beads(repository: str) -> "program.Bd | str":
    """Find the program of beads for a repository; a text says why it is not used, empty without beads."""
    if not (Path(repository) / BEADS_FOLDER).is_dir():
        return ""
    return program.find_bd(machine_tools.ask_program, repository)


def describe_tracker(place: Location) -> str:
    """Say which tracker has the issues of a repository with beads; empty without beads."""
    found = find_beads(_scope(place))
    if isinstance(found, str):
        return f"the local tracker; the issues of {BEADS_FOLDER} are not used: {found}" if found else ""
    return f"beads, through bd {found.version}"


def _scope(place: Location) -> str:
    return str(main_checkout(place.repository or place.cwd or Path.cwd()))
