"""`handrail validate`."""

from typing import TextIO

import click

from handrail.cli.options import current_place, json_option, sarif_option, workflows_argument


@click.command("validate", epilog="Example: handrail validate .handrail/workflows/fix-bug")
@workflows_argument
@click.option("--library", is_flag=True, help="Check the built-in workflows.")
@sarif_option
@json_option
def command(*, workflows: tuple[str, ...], library: bool, sarif_to: TextIO | None, as_json: bool) -> int:
    """Check workflows: errors and warnings, each at its line.

    Takes names, files, workflow folders, or a folder of workflows; without any, all workflows of the repository. Also
    names those that were never stamped, or stamped against another authoring spec: that is not a failure.
    """
    from handrail.cli.render.validation import advise_stamps, report_validation
    from handrail.operations.workflows.validate import validate

    place = current_place()
    validation = validate(place, workflows, library=library)
    report_validation(validation, place, sarif_to, as_json=as_json)
    if not as_json:
        advise_stamps(validation)
    return validation.exit_code()
