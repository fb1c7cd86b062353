"""`handrail cost`."""

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import complete_runs, json_option
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.views.costs import Cost


@click.command("cost", epilog="Example: handrail cost fix-bug-1")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_runs)
@json_option
def command(*, runs: tuple[str, ...], as_json: bool) -> None:
    """Show cost, tokens, calls and time, per step and in total, including items and called workflows.

    A price that is only partly known is marked with ~; one that is not known at all is `unknown`.
    """
    from handrail.cli.render.cost import render_cost, render_total
    from handrail.operations.views.costs import cost_of, total_of
    from handrail.operations.views.money import spending_data
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = [cost_of(session.log, run) for run in dict.fromkeys(session.find(each) for each in runs)]
    total = total_of(found)
    if as_json:
        write_json({"runs": [_data(each) for each in found], "total": spending_data(total)})
        return
    click.echo("\n\n".join(render_cost(each) for each in found))
    if len(found) > 1:
        click.echo(f"\n{render_total(found, total)}")


def _data(cost: "Cost") -> dict[str, Any]:
    from handrail.operations.views.money import spending_data

    return {
        "run": cost.run,
        "total": spending_data(cost.total),
        "elapsed": round(cost.elapsed, 3),
        "budget": {name: {"used": used, "most": most} for name, (used, most) in cost.budget.items()},
        "steps": [{"address": share.address, **spending_data(share.spent)} for share in cost.shares],
    }
