"""`handrail view`: show what an agent does, in a window of tmux. Started by Handrail; people need not call it."""

import click


@click.command("view", hidden=True)
@click.argument("place")
@click.argument("agent")
@click.argument("repository")
@click.argument("title")
def command(*, place: str, agent: str, repository: str, title: str) -> int:
    """Follow the output of one call until its agent has ended."""
    import os
    from pathlib import Path

    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.agents.configured_agents import ConfiguredAgents
    from handrail.operations.views.agent_window import CallFollower, disable_echo
    from handrail.sources.folders import user_folders
    from handrail.wiring.machine import this_machine

    disable_echo(0)
    machine = this_machine()
    known = ConfiguredAgents(machine.agents, user_folders(os.environ)).find(agent, repository)
    click.echo(escape_controls(f"{title} · {known.name} · input typed here is ignored"))
    for line in CallFollower(Path(place), known, machine.processes, machine.redactor()).lines():
        click.echo(escape_controls(line))
    return 0
