"""`handrail status --refresh`: looks at issues and pull requests once, whether or not that is due."""

import asyncio

import click

from handrail.cli.output import note
from handrail.cli.render.safe_text import escape_controls
from handrail.operations.delivery.refresh import describe_refresh, refresh
from handrail.operations.views.run_tree import root_of
from handrail.wiring.conversations import make_conversation
from handrail.wiring.session import open_existing_session


def look_outside(run: str | None = None, *, quiet: bool = False) -> None:
    """Bring the issues of all runs up to date, let runs that got an answer continue, and look at pull requests."""
    with open_existing_session() as session:
        if session is None:
            return
        system = session.system
        conversation = make_conversation(system.writer, system.trackers, session.place.folders, system.clock)
        conversation.on_problem = lambda problem: note(f"warning: {escape_controls(problem)}")
        # They are looked at below, where what is new is shown.
        conversation.with_pull_requests = False
        asyncio.run(conversation.look(final=True, refresh=True))
        for answered in sorted(conversation.sent):
            session.handover.wake(root_of(session.log, answered))
        found = asyncio.run(refresh(system.writer, system.trackers, None if run is None else session.find(run)))
    for line in () if quiet else describe_refresh(found):
        click.echo(escape_controls(line))
