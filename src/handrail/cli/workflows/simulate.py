"""`handrail simulate`."""

from typing import TYPE_CHECKING

import click

from handrail.cli.options import current_place, json_option, workflow_argument
from handrail.cli.output import note, write_json

if TYPE_CHECKING:
    from handrail.operations.workflows.simulate import Simulation


@click.command("simulate", epilog="Example: handrail simulate fix-bug --draw mermaid -o flow.mmd")
@workflow_argument
@click.option(
    "--input", "inputs", metavar="NAME=VALUE", multiple=True, help="Set an input; the others take every value."
)
@click.option("--draw", type=click.Choice(["text", "mermaid", "svg"]), help="Draw the flow instead of the report.")
@click.option("-o", "--output", "file", type=click.Path(dir_okay=False), help="Write the report or drawing to FILE.")
@click.option(
    "--max-paths",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Maximum number of states to explore.",
)
@json_option
def command(*, workflow: str, inputs: tuple[str, ...], max_paths: int, as_json: bool, **shown: str | None) -> int:
    """Walk every branch of a workflow without running anything.

    Reports which steps can be reached, how a run can end, and what is wrong: steps that are never reached, loops that
    cannot end early, checks that cannot pass, approvals that lead nowhere, names that are not defined on some path.
    """
    from handrail.operations.workflows.simulate import simulate

    found = simulate(current_place(), workflow, inputs, max_paths)
    if as_json:
        from handrail.cli.render.simulation_data import simulation_data

        write_json(simulation_data(found))
        return found.exit_code
    _write(_render_result(found, shown["draw"]), shown["file"])
    return found.exit_code


def _render_result(found: "Simulation", draw: str | None) -> str:
    match draw:
        case "text":
            from handrail.cli.render.graph.text import draw_text

            return draw_text(found.plan, found.reachable_places)
        case "mermaid":
            from handrail.cli.render.graph.mermaid import draw_mermaid

            return draw_mermaid(found.plan, found.reachable_places)
        case "svg":
            from handrail.cli.render.graph.svg import draw_svg

            return draw_svg(found.plan, found.reachable_places)
        case _:
            from handrail.cli.render.simulation import render_simulation

            return render_simulation(found)


def _write(text: str, file: str | None) -> None:
    if file is None:
        click.echo(text)
        return
    from pathlib import Path

    Path(file).write_text(f"{text}\n", "utf-8")
    note(f"wrote {file}")
