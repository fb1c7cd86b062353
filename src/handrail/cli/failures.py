"""Shows a person or a program why a command failed."""

import os
import sys
import traceback
from typing import Any

import click

from handrail.cli.output import write_json
from handrail.cli.render.diagnostics import diagnostic_data, render_diagnostics
from handrail.cli.render.safe_text import escape_controls
from handrail.errors import HandrailError, InvalidWorkflow, NotConfigured

INTERRUPTED = 130
PIPE_CLOSED = 1
"""The code that click uses when it notices the closed pipe first."""


def show(error: Exception, *, as_json: bool) -> int:
    """Print what happened, to stdout or stderr as the caller expects, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        return _leave_closed_pipe()
    if isinstance(error, click.Abort):
        click.echo("stopped", err=True)
        return INTERRUPTED
    try:
        return _say(error, as_json=as_json)
    except BrokenPipeError:
        return _leave_closed_pipe()


def _say(error: Exception, *, as_json: bool) -> int:
    match error:
        case HandrailError():
            said, code = _error_data(error), error.exit_code
        case click.ClickException():
            said, code = _usage(error), error.exit_code
        case OSError():
            said, code = {"code": "environment", "message": _machine(error), "next": None}, 1
        case _:
            said, code = _bug(error), 1
    if as_json:
        write_json({"error": said})
    else:
        _write_text(error, said)
    return code


def _write_text(error: Exception, said: dict[str, Any]) -> None:
    if isinstance(error, InvalidWorkflow) and error.diagnostics:
        click.echo(render_diagnostics(error.diagnostics), err=True)
    click.echo(f"{click.style('error', fg='red', bold=True)}: {escape_controls(said['message'])}", err=True)
    if said["next"]:
        click.echo(f"next: {escape_controls(said['next'])}", err=True)
    for line in said.get("lines", ()):
        click.echo(f"  {escape_controls(line)}".rstrip(), err=True)


def _error_data(error: HandrailError) -> dict[str, Any]:
    said: dict[str, Any] = {"code": error.code, "message": error.message, "next": error.next_step}
    if isinstance(error, InvalidWorkflow):
        said["diagnostics"] = [diagnostic_data(found) for found in error.diagnostics]
    if isinstance(error, NotConfigured):
        said["lines"] = list(error.lines)
    return said


def _usage(error: click.ClickException) -> dict[str, Any]:
    context = getattr(error, "ctx", None)
    path = context.command_path if isinstance(context, click.Context) else "handrail"
    if isinstance(error, click.FileError):
        return {"code": "environment", "message": f"{error.ui_filename}: {error.message}", "next": None}
    is_group = not isinstance(context, click.Context) or isinstance(context.command, click.Group)
    if isinstance(error, click.NoSuchOption) and error.option_name == "--json" and is_group:
        return {"code": "usage", "message": "--json must come after the command", "next": f"{path} COMMAND --json"}
    message = error.format_message().rstrip(".")
    return {"code": "usage", "message": message[:1].lower() + message[1:], "next": f"{path} --help"}


def _machine(error: OSError) -> str:
    reason = error.strerror or str(error)
    reason = reason[:1].lower() + reason[1:]
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def _bug(error: Exception) -> dict[str, Any]:
    if os.environ.get("HANDRAIL_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    message = f"internal error: {type(error).__name__}: {error}"
    next_step = (
        "this is a bug in Handrail; run it again with HANDRAIL_DEBUG=1 and report the output to its issue tracker"
    )
    return {"code": "internal", "message": message, "next": next_step}


def _leave_closed_pipe() -> int:
    # The interpreter flushes stdout once more at exit; without another target that would print a traceback.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return PIPE_CLOSED
