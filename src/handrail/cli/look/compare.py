"""`handrail compare`."""

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import complete_runs, json_option
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.views.compare import ComparedRun

MAX_WIDTH = 40
"""The widest column for the outcome of one run."""


@click.command("compare", epilog="Example: handrail compare fix-bug-1 fix-bug-2 fix-bug-3")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True, shell_complete=complete_runs)
@json_option
def command(*, runs: tuple[str, ...], as_json: bool) -> None:
    """Show runs side by side: outcome, steps, cost, time, and what they changed."""
    from handrail.cli.render.layout import render_table
    from handrail.errors import UsageError
    from handrail.operations.views.compare import compare
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = tuple(dict.fromkeys(session.find(each) for each in runs))
        if len(found) < 2:
            raise UsageError("a comparison needs at least two runs", next_step="handrail compare RUN RUN")
        sides = compare(session.log, session.system.workspaces, found)
    if as_json:
        write_json({"runs": [_data(each) for each in sides]})
        return
    columns = [_column(each) for each in sides]
    names = list(columns[0])
    click.echo(render_table([[name, *(column[name] for column in columns)] for name in names]))


def _column(side: "ComparedRun") -> dict[str, str]:
    from handrail.cli.render.safe_text import crop, escape_controls
    from handrail.operations.views.compare import count_changed_lines
    from handrail.operations.views.money import duration, price_words
    from handrail.operations.workflows.condition_text import short_hash

    state, total = side.state, side.cost.total
    added, deleted = count_changed_lines(side.files or ())
    changed = "unknown" if side.files is None else f"{len(side.files)} changed, +{added} -{deleted}"
    return {
        "": state.run,
        "workflow": f"{state.workflow}, pinned {short_hash(state.definition)}",
        "copy of": f"{state.forked_from[0]}, event {state.forked_from[1]}" if state.forked_from else "–",
        "outcome": crop(escape_controls(" ".join(side.outcome.split())), MAX_WIDTH),
        "steps": ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in side.steps.items()) or "none",
        "cost": price_words(total) or "–",
        "tokens": str(total.tokens),
        "agent calls": str(total.agent_calls),
        "time at work": duration(total.seconds),
        "files": changed,
    }


def _data(side: "ComparedRun") -> dict[str, Any]:
    from handrail.cli.render.diff import file_data
    from handrail.operations.views.money import spending_data

    state = side.state
    return {
        "run": state.run,
        "workflow": state.workflow,
        "hash": state.definition,
        "forked_from": None
        if state.forked_from is None
        else {"run": state.forked_from[0], "seq": state.forked_from[1]},
        "outcome": side.outcome,
        "steps": side.steps,
        "cost": spending_data(side.cost.total),
        "elapsed": round(side.cost.elapsed, 3),
        "files": None if side.files is None else [file_data(each) for each in side.files],
    }
