"""`handrail import`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.workflows.import_ import ImportKind


@click.command("import", epilog="Example: handrail import ../old-project/grimoires --kind coven")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), help="Folder to write to; default: the repository's workflows.")
@click.option(
    "--kind", type=click.Choice(["workrail", "coven", "cyrus"]), help="The tool it was written for, if that is unclear."
)
@click.option("--force", is_flag=True, help="Overwrite files that are already there.")
@json_option
def command(*, source: Path, to: Path | None, kind: "ImportKind | None", force: bool, as_json: bool) -> int:
    """Import workflows written for other tools: a file or a folder of them.

    Reports for every part whether it means the same, was changed or was lost, and checks the result.
    """
    from handrail.cli.render.import_report import import_data, render_import
    from handrail.operations.workflows.import_ import import_workflows

    done = import_workflows(current_place(), source, to=to, kind=kind, force=force)
    if as_json:
        write_json(import_data(done))
    else:
        click.echo(render_import(done))
    return done.validation.exit_code()
