"""`handrail new`."""

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json


@click.command("new", epilog="Example: handrail new fix-typos")
@click.argument("name")
@click.option(
    "--to",
    "tier",
    type=click.Choice(["repository", "user"]),
    default="repository",
    show_default=True,
    help="Where to create it: in this repository, or among your own workflows.",
)
@json_option
def command(*, name: str, tier: str, as_json: bool) -> None:
    """Create a new workflow, with a prompt and a test.

    What it writes is trusted until you change it. An existing workflow is never touched.
    """
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.workflows.scaffold import scaffold
    from handrail.sources.tiers import Tier

    done = scaffold(current_place(), name, Tier(tier))
    if as_json:
        data = {"name": done.name, "tier": tier, "folder": done.folder, "files": list(done.files)}
        write_json({**data, "hides": list(done.hides)})
        return
    click.echo(f"Wrote {escape_controls(done.folder)}/")
    for file in done.files:
        click.echo(f"  {file}")
    if done.hides:
        click.echo(f"It hides the workflow {name} of: {', '.join(done.hides)}")
    click.echo(f'Next: handrail test {name}, then edit it, and: handrail run {name} "what to do"')
