"""`handrail stamp`."""

import click

from handrail.cli.options import current_place, json_option, workflow_argument
from handrail.cli.output import write_json


@click.command("stamp", epilog="Example: handrail stamp .handrail/workflows/fix-bug")
@workflow_argument
@json_option
def command(*, workflow: str, as_json: bool) -> None:
    """Record in a workflow that it meets the current authoring spec.

    Only a valid workflow is stamped, and only the stamp in its file changes.
    """
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.workflows.stamp import stamp

    done = stamp(current_place(), workflow)
    if as_json:
        write_json({"path": done.path, "version": done.version, "before": done.before, "changed": done.has_changed})
    elif done.has_changed:
        click.echo(f"stamped {escape_controls(done.path)} with authoring spec {done.version}")
    else:
        click.echo(f"{escape_controls(done.path)} already carries authoring spec {done.version}")
