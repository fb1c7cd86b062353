"""`handrail inspect`."""

import click

from handrail.cli.options import current_place, json_option, workflow_argument
from handrail.cli.output import note, write_json


@click.command("inspect", epilog="Example: handrail inspect fix-bug")
@workflow_argument
@click.option("--expand", is_flag=True, help="Also show the steps that routines add, and why.")
@json_option
def command(*, workflow: str, expand: bool, as_json: bool) -> int:
    """Show one workflow: its inputs, steps and files, and how many agent calls it may take."""
    from handrail.cli.render.diagnostics import render_diagnostics
    from handrail.cli.render.inspection import inspection_data, render_inspection
    from handrail.operations.workflows.inspect import inspect_workflow

    found = inspect_workflow(current_place(), workflow, expand=expand)
    if as_json:
        write_json(inspection_data(found))
    else:
        click.echo(render_inspection(found))
        if found.diagnostics:
            note(render_diagnostics(found.diagnostics))
    return found.exit_code
