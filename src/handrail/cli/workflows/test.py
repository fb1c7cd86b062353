"""`handrail test`."""

import shlex
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import current_place, json_option, workflows_argument
from handrail.cli.output import write_json
from handrail.frozen import frozen

if TYPE_CHECKING:
    from handrail.operations.scenarios.suite import Outcome
    from handrail.sources.tiers import Location


@frozen
class _Options:
    """The options of the call."""

    workflows: tuple[str, ...]
    library: bool
    word: str
    fail_fast: bool
    keep: bool
    quiet: bool


@click.command("test", epilog="Example: handrail test fix-bug -k 'asks first' --keep")
@workflows_argument
@click.option("--library", is_flag=True, help="Test the built-in workflows.")
@click.option("-k", "word", metavar="WORD", default="", help="Only scenarios with WORD in their name or file.")
@click.option("-x", "fail_fast", is_flag=True, help="Stop at the first failure.")
@click.option("--keep", is_flag=True, help="Keep each run's log and worktree, and show where.")
@click.option("--trust", is_flag=True, help="Test workflows as they are now, trusted or not; nothing is recorded.")
@click.option("--init", "initial", is_flag=True, help="Write a first test for a workflow, and run nothing.")
@click.option("--junit", "junit_to", metavar="FILE", help="Write a JUnit report to FILE, or to stdout with '-'.")
@json_option
def command(*, junit_to: str | None, as_json: bool, trust: bool, initial: bool, **wanted: Any) -> int:
    """Run a workflow's tests, with scripted agents.

    Takes names, files and folders of workflows, or test files; without any, all workflows of the repository that
    have tests. Each test runs in a temporary repository; nothing of yours is touched.
    """
    if as_json and junit_to == "-":
        raise click.UsageError(
            "--json and --junit - both write to stdout; give --junit a file", click.get_current_context()
        )
    place = current_place()
    if initial:
        return _write_first(place, wanted["workflows"], as_json=as_json)
    asked = _Options(**wanted, quiet=as_json or junit_to == "-")
    began = time.monotonic()
    with ExitStack() as stack:
        if trust:
            from handrail.operations.scenarios.discover import trust_temporarily

            place = stack.enter_context(trust_temporarily(place))
        outcomes = _play_suites(place, asked)
    _report(outcomes, time.monotonic() - began, junit_to, as_json=as_json)
    return 0 if all(each.ok for each in outcomes) else 1


def _play_suites(place: "Location", wanted: _Options) -> "list[Outcome]":
    """Play the requested scenarios, and show each as soon as it ends."""
    from handrail.errors import Untrusted, UsageError
    from handrail.operations.runs.prepare import pin
    from handrail.operations.scenarios.discover import find_suites
    from handrail.operations.scenarios.suite import ScenarioRunner
    from handrail.wiring.scenario_environment import open_environment

    try:
        suites = find_suites(place, wanted.workflows, library=wanted.library)
    except Untrusted as error:
        named = "".join(f" {shlex.quote(each)}" for each in wanted.workflows)
        next_step = f"{error.next_step}, or test it as it is now: handrail test{named} --trust"
        raise Untrusted(error.message, next_step=next_step) from None
    bench = ScenarioRunner(open_environment, lambda name, _: pin(place, name), wanted.keep, wanted.fail_fast)
    found: list[Outcome] = []
    for outcome in bench.play(suites, wanted.word):
        if not wanted.quiet:
            _show(outcome, found)
        found.append(outcome)
    if not found:
        names = ", ".join(each.name for suite in suites for each in suite.scenarios)
        raise UsageError(f"no scenario has '{wanted.word}' in its name or file", next_step=f"there are: {names}")
    return found


def _show(outcome: "Outcome", before: "list[Outcome]") -> None:
    from handrail.cli.render.safe_text import escape_controls
    from handrail.cli.render.scenarios import render_outcome

    if not before or before[-1].suite is not outcome.suite:
        click.echo(
            f"{click.style(escape_controls(outcome.suite.name), bold=True)}   {escape_controls(outcome.suite.path)}"
        )
    click.echo(render_outcome(outcome))


def _report(outcomes: "list[Outcome]", seconds: float, junit_to: str | None, *, as_json: bool) -> None:
    """Write the verdict in the requested form and place."""
    from handrail.cli.render.scenarios import render_summary
    from handrail.operations.scenarios.junit import render_junit

    if junit_to == "-":
        click.echo(render_junit(outcomes), nl=False)
    elif junit_to is not None:
        Path(junit_to).write_text(render_junit(outcomes), encoding="utf-8")
    if as_json:
        failed = sum(1 for each in outcomes if not each.ok)
        skipped = sum(1 for each in outcomes if each.scenario.skip)
        counts = {"passed": len(outcomes) - failed - skipped, "failed": failed, "skipped": skipped}
        told = [each.data() for each in outcomes]
        write_json({"ok": not failed, **counts, "seconds": round(seconds, 3), "scenarios": told})
    elif junit_to != "-":
        click.echo(render_summary(outcomes, seconds))


def _write_first(place: "Location", workflows: tuple[str, ...], *, as_json: bool) -> int:
    """Write a first test of the one workflow that is named."""
    from handrail.operations.scenarios.draft import write_first

    if len(workflows) != 1:
        raise click.UsageError("--init needs exactly one workflow, to write a test for", click.get_current_context())
    path = write_first(place, workflows[0])
    if as_json:
        write_json({"written": path})
    else:
        click.echo(f"wrote {path}\nnext: handrail test {workflows[0]}")
    return 0
