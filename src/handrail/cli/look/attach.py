"""`handrail attach`."""

import click

from handrail.cli.options import run_argument, step_argument


@click.command("attach", epilog="Example: handrail attach fix-bug-1")
@run_argument
@step_argument
def command(*, run: str, step: str | None) -> int:
    """Watch the agents of a run at work, in tmux; Ctrl-B, then D leaves, and the agents keep working.

    Each agent that is at work has a window, even in steps without `tmux: true`.
    """
    import os
    import subprocess
    import sys

    from handrail.cli.output import note
    from handrail.errors import UsageError
    from handrail.operations.views.attach import attach
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.find(run)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("handrail attach needs a terminal", next_step=f"handrail logs {found}")
        attached = attach(session.log, session.machine, session.system.folder / "runs", found, step)
    # A terminal that already runs tmux may show another server's session in it.
    own = {name: value for name, value in os.environ.items() if name != "TMUX"}
    code = subprocess.run(attached.words(), env=own, check=False).returncode  # noqa: S603 (the user's own tmux)
    if attached.window is not None:
        note(f"{found} continues; handrail attach {found} shows it again")
    else:
        note(f"the agent has ended; handrail status {found} shows the state of the run")
    return code
