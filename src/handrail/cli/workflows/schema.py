"""`handrail schema`."""

import click

from handrail.cli.options import json_option
from handrail.cli.output import note, write_json

HINT = """\
next: handrail schema > .handrail/workflow.schema.json, then start each workflow.yaml with this line:
# yaml-language-server: $schema=../../workflow.schema.json"""


@click.command("schema", epilog="Example: handrail schema > .handrail/workflow.schema.json")
@json_option
def command(*, as_json: bool) -> None:
    """Print the JSON Schema of workflow.yaml, so that your editor completes and checks as you type."""
    from handrail.operations.workflows.schema import workflow_schema

    write_json(workflow_schema())
    if not as_json:
        note(HINT)
