"""A list of workflows as a table and as JSON data."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import click

from handrail.cli.render.diagnostics import diagnostic_data
from handrail.cli.render.safe_text import crop, escape_controls, pad
from handrail.operations.workflows.list import WorkflowEntry, WorkflowListing

WIDTH = 80
MAX_NAME_LENGTH = 40
UNTRUSTED = "untrusted"
"""The code for a workflow that is not broken, but may run code that nobody has allowed yet."""


def listing_data(listing: WorkflowListing, *, everything: bool) -> dict[str, Any]:
    """Convert the list to JSON data."""
    return {"workflows": [workflow_data(each) for each in listing.workflows if each.wins or everything]}


def workflow_data(listed: WorkflowEntry) -> dict[str, Any]:
    """Convert one workflow of a list to JSON data."""
    data: dict[str, Any] = {
        "name": listed.name,
        "tier": str(listed.tier),
        "format": listed.form,
        "path": listed.path,
        "description": listed.description,
        "hash": listed.hash,
        "valid": listed.valid,
        "shadows": list(listed.shadows),
        "staleness": listed.staleness,
        "steps": listed.steps,
    }
    if not listed.wins:
        data["shadowed_by"] = listed.shadowed_by
    if not listed.valid:
        data["diagnostics"] = [diagnostic_data(each) for each in listed.diagnostics]
    return data


def render_listing(listing: WorkflowListing, *, everything: bool, width: int = WIDTH) -> str:
    """Render the list as a table that fits the width, with notes below it."""
    winning = [each for each in listing.workflows if each.wins]
    routines = [each for each in winning if each.is_routine and each.valid]
    shown = list(listing.workflows) if everything else [each for each in winning if each not in routines]
    lines = list(_table(shown, width)) if shown else ["no workflows here"]
    if routines and not everything:
        lines.append(f"and {_number(len(routines), 'routine')} to use in other workflows (--all shows them)")
    lines += [escape_controls(line) for line in _notes(listing.workflows, everything=everything)]
    return "\n".join(line.rstrip() for line in lines)


def _table(rows: Sequence[WorkflowEntry], width: int) -> Iterable[str]:
    names = max(4, *(len(crop(escape_controls(each.name), MAX_NAME_LENGTH)) for each in rows))
    tiers = max(4, *(len(each.tier) for each in rows))
    before = names + tiers + 11
    yield f"{pad('NAME', names)}  {pad('FROM', tiers)}  STEPS  DESCRIPTION"
    for each in rows:
        name = pad(crop(escape_controls(each.name), MAX_NAME_LENGTH), names)
        steps = "-" if each.steps is None else str(each.steps)
        yield f"{name}  {pad(each.tier, tiers)}  {steps:>5}  {_last_column(each, width - before)}"


def _last_column(listed: WorkflowEntry, width: int) -> str:
    if listed.valid:
        hidden = f"(hidden by {listed.shadowed_by}) " if not listed.wins else ""
        return crop(escape_controls(f"{hidden}{' '.join(listed.description.split())}"), width)
    said = next((each for each in listed.diagnostics if each.is_error), None)
    if said is not None and said.code == UNTRUSTED:
        # Never cropped: a command that is cut cannot be typed.
        way = f": handrail trust {shlex.quote(escape_controls(listed.name))}"
        return click.style("needs your trust", fg="yellow", bold=True) + way
    text = f": line {said.line}: {said.message}" if said is not None else ""
    return click.style("invalid", fg="red", bold=True) + crop(escape_controls(text), width - len("invalid"))


def _notes(workflows: Sequence[WorkflowEntry], *, everything: bool) -> Iterable[str]:
    for each in workflows:
        if each.shadows and not everything:
            yield f"{each.name} ({each.tier}) hides: {', '.join(each.shadows)}"
    stale = [each.name for each in workflows if each.staleness == "likely" and each.wins]
    if stale:
        yield f"reviewed against another authoring spec: {', '.join(stale)}"
        yield f"next: handrail lint {stale[0]}, then handrail stamp {stale[0]}"
    broken = [each for each in workflows if not each.valid and each.wins]
    untrusted = [each.path for each in broken if any(said.code == UNTRUSTED for said in each.diagnostics)]
    invalid = [each.path for each in broken if each.path not in untrusted]
    if invalid:
        yield f"next: handrail validate {shlex.quote(invalid[0])}"
    elif untrusted:
        yield f"next: handrail trust {shlex.quote(untrusted[0])}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
