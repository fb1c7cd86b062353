"""`handrail clean`."""

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import json_option
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.delivery.clean import CleanResult
    from handrail.ports.delivery import Leftover


@click.command("clean", epilog="Example: handrail clean --dry-run")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@json_option
def command(*, dry_run: bool, as_json: bool) -> None:
    """Remove the worktrees and branches of runs that have ended and whose work you already have.

    You have it if it was merged, or if your checkout contains the files, through `apply` or your own commits.
    What is kept is listed with the reason. The snapshots of the steps of such runs, which `blame` reads, are kept for
    another 365 days, what was put aside or applied for 30 days, or as long as `keep_blame` and `keep_snapshots` below
    `[cleanup]` in config.toml say; work that exists nowhere else is never removed.
    """
    found = _clean(dry_run=dry_run)
    if as_json:
        write_json(
            {
                "dry_run": dry_run,
                "removed": [_data(each) for each in found.removed],
                "kept": [_data(each) for each in found.kept],
                "refs": list(found.refs),
            }
        )
        return
    for line in _lines(found, dry_run=dry_run):
        click.echo(line)


def _clean(*, dry_run: bool) -> "CleanResult":
    import time

    from handrail.operations.delivery.clean import CleanResult, clean, retention_here
    from handrail.wiring.session import open_existing_session

    with open_existing_session() as session:
        if session is None:
            return CleanResult((), ())
        retention = retention_here(session.place.folders, time.time())
        return clean(session.log, session.system.workspaces, retention, dry_run=dry_run)


def _lines(found: "CleanResult", *, dry_run: bool) -> list[str]:
    from handrail.cli.render.safe_text import escape_controls

    verb = "would remove" if dry_run else "removed"
    lines = [f"{verb}  {_words(each)}" for each in found.removed]
    lines += [f"kept  {_words(each)}: {'; '.join(each.reasons)}" for each in found.kept if each.kind != "snapshots"]
    lines += [f"what was in them is kept under {ref}" for ref in found.refs]
    snapshots = sum(each.kind == "snapshots" for each in found.kept)
    if snapshots:
        lines.append(f"kept  {snapshots} refs with snapshots below refs/handrail/ (--json lists them)")
    return [escape_controls(line) for line in lines] or ["nothing to clean up"]


def _words(left: "Leftover") -> str:
    size = f" ({size_words(left.size)})" if left.size else ""
    kind = {"worktree": "worktree", "lock": "stale lock", "snapshots": "snapshots below"}.get(left.kind, left.kind)
    return f"{kind} {left.name}{size}" + (f" of {left.run}" if left.run else "")


def _data(left: "Leftover") -> dict[str, Any]:
    return {
        "kind": left.kind,
        "run": left.run or None,
        "name": left.name,
        "repository": left.repository or None,
        "size": left.size,
        "reasons": list(left.reasons),
    }


def size_words(size: int) -> str:
    """Format a number of bytes for people: `170 MB`."""
    kilobytes = max(1, round(size / 1000))
    return f"{kilobytes} kB" if kilobytes < 1000 else f"{size / 1_000_000:,.0f} MB"
