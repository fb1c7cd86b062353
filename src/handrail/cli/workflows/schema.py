"""`handrail schema`."""

import click

from handrail.cli.options import json_option
from handrail.cli.output import note, write_json

HINT = """\
next: handrail schema > .handrail/workflow.schema.json, then start each workflow.yaml with this line:
# yaml-language-server: $schema=../../workflow.schema.json"""


@click.command("schema", epilog="Example: handrail schema > .handrail/workflow.schema.json")
@click.option("--authoring-spec", is_flag=True, help="Print the rules that `handrail stamp` refers to instead.")
@json_option
def command(*, authoring_spec: bool, as_json: bool) -> None:
    """Print the JSON Schema of workflow.yaml, so that your editor completes and checks as you type.

    With --authoring-spec, print the rules that workflows are reviewed against, whatever their format.
    """
    from handrail.operations.workflows.schema import authoring_spec as rules
    from handrail.operations.workflows.schema import workflow_schema

    if authoring_spec:
        write_json(rules())
        return
    write_json(workflow_schema())
    if not as_json:
        note(HINT)
