"""Options and arguments of several commands: `--json`, names of workflows, and where the command was called."""

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from handrail.sources.tiers import Location

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
sarif_option = click.option(
    "--sarif",
    "sarif_to",
    type=click.File("w", encoding="utf-8", lazy=True),
    help="Write the findings as SARIF 2.1.0 to FILE, or to stdout with '-'.",
)


def current_place() -> "Location":
    """Return the place where the command was called."""
    from handrail.wiring.place import current_place as found

    return found()


def complete_workflows(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the names of workflows."""
    from handrail.operations.workflows.list import workflow_names

    return [name for name in workflow_names(current_place()) if name.startswith(incomplete)]


workflow_argument = click.argument("workflow", metavar="NAME|PATH", shell_complete=complete_workflows)
workflows_argument = click.argument("workflows", metavar="[NAME|PATH]...", nargs=-1, shell_complete=complete_workflows)


MAX_COMPLETED = 200
"""The number of runs that the shell is offered."""


def complete_runs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the ids of runs, the newest first."""
    from handrail.model.history.run_lines import Filter
    from handrail.ports.run_list import NeedsWholeLog
    from handrail.sources.folders import user_folders
    from handrail.wiring.run_list import open_run_list

    try:
        with open_run_list(user_folders(os.environ).data) as runs:
            begun = Filter(prefix=incomplete, limit=MAX_COMPLETED, order="started")
            # Child runs are many, and meant only if somebody has begun to type the id of one.
            own = runs.rows(begun._replace(top=True)) if "." not in incomplete else ()
            return [row.key for row in own or runs.rows(begun)]
    except NeedsWholeLog:
        return []


def complete_steps(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the addresses of the steps of the run that was typed before."""
    from handrail.errors import HandrailError
    from handrail.operations.views.step_addresses import list_addresses
    from handrail.wiring.session import open_existing_session

    if not ctx.params.get("run"):
        return []
    try:
        with open_existing_session() as session:
            known = list_addresses(session.log, session.find(str(ctx.params["run"]))) if session is not None else ()
    except HandrailError:
        return []
    return [address for address in known if address.startswith(incomplete)]


run_argument = click.argument("run", metavar="RUN", shell_complete=complete_runs)
optional_run_argument = click.argument("run", metavar="[RUN]", required=False, shell_complete=complete_runs)
step_argument = click.argument("step", metavar="[STEP]", required=False, shell_complete=complete_steps)
message_option = click.option("-m", "--message", "text", metavar="TEXT", default="", help="Comment on the decision.")
tmux_option = click.option("--tmux", is_flag=True, help="Show each agent in tmux: handrail attach RUN.")
detach_option = click.option("--detach", is_flag=True, help="Continue in the background driver, without waiting.")
