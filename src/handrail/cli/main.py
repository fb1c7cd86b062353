"""The entry point: finds the command, runs it, and turns every outcome into output and an exit code."""

import gc
import os
import shutil
import sys
from typing import Any, NoReturn, TextIO

import click

from handrail import __version__
from handrail.cli.command_table import ALIASES, DAILY, GROUPS, RUNS, WORKFLOWS
from handrail.cli.lazy_group import CommandGroup

MORE = "All commands: handrail help commands. Topics: handrail help. One command: handrail help run."
GARBAGE = 20_000
"""The number of allocated objects between two garbage collections."""
MIN_COLUMNS = 52
"""The width below which click must be given the number of columns: otherwise it uses 50."""


class Handrail(CommandGroup):
    """The whole command line."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command line and exit with its code."""
        words = args[0] if args else extra.pop("args", None)
        color = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
        columns = shutil.get_terminal_size().columns
        extra = {
            "prog_name": "handrail",
            "color": color,
            "terminal_width": max(columns, 20) if columns < MIN_COLUMNS else None,
            **extra,
            "standalone_mode": False,
        }
        sys.exit(self._run(list(sys.argv[1:] if words is None else words), extra))

    def _run(self, args: list[str], extra: dict[str, Any]) -> int:
        for stream in (sys.stdout, sys.stderr):
            _never_fail_on_encoding(stream)
        try:
            code = super().main(args, **extra)
            sys.stdout.flush()
        except Exception as error:  # noqa: BLE001 - this is the one place where everything ends
            from handrail.cli.failures import show

            return show(error, as_json="--json" in args)
        finally:
            _wake_driver(args)
        return code if isinstance(code, int) else 0

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the twelve daily commands, the groups, and where to find the rest, so that it fits a small terminal."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table[name][1]) for name in DAILY])
        with formatter.section("Groups"):
            formatter.write_dl([(name, text) for name, (_, text) in GROUPS.items()])
        formatter.write_paragraph()
        formatter.write_text(MORE)


def _never_fail_on_encoding(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _wake_driver(args: list[str]) -> None:
    """Start a driver if it is time to look at issues and pull requests; usually this reads the time of one file."""
    folders = sys.modules.get("handrail.sources.folders")
    if folders is None or args[:1] == ["drive"]:
        return
    data = folders.user_folders(os.environ).data
    try:
        due = (data / "issues.due").stat().st_mtime
    except OSError:
        return
    from handrail.cli.steer.wake import wake_if_due

    wake_if_due(due)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"handrail {__version__}")
        ctx.exit()


@click.pass_context
def _run_bare_command(ctx: click.Context) -> int | None:
    """Show which runs need the user, are running or have ended, or the first steps while there are no runs."""
    if ctx.invoked_subcommand is not None:
        return None
    from handrail.cli.look.status import show_overview

    return show_overview()


cli = Handrail(
    "handrail", RUNS | WORKFLOWS, "Run coding agents along workflows you can trust, stop and rewind.", ALIASES
)
cli.callback = _run_bare_command
cli.params.append(
    click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, help="Show the version.", callback=_show_version
    )
)
for _name, (_table, _text) in GROUPS.items():
    cli.add_command(CommandGroup(_name, _table, _text))


def main() -> None:
    """Run the command line of this process."""
    # Imported objects are not garbage: a collection every 700 objects takes a tenth of a short command's time.
    gc.set_threshold(GARBAGE)
    try:
        cli.main()
    finally:
        # The process ends: what it still holds need not be searched for garbage, which takes as long again.
        gc.freeze()
