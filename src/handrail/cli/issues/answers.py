"""Takes up the answer in a comment on a local issue at once: for GitHub the background driver looks for them."""

import asyncio

import click

from handrail.cli.output import note
from handrail.cli.render.safe_text import escape_controls
from handrail.model.issues import LOCAL, IssueRef
from handrail.operations.issue_runs.comment_answers import list_runs_on
from handrail.operations.views.run_tree import root_of
from handrail.wiring.conversations import make_conversation
from handrail.wiring.session import open_existing_session


def take_up_answers(issue: str, *, quiet: bool) -> None:
    """Let the run that a comment answers continue in the background."""
    with open_existing_session() as session:
        if session is None:
            return
        system = session.system
        runs = list_runs_on(session.log, IssueRef(LOCAL, issue))
        conversation = make_conversation(system.writer, system.trackers, session.place.folders, system.clock)
        conversation.wanted = lambda run: run in runs
        conversation.on_problem = lambda problem: note(f"warning: {escape_controls(problem)}")
        conversation.on_poll = lambda _: None
        conversation.with_pull_requests = False
        asyncio.run(conversation.look(final=True, refresh=True))
        for run in sorted({root_of(session.log, each) for each in conversation.sent}):
            session.handover.wake(run)
            if not quiet:
                click.echo(f"{run} has the answer, and continues in the background")
