"""`handrail init`."""

import sys
from typing import TYPE_CHECKING

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json
from handrail.frozen import frozen

if TYPE_CHECKING:
    from handrail.cli.render.init import Report
    from handrail.operations.init.trial import Tried


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
@click.option("--yes", is_flag=True, help="Write without asking; checks that are not green are left out.")
@click.option("--no-try", "attempt", is_flag=True, flag_value=False, default=True, help="Run nothing, only look.")
@click.option("--timeout", type=click.IntRange(1), default=600, metavar="SECONDS", help="For each command; 600.")
@json_option
def command(*, yes: bool, as_json: bool, attempt: bool, timeout: int) -> int:
    """Find this repository's agent, checks and set-up, try them, and write them down.

    Set-up and checks run once in a throw-away worktree of the last commit; your checkout is not touched. What is
    written is trusted; about workflows and settings that were there already you are asked, and --yes leaves them
    untrusted. Calling it again is safe: it adds what is missing and changes nothing that is there.
    """
    options = _Options(yes, as_json, attempt, timeout)
    if as_json:
        report = _whole(options, _look())
        write_json(_data(report))
        return 0
    from handrail.cli.render.init import found_lines, tried_lines, wrote_lines

    report = _about_present(options, _look())
    click.echo("\n".join(found_lines(report)))
    report = _tried(options, report)
    click.echo("\n".join(tried_lines(report)))
    done = _written(options, report)
    if done is None:
        click.echo("nothing was written")
        return 0
    click.echo("\n".join(wrote_lines(done)))
    return 0


def _data(report: "Report") -> dict[str, object]:
    from handrail.cli.render.init import init_data

    return init_data(report)


def _whole(options: _Options, report: "Report") -> "Report":
    done = _written(options, _tried(options, report))
    return report if done is None else done


def _look() -> "Report":
    from handrail.cli.render.init import Report
    from handrail.operations.init.find_out import missing, survey, together
    from handrail.wiring.machine import this_machine

    found = survey(this_machine(), current_place())
    fresh = missing(found)
    return Report(found, fresh, together(found, fresh))


def _about_present(options: _Options, report: "Report") -> "Report":
    """Ask once about what was already there before any of it is used; if nobody can be asked, it stays untrusted."""
    question = report.found.present
    if question is None or not options.asks:
        return report
    from handrail.cli.render.trust import render_question
    from handrail.operations.workflows.trust import grant

    click.echo(render_question(question) + "\n")
    if not click.confirm("This was here already. Trust it?"):
        return report
    grant(current_place(), question)
    return _look()


def _tried(options: _Options, report: "Report") -> "Report":
    """Try the draft, and if nobody can be asked, keep only what passed."""
    from dataclasses import replace

    from handrail.errors import UsageError
    from handrail.operations.init.config_text import without_failed
    from handrail.operations.init.find_out import together
    from handrail.operations.init.trial import kept

    if not options.yes and not options.asks:
        raise UsageError("nobody can be asked here, so nothing was tried or written", next_step="handrail init --yes")
    tried = _trial(options, report) if options.attempt else None
    if tried is None:
        fresh = without_failed(report.found.text or "", report.fresh)
    else:
        fresh = kept(report.fresh, tried, report.found.where) if options.yes else report.fresh
    return replace(report, tried=tried, fresh=fresh, whole=together(report.found, fresh))


def _trial(options: _Options, report: "Report") -> "tuple[Tried, ...]":
    from handrail.wiring.trial import new_trial

    shown = sys.stderr.isatty() and not options.as_json
    trial = new_trial(current_place().folders.data, options.timeout, _show if shown else _silent)
    try:
        return trial.run(report.found, report.whole)
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _show(text: str) -> None:
    from handrail.cli.render.safe_text import crop, harmless

    click.echo("\r\x1b[K" + crop(harmless(f"Trying it   {text} ..."), 79), nl=False, err=True)


def _silent(_text: str) -> None:
    return


def _written(options: _Options, report: "Report") -> "Report | None":
    """Write what is missing after asking; return None if the answer is no."""
    from dataclasses import replace

    from handrail.operations.init.write import write_config, write_workflow

    found, place = report.found, current_place()
    text = _draft(report)
    if text is None and found.workflow:
        return report
    if options.asks:
        answered = _asked(report, text)
        if answered is None:
            return None
        if answered and answered != text and answered == _draft(_sound(report)):
            report = _sound(report)
        text = answered or None
    wrote = [write_config(place, found, text)] if text is not None else []
    wrote += [] if found.workflow else [write_workflow(place, found)]
    return replace(report, wrote=tuple(wrote))


def _draft(report: "Report") -> str | None:
    """Build the text of the new configuration, or None if nothing is missing in it."""
    from handrail.operations.init.config_text import added_text, new_text

    found, fresh = report.found, report.fresh
    if found.text is None:
        return new_text(fresh)
    made = added_text(found.text, fresh)
    return None if made == found.text else made


def _asked(report: "Report", text: str | None) -> str | None:
    """Ask once; return the text to write, an empty text to write none, or None if the answer is no."""
    from handrail.cli.render.init import row

    bad = [each for each in report.tried or () if each.outcome != "green" and each.name != "worktree"]
    if bad:
        names = ", ".join(dict.fromkeys(each.name for each in bad))
        said = f"Enter leaves {names} out; k keeps it although it does not pass here, so that runs stop at it"
        click.echo("\n".join(row("", [said, "e changes the draft"], "; ")))
    while True:
        keys = "[Y/k/n/e]" if bad else "[Y/n/e]"
        answer = click.prompt(f"Write this? {keys}", default="y", show_default=False, prompt_suffix=" ").strip().lower()
        if answer in ("k", "keep") and bad:
            return text or ""
        if answer in ("y", "yes"):
            return (_draft(_sound(report)) or "") if bad and text == _draft(report) else text or ""
        if answer in ("n", "no"):
            return None
        if answer in ("e", "edit") and text is not None:
            text = _edited(text)
        elif answer in ("e", "edit"):
            click.echo("there is nothing to edit: the configuration stays as it is")


def _sound(report: "Report") -> "Report":
    """Return the report with only what passed the trial."""
    from dataclasses import replace

    from handrail.operations.init.find_out import together
    from handrail.operations.init.trial import kept

    fresh = kept(report.fresh, report.tried or (), report.found.where)
    return replace(report, fresh=fresh, whole=together(report.found, fresh))


def _edited(text: str) -> str:
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
