"""`handrail trust`."""

import shlex
import sys
from typing import TYPE_CHECKING

import click

from handrail.cli.options import current_place, json_option, workflow_argument
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.workflows.trust import TrustQuestion


@click.command("trust", epilog="Example: handrail trust fix-bug --show")
@workflow_argument
@click.option("--show", is_flag=True, help="Only show what would be trusted.")
@click.option("--forget", "forgetting", is_flag=True, help="Withdraw trust.")
@click.option("--yes", is_flag=True, help="Trust without asking.")
@json_option
def command(*, workflow: str, show: bool, forgetting: bool, yes: bool, as_json: bool) -> None:
    """Review what a workflow may run, and trust it; `.` is the whole repository.

    Trust covers every file that a run reads from the repository, as it is now; when one of them changes, you are
    shown the difference and asked again.
    """
    from handrail.cli.render.trust import render_question, trust_data
    from handrail.operations.workflows.trust import examine, forget, grant
    from handrail.wiring.machine import this_machine

    if show + forgetting + yes > 1:
        raise click.UsageError("--show, --forget and --yes cannot be used together", click.get_current_context())
    place, agents = current_place(), this_machine().agents
    words = "trust withdrawn" if forgetting and forget(agents, place, workflow) else ""
    question = examine(agents, place, workflow)
    if not as_json and not forgetting:
        click.echo(render_question(question))
    if not (show or forgetting or question.is_granted):
        _ask(question, yes=yes, may_ask=not as_json)
        question = grant(place, question)
        words = f"trusted {question.digest[:12]}"
    if as_json:
        write_json(trust_data(question))
    elif words or forgetting:
        click.echo(words or "it was not trusted")


def _ask(question: "TrustQuestion", *, yes: bool, may_ask: bool) -> None:
    from handrail.errors import Untrusted

    if yes:
        return
    if may_ask and sys.stdin.isatty() and click.confirm("Trust this content?", err=True):
        return
    raise Untrusted(
        f"{question.path} needs your trust: {question.reason}",
        next_step=f"handrail trust {shlex.quote(question.path)} --yes",
    )
