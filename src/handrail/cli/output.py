"""Writes a command's result: one JSON document, or text."""

import json
from typing import Any

import click


def write_json(data: Any) -> None:
    """Write the one document of a `--json` command; every character outside ASCII is escaped."""
    click.echo(json.dumps(data, indent=2))


def note(text: str) -> None:
    """Write a line that is not part of the result."""
    click.echo(text, err=True)
