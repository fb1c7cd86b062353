"""`handrail doctor`."""

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json
from handrail.cli.safe_text import harmless

if TYPE_CHECKING:
    from handrail.operations.health import Health
    from handrail.ports.care import Cut, Finding
    from handrail.runtime.background import DriverInfo


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
    lines += [f"  {_finding_words(each)}" for each in found.findings]
    lines += [f"  {_cut_words(each)}" for each in found.cuts]
    lines += [f"  made the file anew: {found.runs} runs are in it"] if found.copy else []
    lines += [f"  the damaged file is kept as {found.copy}"] if found.copy else []
    lines.append(f"background driver   {_driver_words(found.driver)}")
    return [*lines, *_next_lines(found)]


def _finding_words(found: "Finding") -> str:
    intact = f", {found.intact} events intact" if found.part == "stream" else ""
    return f"{found.part} {found.name}: {found.problem}{intact}"


def _cut_words(cut: "Cut") -> str:
    if cut.kept and not cut.moved and not cut.lost:
        return f"mended {cut.stream}: all {cut.kept} events are there"
    rest = [f"{cut.moved} kept aside"] if cut.moved else []
    rest += [f"{cut.lost} lost"] if cut.lost else []
    if not cut.kept:
        return ", ".join([f"lost {cut.stream}: its beginning cannot be read", *rest])
    return ", ".join([f"cut {cut.stream} back to {cut.kept} events", *rest])


def _driver_words(driver: "DriverInfo | None") -> str:
    from handrail.operations.run_views import iso

    return "not running" if driver is None else f"running, process {driver.pid}, since {iso(driver.since)}"


def _next_lines(found: "Health") -> list[str]:
    if not found.repaired and any(each.part != "blob" for each in found.findings):
        return ["next: handrail doctor --repair"]
    return ["next: handrail status"] if found.cuts else []


def _data(found: "Health") -> dict[str, Any]:
    from handrail.operations.run_views import iso

    return {
        "healthy": found.healthy,
        "tools": [{"name": each.name, "version": each.version, "problem": each.problem} for each in found.tools],
        "database": found.database,
        "findings": [
            {"part": each.part, "name": each.name, "problem": each.problem, "intact": each.intact}
            for each in found.findings
        ],
        "repaired": found.repaired,
        "cuts": [
            {"run": each.stream, "kept": each.kept, "moved": each.moved, "lost": each.lost} for each in found.cuts
        ],
        "copy": found.copy,
        "runs": found.runs,
        "driver": None if found.driver is None else {"pid": found.driver.pid, "since": iso(found.driver.since)},
    }
