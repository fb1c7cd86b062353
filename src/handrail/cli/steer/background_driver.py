"""`handrail drive`: run the background driver, which is started on demand; people need not call it."""

import click


@click.command("drive", hidden=True)
def command() -> int:
    """Drive every run that can move, until nothing is left to wait for."""
    import os
    import time

    from handrail.operations.driving.background_driver import AlreadyRunning, drive
    from handrail.operations.runs.prepare import workflows_seen_from
    from handrail.sources.folders import user_folders
    from handrail.sources.tiers import Location
    from handrail.wiring.handover import open_background
    from handrail.wiring.machine import this_machine
    from handrail.wiring.system import report_on_issues, tell_people

    folders = user_folders(os.environ)
    machine = this_machine()
    system, holder = open_background(folders, workflows_seen_from(os.environ, Location(folders, None)), machine)
    supervisor = system.supervisor("background driver")
    supervisor.on_state = lambda state: _say(f"{state.run} {state.status} {state.message}")
    supervisor.on_unreadable = lambda error: _say(f"{error.message}; next: {error.next_step}")
    tell_people(supervisor, folders, system.writer)
    report_on_issues(supervisor, system, folders, _say)
    _say(f"background driver, process {os.getpid()}, of {folders.data}")
    try:
        other = drive(folders, machine.programs, system.log, supervisor, holder)
    finally:
        system.log.close()
    if isinstance(other, AlreadyRunning):
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(other.since))
        click.echo(f"another background driver is already running: process {other.pid}, since {since}")
    else:
        _say("stopping: it was asked to, or has nothing left to wait for")
    return 0


def _say(text: str) -> None:
    import time

    from handrail.cli.render.safe_text import escape_controls

    click.echo(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {escape_controls(text)}", err=True)
