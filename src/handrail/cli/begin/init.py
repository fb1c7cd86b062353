"""`handrail init`."""

import sys
from typing import TYPE_CHECKING

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json
from handrail.frozen import frozen

if TYPE_CHECKING:
    from handrail.cli.render.init import Report
    from handrail.operations.init.trial import TrialResult


@frozen
class _Options:
    """The options of the call."""

    yes: bool
    as_json: bool
    attempt: bool
    timeout: int

    @property
    def asks(self) -> bool:
        """Whether somebody can be asked."""
        return not self.yes and not self.as_json and sys.stdin.isatty()


@click.command("init", epilog="Example: handrail init --yes")
@click.option("--yes", is_flag=True, help="Write without asking; checks that do not pass are left out.")
@click.option("--no-try", "attempt", is_flag=True, flag_value=False, default=True, help="Run nothing, only detect.")
@click.option(
    "--timeout", type=click.IntRange(1), default=600, metavar="SECONDS", help="Timeout of each command; default 600."
)
@json_option
def command(*, yes: bool, as_json: bool, attempt: bool, timeout: int) -> int:
    """Detect this repository's agent, checks and set-up, try them, and save them.

    Set-up and checks run once in a temporary worktree of the last commit; your checkout is not touched. What is
    written is trusted; you are asked about workflows and settings that already exist, and --yes leaves them
    untrusted. Running it again is safe: it adds what is missing and changes nothing else.
    """
    options = _Options(yes, as_json, attempt, timeout)
    if as_json:
        report = _try_and_write(options, _survey_repository())
        from handrail.cli.render.init import init_data

        write_json(init_data(report))
        return 0
    from handrail.cli.render.init import result_lines, survey_lines, trial_lines

    report = _ask_for_trust(options, _survey_repository())
    click.echo("\n".join(survey_lines(report)))
    report = _try_settings(options, report)
    click.echo("\n".join(trial_lines(report)))
    done = _write_settings(options, report)
    if done is None:
        click.echo("nothing was written")
        return 0
    click.echo("\n".join(result_lines(done)))
    return 0


def _try_and_write(options: _Options, report: "Report") -> "Report":
    done = _write_settings(options, _try_settings(options, report))
    return report if done is None else done


def _survey_repository() -> "Report":
    from handrail.cli.render.init import Report
    from handrail.operations.init.find_out import find_new_settings, merge_settings, survey
    from handrail.wiring.machine import this_machine

    found = survey(this_machine(), current_place())
    fresh = find_new_settings(found)
    return Report(found, fresh, merge_settings(found, fresh))


def _ask_for_trust(options: _Options, report: "Report") -> "Report":
    """Ask once about what was already there before any of it is used; if nobody can be asked, it stays untrusted."""
    question = report.found.present
    if question is None or not options.asks:
        return report
    from handrail.cli.render.trust import render_question
    from handrail.operations.workflows.trust import grant

    click.echo(render_question(question) + "\n")
    if not click.confirm("This already exists here. Trust it?"):
        return report
    grant(current_place(), question)
    return _survey_repository()


def _try_settings(options: _Options, report: "Report") -> "Report":
    """Try the draft, and if nobody can be asked, keep only what passed."""
    from dataclasses import replace

    from handrail.errors import UsageError
    from handrail.operations.init.config_text import drop_failed_checks
    from handrail.operations.init.find_out import merge_settings
    from handrail.operations.init.trial import keep_working_settings

    if not options.yes and not options.asks:
        raise UsageError(
            "there is no terminal to ask on, so nothing was tried or written", next_step="handrail init --yes"
        )
    tried = _trial(options, report) if options.attempt else None
    if tried is None:
        fresh = drop_failed_checks(report.found.text or "", report.fresh)
    else:
        fresh = keep_working_settings(report.fresh, tried, report.found.head_name) if options.yes else report.fresh
    return replace(report, tried=tried, fresh=fresh, whole=merge_settings(report.found, fresh))


def _trial(options: _Options, report: "Report") -> "tuple[TrialResult, ...]":
    from handrail.wiring.trial import new_trial

    shown = sys.stderr.isatty() and not options.as_json
    trial = new_trial(current_place().folders.data, options.timeout, _show if shown else _show_nothing)
    try:
        return trial.run(report.found, report.whole)
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _show(text: str) -> None:
    from handrail.cli.render.safe_text import crop, escape_controls

    click.echo("\r\x1b[K" + crop(escape_controls(f"Trying it   {text} ..."), 79), nl=False, err=True)


def _show_nothing(_text: str) -> None:
    return


def _write_settings(options: _Options, report: "Report") -> "Report | None":
    """Write what is missing after asking; return None if the answer is no."""
    from dataclasses import replace

    from handrail.operations.init.write import write_config, write_workflow

    found, place = report.found, current_place()
    text = _draft(report)
    if text is None and found.workflow:
        return report
    if options.asks:
        answered = _ask_to_write(report, text)
        if answered is None:
            return None
        if answered and answered != text and answered == _draft(_keep_passing(report)):
            report = _keep_passing(report)
        text = answered or None
    wrote = [write_config(place, found, text)] if text is not None else []
    wrote += [] if found.workflow else [write_workflow(place, found)]
    return replace(report, wrote=tuple(wrote))


def _draft(report: "Report") -> str | None:
    """Build the text of the new configuration, or None if nothing is missing in it."""
    from handrail.operations.init.config_text import add_settings, render_settings

    found, fresh = report.found, report.fresh
    if found.text is None:
        return render_settings(fresh)
    made = add_settings(found.text, fresh)
    return None if made == found.text else made


def _ask_to_write(report: "Report", text: str | None) -> str | None:
    """Ask once; return the text to write, an empty text to write none, or None if the answer is no."""
    from handrail.cli.render.init import row

    bad = [each for each in report.tried or () if each.outcome != "green" and each.name != "worktree"]
    if bad:
        names = ", ".join(dict.fromkeys(each.name for each in bad))
        said = f"Enter leaves {names} out; k keeps it although it does not pass here, and every run will stop at it"
        click.echo("\n".join(row("", [said, "e edits the draft"], "; ")))
    while True:
        keys = "[Y/k/n/e]" if bad else "[Y/n/e]"
        answer = click.prompt(f"Write this? {keys}", default="y", show_default=False, prompt_suffix=" ").strip().lower()
        if answer in ("k", "keep") and bad:
            return text or ""
        if answer in ("y", "yes"):
            return (_draft(_keep_passing(report)) or "") if bad and text == _draft(report) else text or ""
        if answer in ("n", "no"):
            return None
        if answer in ("e", "edit") and text is not None:
            text = _edit_draft(text)
        elif answer in ("e", "edit"):
            click.echo("nothing to edit: the configuration is unchanged")


def _keep_passing(report: "Report") -> "Report":
    """Return the report with only what passed the trial."""
    from dataclasses import replace

    from handrail.operations.init.find_out import merge_settings
    from handrail.operations.init.trial import keep_working_settings

    fresh = keep_working_settings(report.fresh, report.tried or (), report.found.head_name)
    return replace(report, fresh=fresh, whole=merge_settings(report.found, fresh))


def _edit_draft(text: str) -> str:
    """Let a person change the draft in their editor; if the result is not TOML, say so and return the old draft."""
    import tomllib

    changed = click.edit(text, extension=".toml", require_save=True)
    if changed is None:
        return text
    try:
        tomllib.loads(changed)
    except tomllib.TOMLDecodeError as error:
        click.echo(f"this is not valid TOML, so the draft stays as it was: {error}")
        return text
    return changed
