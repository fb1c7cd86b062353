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
        # They are looked at before, and what is new is shown.
        conversation.with_pull_requests = False
        found = asyncio.run(refresh(system.writer, system.trackers, None if run is None else session.find(run)))
        asyncio.run(conversation.look(final=True, refresh=True))
        answered = sorted({root_of(session.log, each) for each in conversation.sent})
        for each in answered:
            session.handover.wake(each)
    if quiet:
        return
    for each in answered:
        click.echo(f"{each} has an answer from its issue, and continues in the background")
    if not answered or found.looked_at or found.problems:
        for line in describe_refresh(found):
            click.echo(escape_controls(line))
