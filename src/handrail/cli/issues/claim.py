"""`handrail issues claim` and `handrail issues release`."""

import click

from handrail.cli.issues.options import issue_argument
from handrail.cli.options import json_option


@click.command("claim", epilog="Example: handrail issues claim shop-a1b")
@issue_argument
@json_option
def command(*, issue: str, as_json: bool) -> int:
    """Claim an issue, so that nobody else works on it; of any number that try, one gets it."""
    from handrail.cli.output import write_json
    from handrail.model.actors import actor_words
    from handrail.model.issues import Claim
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    actor = current_actor()
    by = f"agent:{actor.run}" if actor.run else str(actor)
    with open_issue_book(actor) as book:
        found = book.claim(issue, Claim(by=by, run=actor.run))
    if as_json:
        write_json({"issue": issue, "claimed": found.is_mine, "by": found.claim.by, "run": found.claim.run})
    elif found.is_mine:
        click.echo(f"{issue} is yours")
    else:
        click.echo(f"{issue} is already claimed by {actor_words(found.claim.by)}")
    return 0 if found.is_mine else 3


@click.command("release", epilog="Example: handrail issues release shop-a1b")
@issue_argument
@click.option("-r", "--reason", default="released by hand", help="Why, for the history of the issue.")
@json_option
def release_command(*, issue: str, reason: str, as_json: bool) -> None:
    """Release an issue that somebody has claimed, so that others can work on it."""
    from handrail.cli.output import write_json
    from handrail.wiring.issues import open_issue_book
    from handrail.wiring.session import current_actor

    with open_issue_book() as book:
        released = book.release(issue, "", str(current_actor()), reason)
    if as_json:
        write_json({"issue": issue, "released": released})
    else:
        click.echo(f"{issue} is open again" if released else f"{issue} was not claimed")
