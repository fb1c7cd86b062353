"""`handrail list`."""

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import note, write_json


@click.command("list", epilog="Example: handrail list --all")
@click.option("--tier", type=click.Choice(["user", "repository", "built-in"]), help="Only workflows of one tier.")
@click.option("--all", "everything", is_flag=True, help="Include routines, and workflows that another one hides.")
@json_option
def command(*, tier: str | None, everything: bool, as_json: bool) -> None:
    """List the workflows that are available here, and where each comes from.

    A name is looked up in your own workflows first, then in the repository's, then in the built-in ones.
    """
    from handrail.cli.render.diagnostics import render_diagnostics
    from handrail.cli.render.workflow_list import listing_data, render_listing
    from handrail.operations.workflows.list import list_workflows

    place = current_place()
    counted = not everything and not as_json and not place.developing
    listing = list_workflows(place, tier=tier, pinned=as_json, counted=counted)
    if listing.diagnostics:
        note(render_diagnostics(listing.diagnostics))
    if as_json:
        write_json(listing_data(listing, everything=everything))
    else:
        click.echo(render_listing(listing, everything=everything))
