"""`handrail pr`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.operations.delivery.pull_request import LeftToPerson, OpenedPullRequest


@click.command("pr", epilog="Example: handrail pr fix-bug-1 --ready")
@run_argument
@click.option("--draft/--ready", default=None, help="Open it as a draft, or make it ready for review.")
@click.option("--auto-merge", is_flag=True, help="Let GitHub merge it as soon as its checks and reviews allow that.")
@click.option("--base", metavar="BRANCH", help="The branch to merge into; by default the one that the run began from.")
@click.option("--title", help="Its title; by default that of the issue or the task.")
@click.option(
    "--body-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with its text, which is put before what Handrail writes.",
)
@click.option(
    "--accept-git-changes", is_flag=True, help="Continue even if git settings that start programs have changed."
)
@json_option
def command(*, run: str, body_file: Path | None, as_json: bool, **wanted: Any) -> None:
    """Push a run's branch, and open or update its pull request.

    Uncommitted work is committed first. What others pushed to the branch is built upon. Without a GitHub remote the
    command that pushes the branch is shown.
    """
    import asyncio

    from handrail.operations.delivery.pull_request import PullRequestOptions, open_pull_request
    from handrail.wiring.session import open_run_session

    body = None if body_file is None else body_file.read_text("utf-8", "replace")
    options = PullRequestOptions(body=body, **wanted)
    with open_run_session() as session:
        found, system = session.find(run), session.system
        session.keep_environment(found)
        done = asyncio.run(open_pull_request(session.log, system.workspaces, system.opener, found, options))
    _show(found, done, as_json=as_json)


def _show(run: str, done: "OpenedPullRequest | LeftToPerson", *, as_json: bool) -> None:
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.delivery.pull_request import describe_outcome, summarize_outcome

    if as_json:
        write_json({"run": run, **describe_outcome(done)})
    else:
        click.echo(escape_controls(summarize_outcome(done)))
