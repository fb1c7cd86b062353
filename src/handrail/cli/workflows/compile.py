"""`handrail compile`."""

import click

from handrail.cli.options import current_place, json_option, workflow_argument
from handrail.cli.output import note, write_json


@click.command("compile", epilog="Example: handrail compile fix-bug --json")
@workflow_argument
@json_option
def command(*, workflow: str, as_json: bool) -> None:
    """Compile a workflow and show its pinned version: what a run of it would execute."""
    from handrail.cli.render.diagnostics import render_diagnostics
    from handrail.cli.render.inspection import EMPTY_CONTEXT
    from handrail.cli.render.inspection_data import bound_data
    from handrail.cli.render.safe_text import escape_controls
    from handrail.model.codec import encode
    from handrail.operations.workflows.compile import compile_workflow
    from handrail.operations.workflows.condition_text import bound_words

    compiled = compile_workflow(current_place(), workflow)
    if compiled.diagnostics:
        note(render_diagnostics(compiled.diagnostics))
    if compiled.form == "python":
        note(EMPTY_CONTEXT)
    if as_json:
        bound = bound_data(compiled.bound)
        write_json({"hash": compiled.made.hash, "plan": encode(compiled.made.plan), "agent_calls": bound})
        return
    steps = len(compiled.made.plan.steps)
    click.echo(escape_controls(f"{compiled.made.plan.name}  {compiled.path}"))
    click.echo(f"pinned version {compiled.made.hash}")
    click.echo(f"{steps} step{'' if steps == 1 else 's'}, {bound_words(compiled.bound)}")
