"""`handrail doctor`."""

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json
from handrail.cli.safe_text import harmless

if TYPE_CHECKING:
    from handrail.operations.health import Health


@click.command("doctor", epilog="Example: handrail doctor --repair")
@click.option("--repair", is_flag=True, help="Cut damaged histories back to what is intact; a copy is kept.")
@json_option
def command(*, repair: bool, as_json: bool) -> int:
    """Check the tools that runs need, and that everything recorded is as it was written."""
    from handrail.operations.health import examine_health

    found = examine_health(current_place().folders.data, repair=repair)
    if as_json:
        write_json(_data(found))
    else:
        click.echo("\n".join(harmless(line) for line in _lines(found)))
    return 0 if found.healthy else 1


def _lines(found: "Health") -> list[str]:
    lines = ["   ".join(f"{tool.name} {tool.version or ''} {'✗' if tool.problem else '✓'}" for tool in found.tools)]
    lines += [f"{tool.name}: {tool.problem}" for tool in found.tools if tool.problem]
    lines += [f"log   {found.database} {'✗' if found.findings else '✓'}"]
    lines += [f"  {each.part} {each.name}: {each.problem}, {each.intact} events intact" for each in found.findings]
    lines += [f"  cut {each.stream} back to {each.kept} events, {each.moved} kept aside" for each in found.cuts]
    lines += [f"  the damaged file is kept as {found.copy}"] if found.copy else []
    if found.findings and not found.repaired:
        lines.append("next: handrail doctor --repair")
    return lines


def _data(found: "Health") -> dict[str, Any]:
    return {
        "healthy": found.healthy,
        "tools": [{"name": each.name, "version": each.version, "problem": each.problem} for each in found.tools],
        "database": found.database,
        "findings": [
            {"part": each.part, "name": each.name, "problem": each.problem, "intact": each.intact}
            for each in found.findings
        ],
        "repaired": found.repaired,
        "cuts": [{"run": each.stream, "kept": each.kept, "moved": each.moved} for each in found.cuts],
        "copy": found.copy,
    }
