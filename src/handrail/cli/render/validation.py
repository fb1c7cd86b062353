"""Writes the verdict on workflows: as text, JSON or SARIF."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from handrail.cli.output import note, write_json
from handrail.cli.render.diagnostics import count, diagnostic_data, render_diagnostics
from handrail.cli.render.safe_text import escape_controls
from handrail.cli.render.sarif import sarif
from handrail.operations.workflows.staleness import Staleness
from handrail.operations.workflows.validate import CheckedFile, Validation

if TYPE_CHECKING:
    from handrail.sources.tiers import Location

STAMPS: dict[Staleness, str] = {
    "likely": "reviewed against another authoring spec",
    "possible": "not stamped as reviewed against the authoring spec",
}
MAX_NAMED = 5


def report_validation(validation: Validation, place: "Location", sarif_to: TextIO | None, *, as_json: bool) -> None:
    """Write the verdict in the requested form and place."""
    takes_stdout = sarif_to is not None and sarif_to.name in {"-", "<stdout>"}
    if as_json and takes_stdout:
        raise click.UsageError(
            "--json and --sarif - both write to stdout; give --sarif a file", click.get_current_context()
        )
    if sarif_to is not None:
        log = sarif(validation.diagnostics, place.cwd or Path.cwd())
        sarif_to.write(json.dumps(log, indent=2) + "\n")
    if as_json:
        write_json(validation_data(validation))
    elif not takes_stdout:
        click.echo(render_validation(validation), file=sys.stdout)


def advise_stamps(validation: Validation) -> None:
    """Name the workflows that nobody has reviewed against the current authoring spec; that never fails the command."""
    for level, words in STAMPS.items():
        paths = validation.files_by_staleness(level)
        if paths:
            more = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
            named = ", ".join(escape_controls(each) for each in paths[:MAX_NAMED])
            note(f"advice: {words}: {named}{more}")


def validation_data(validation: Validation) -> dict[str, Any]:
    """Convert the verdict to JSON data."""
    data: dict[str, Any] = {"ok": validation.ok, "files": [_file_data(file) for file in validation.files]}
    if validation.configuration:
        data["configuration"] = [diagnostic_data(each) for each in validation.configuration]
    return data


def render_validation(validation: Validation) -> str:
    """Render the findings and a summary line."""
    found = validation.diagnostics
    lines = [render_diagnostics(found), ""] if found else []
    lines += [f"{escape_controls(file.path)}: and {file.dropped} more" for file in validation.files if file.dropped]
    return "\n".join([*lines, _summary(validation)])


def _summary(validation: Validation) -> str:
    total, valid = len(validation.files), sum(1 for file in validation.files if file.ok)
    what = f"{total} workflow{'' if total == 1 else 's'}"
    verdict = f"{what} valid" if valid == total else f"{what} checked, {total - valid} invalid"
    counted = count(validation.diagnostics)
    return f"{verdict}: {counted}" if counted else verdict


def _file_data(file: CheckedFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "ok": file.ok,
        "hash": file.hash,
        "diagnostics": [diagnostic_data(each) for each in file.diagnostics],
        "staleness": file.staleness,
    }
