"""`handrail lint`."""

from typing import TextIO

import click

from handrail.cli.options import current_place, json_option, sarif_option, workflows_argument


@click.command("lint", epilog="Example: handrail lint fix-bug --strict")
@workflows_argument
@click.option("--library", is_flag=True, help="Check the built-in workflows.")
@click.option("--strict", is_flag=True, help="Exit with 4 on warnings too.")
@sarif_option
@json_option
def command(*, workflows: tuple[str, ...], library: bool, strict: bool, sarif_to: TextIO | None, as_json: bool) -> int:
    """Check workflows and suggest improvements.

    Takes the same arguments as `handrail validate`. Advice never changes the exit code.
    """
    from handrail.cli.render.validation import report_validation
    from handrail.operations.workflows.validate import validate

    place = current_place()
    validation = validate(place, workflows, library=library, advise=True)
    report_validation(validation, place, sarif_to, as_json=as_json)
    return validation.exit_code(strict=strict)
