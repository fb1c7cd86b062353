"""`handrail merge`."""

import click

from handrail.cli.options import json_option, run_argument
from handrail.cli.output import write_json


@click.command("merge", epilog="Example: handrail merge fix-bug-1")
@run_argument
@click.option(
    "--accept-git-changes", is_flag=True, help="Continue even if git settings that start programs have changed."
)
@json_option
def command(*, run: str, accept_git_changes: bool, as_json: bool) -> None:
    """Merge a run's branch into the branch that it began from.

    Uncommitted work is committed first. A branch that is checked out is fast-forwarded with its files if the
    checkout is clean and no merge commit is needed. Otherwise the git command that merges it is shown.
    """
    from handrail.operations.delivery.deliver import merge
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found, workspaces = session.find(run), session.system.workspaces
        done = merge(session.log, workspaces, found, accept_git_changes=accept_git_changes)
    if as_json:
        write_json(
            {
                "run": done.run,
                "branch": done.branch,
                "base": done.base,
                "commit": done.commit,
                "already": done.already,
            }
        )
    elif done.already:
        click.echo(f"{done.base} already contains everything of {done.branch}")
    else:
        click.echo(f"Merged {done.branch} into {done.base}, which is now at {done.commit[:12]}")
