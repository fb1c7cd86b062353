"""`handrail run`."""

import sys
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import complete_workflows, current_place, detach_option, json_option
from handrail.cli.output import note

if TYPE_CHECKING:
    from handrail.cli.session import Session
    from handrail.operations.runs import Request
    from handrail.operations.starting import Prepared, Wanted
    from handrail.sources.tiers import Place


@click.command("run", epilog='Example: handrail run fix-bug "login times out after 30 s" --input base=main')
@click.argument("workflow", metavar="NAME|PATH", required=False, default="", shell_complete=complete_workflows)
@click.argument("task", required=False, default="")
@click.option("--input", "inputs", metavar="NAME=VALUE", multiple=True, help="Give an input; may be repeated.")
@click.option("--in", "folder", metavar="DIR", help="Work in DIR as it is; default: a work tree of the repository.")
@click.option("--base", metavar="BRANCH", help="Start from BRANCH; default: the commit that is checked out.")
@click.option("--with-changes", is_flag=True, help="Take the uncommitted changes of your checkout along.")
@click.option("--agent", default="", metavar="NAME", help="Let one agent perform every agent step.")
@click.option("--script", metavar="FILE", help="What the scripted agent plays.")
@detach_option
@json_option
def command(*, detach: bool, as_json: bool, **wanted: Any) -> int:
    """Run a workflow here, and show each step as it happens.

    TASK goes to the workflow's issue or its only text that must be given. Ctrl-C pauses; nothing is lost.
    """
    from handrail.cli.session import me, open_session
    from handrail.cli.watching import go_on_detached, watch
    from handrail.operations.money import most_words
    from handrail.operations.runs import start
    from handrail.operations.starting import Wanted
    from handrail.operations.words import bound_words, pinned_words

    place = current_place()
    prepared = _prepared(place, Wanted(**wanted, by=me()), may_ask=not as_json)
    with open_session() as session:
        run = start(session.log, _request(session, prepared, with_changes=wanted["with_changes"]))
        pinned = pinned_words(prepared.request.pinned.definition)
        most = most_words(prepared.request.pinned.plan.budget)
        bound = ", ".join(part for part in (bound_words(prepared.bound), most) if part)
        click.echo(f"run {run} · pinned {pinned} · {bound}", err=as_json)
        if prepared.left_out and not wanted["with_changes"]:
            files = (
                "1 uncommitted file is"
                if len(prepared.left_out) == 1
                else f"{len(prepared.left_out)} uncommitted files are"
            )
            click.echo(f"{files} not part of this run (--with-changes takes them along)", err=True)
        watched = watch(session, run, "handrail run", as_json=as_json, from_now=False)
        return go_on_detached(watched) if detach else watched.go()


def _request(session: "Session", prepared: "Prepared", *, with_changes: bool) -> "Request":
    """Give what the run starts from, with the uncommitted files of the checkout where they are wanted."""
    from dataclasses import replace

    from handrail.operations.grounds import take_along

    source = prepared.request.source
    if not with_changes or source is None or not prepared.left_out:
        return prepared.request
    return replace(prepared.request, source=take_along(session.system.workspaces, source))


def _prepared(place: "Place", wanted: "Wanted", *, may_ask: bool) -> "Prepared":
    """Get the run ready; on a terminal, ask for the trust that is missing."""
    from handrail.cli.render_diagnostics import render_diagnostics
    from handrail.errors import Untrusted
    from handrail.operations.starting import prepare

    while True:
        try:
            prepared = prepare(place, wanted)
        except Untrusted:
            if not may_ask or not sys.stdin.isatty() or not _trusts(place, wanted.workflow):
                raise
        else:
            if prepared.diagnostics:
                note(render_diagnostics(prepared.diagnostics))
            return prepared


def _trusts(place: "Place", workflow: str) -> bool:
    from handrail.cli.render_trust import render_question
    from handrail.operations.starting import missing_trust
    from handrail.operations.trusting import grant

    question = missing_trust(place, workflow)
    if question is None:
        return False
    click.echo(render_question(question), err=True)
    if not click.confirm("Trust this content?", err=True):
        return False
    grant(place, question)
    return True
