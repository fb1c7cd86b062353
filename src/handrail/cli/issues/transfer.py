"""`handrail issues import` and `handrail issues export`."""

from typing import BinaryIO

import click

from handrail.cli.options import json_option

MAX_SHOWN = 20


@click.command("import", epilog="Example: handrail issues import .beads/issues.jsonl")
@click.argument("file", type=click.File("rb"))
@json_option
def command(*, file: BinaryIO, as_json: bool) -> None:
    """Import issues from JSON lines, as beads exports them; an issue with a known id is replaced."""
    from handrail.cli.output import note, write_json
    from handrail.operations.issues.jsonl import read_lines
    from handrail.operations.issues.transfer import describe_age
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    if age := describe_age(file.name):
        note(age)
    lines = read_lines(file.read())
    with open_issue_book() as book:
        done = book.put_records(lines.records, str(current_actor()), lambda count: note(f"{count} issues"))
    skipped = (*lines.skipped, *done.skipped)
    counts = {"created": done.created, "updated": done.updated, "unchanged": done.unchanged}
    if as_json:
        write_json({**counts, "skipped": list(skipped)})
        return
    from handrail.cli.render.safe_text import escape_controls

    click.echo(", ".join(f"{count} {what}" for what, count in counts.items()) + f", {len(skipped)} skipped")
    for each in skipped[:MAX_SHOWN]:
        note(escape_controls(f"skipped: {each}"))
    if len(skipped) > MAX_SHOWN:
        note(f"skipped: {len(skipped) - MAX_SHOWN} more")


@click.command("export", epilog="Example: handrail issues export -o issues.jsonl")
@click.option("-o", "--output", "to", type=click.File("wb", lazy=True), default="-", help="Write to FILE.")
@json_option
def export_command(*, to: BinaryIO, as_json: bool) -> None:
    """Export the issues of this repository as JSON lines, for beads and its viewers, or for an import elsewhere."""
    from handrail.cli.output import note, write_json
    from handrail.operations.issues.jsonl import write_lines
    from handrail.wiring.issues import open_issue_book

    with open_issue_book() as book:
        records = book.export_records()
    if as_json and to.name == "-":
        write_json({"issues": list(records), "total": len(records)})
        return
    to.write(write_lines(records))
    if as_json:
        write_json({"file": to.name, "total": len(records)})
        return
    note("1 issue" if len(records) == 1 else f"{len(records)} issues")
