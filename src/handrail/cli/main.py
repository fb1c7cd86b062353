"""The entry point: finds the command, runs it, and turns whatever happens into words and an exit code."""

import os
import sys
from typing import Any, NoReturn, TextIO

import click

from handrail import __version__
from handrail.cli.commands import RUNS, WORKFLOWS
from handrail.cli.lazy import CommandGroup

EPILOG = """\
Every command takes --help, and --json for one JSON document on stdout.
Exit codes: 0 done, 1 failed, 2 wrong call, 3 needs a person, 4 invalid workflow,
  5 budget or usage limit, 130 paused.
Completion:  eval "$(_HANDRAIL_COMPLETE=bash_source handrail)"   (or zsh_source, fish_source)
"""


class Handrail(CommandGroup):
    """The whole command line."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command line and exit with its code."""
        words = args[0] if args else extra.pop("args", None)
        color = False if os.environ.get("NO_COLOR") else None
        extra = {"prog_name": "handrail", "color": color, **extra, "standalone_mode": False}
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
        return code if isinstance(code, int) else 0


def _never_fail_on_encoding(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"handrail {__version__}")
        ctx.exit()


@click.pass_context
def _what_needs_me(ctx: click.Context) -> int | None:
    """The bare command: what needs me, what runs, what ended; the help while there are no runs."""
    if ctx.invoked_subcommand is not None:
        return None
    from handrail.cli.status import show_overview

    code = show_overview()
    if code is None:
        click.echo(ctx.get_help())
    return code


cli = Handrail(
    "handrail",
    {"Runs": RUNS, "Workflows": WORKFLOWS},
    "Run coding agents along workflows you can trust, stop and rewind.",
    EPILOG,
)
cli.callback = _what_needs_me
cli.params.append(
    click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, help="Show the version.", callback=_show_version
    )
)
cli.add_command(
    CommandGroup("workflow", {"Commands": WORKFLOWS}, "The same commands, as `handrail workflow list`.", epilog="")
)


def main() -> None:
    """Run the command line of this process."""
    cli.main()
