"""`handrail take`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.pull.take_over import Handover


@click.command("take", epilog="Example: handrail take fix-bug-1")
@run_argument
@json_option
def command(*, run: str, as_json: bool) -> None:
    """Hand a run over to an agent connected over MCP, until you release it; prints the token to continue with.

    A run that another connected agent holds is taken over from it. The step in progress is finished first. From then
    on the connected agent performs the agent steps; scripts, checks and questions to you stay with Handrail.
    """
    from handrail.cli.live.follow_run import process_inbox, watch
    from handrail.operations.pull.take_over import hand_to_agent, handover
    from handrail.operations.views.run_document import run_document
    from handrail.serve.mcp.call_context_factory import make_call_context
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        found = session.find(run)
        holder = hand_to_agent(session.writer, found, str(current_actor()))
        process_inbox(watch(session, found, "handrail take", as_json=as_json))
        given = handover(make_call_context(session.system, session.place), found, holder)
        if as_json:
            write_json({**run_document(session.log, found), "continue_token": given.continue_token})
        else:
            click.echo("\n".join(_lines(given)))


def _lines(given: "Handover") -> list[str]:
    at = f", at {given.step}" if given.step else ""
    begins = f"{given.run} is handed over to a connected agent{at}"
    if not given.over:
        begins = f"{given.run} will be handed over to a connected agent when the current step is done"
    call = f'continue_workflow with intent "rehydrate" and continueToken "{given.continue_token}"'
    return [begins, f"tell the agent: call {call}", f"to return it to Handrail: handrail release {given.run}"]
