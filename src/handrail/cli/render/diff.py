"""Patches in colour on a terminal, and unchanged everywhere else."""

import re
import sys
from typing import TYPE_CHECKING

import click

from handrail.cli.render.safe_text import escape_controls

if TYPE_CHECKING:
    from handrail.ports.workspaces import FileChange

OBJECTS = re.compile(r"index [0-9a-f]{40,}\.\.[0-9a-f]{40,}")
"""The line with the object ids, which are of no use to a person."""
COLORS = {"+": "green", "-": "red", "@": "cyan"}


def echo_patch(text: str, *, err: bool = False) -> None:
    """Write a patch: safe and in colour for a terminal, otherwise unchanged, so that `git apply` accepts it."""
    if not (sys.stderr if err else sys.stdout).isatty():
        click.echo(text, nl=False, err=err)
        return
    for line in text.splitlines():
        if OBJECTS.match(line):
            continue
        color = None if line.startswith(("+++", "---")) else COLORS.get(line[:1])
        click.echo(click.style(escape_controls(line), fg=color), err=err)


def file_data(change: "FileChange") -> dict[str, object]:
    """Convert a changed file to JSON data."""
    return {
        "path": change.path,
        "change": change.change,
        "added": change.added,
        "deleted": change.deleted,
        "old": change.old or None,
    }
