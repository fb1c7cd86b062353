"""`handrail tell`."""

import click

from handrail.cli.options import json_option, run_argument


@click.command("tell", epilog='Example: handrail tell fix-bug-1 "leave the public names as they are"')
@run_argument
@click.argument("text")
@json_option
def command(*, run: str, text: str, as_json: bool) -> int:
    """Send a message to the agent of a run while it works, without interrupting it.

    An agent that can listen (claude) receives it while it works, another one in its conversation after its current
    answer. If no agent is at work, the next one receives it.
    """
    from dataclasses import asdict

    from handrail.cli.output import write_json
    from handrail.operations.runs.tell import tell
    from handrail.wiring.session import current_actor, open_run_session

    with open_run_session() as session:
        said = tell(session.writer, session.find(run), text, str(current_actor()), session.machine.agents)
        if as_json:
            write_json(asdict(said))
        else:
            click.echo(f"{said.run}: {said.words}")
        return 0
