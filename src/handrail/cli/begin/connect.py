"""`handrail connect`."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import write_json
from handrail.cli.render.safe_text import escape_controls
from handrail.frozen import frozen

if TYPE_CHECKING:
    from handrail.operations.connect.connection import FileTarget
    from handrail.operations.connect.receipts import Receipts
    from handrail.ports.agent_profiles import ConnectedClient

FOR_AGENT = ""
"""The value of `--skill` without a folder."""


@frozen
class _Options:
    """The options of the call."""

    agent: str | None
    project: bool
    skill: str | None
    yes: bool
    undo: bool
    as_json: bool


def complete_clients(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the names of agents and editors."""
    from handrail.wiring.machine import this_machine

    return [each.name for each in this_machine().agents.clients if each.name.startswith(incomplete)]


@click.command("connect", epilog="Example: handrail connect claude --yes")
@click.argument("agent", metavar="[AGENT]", required=False, shell_complete=complete_clients)
@click.option(
    "--project", is_flag=True, help="Connect it in this repository, for everyone who works on it, not only for you."
)
@click.option(
    "--skill",
    is_flag=False,
    flag_value=FOR_AGENT,
    metavar="[DIR]",
    help="Install the skill that teaches an agent to use Handrail; into DIR, or where AGENT looks for skills.",
)
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--undo", is_flag=True, help="Remove exactly what was written.")
@json_option
def command(**given: Any) -> int:
    """Connect an agent to Handrail: claude, codex, gemini, opencode, cursor or vscode.

    Shows the file and the lines that connect it, and writes them after you confirm. Everything else in the file,
    including comments, stays as it is; --undo removes exactly what was written.
    """
    wanted = _Options(**given)
    client, target = _target(wanted)
    about = client.title if client is not None else "the agents that look there"
    changed = _undo_target(wanted, target, about) if wanted.undo else _write_target(wanted, target, about, client)
    if wanted.as_json:
        write_json(_data(wanted, target, changed=changed))
    return 0


def _target(wanted: _Options) -> "tuple[ConnectedClient | None, FileTarget]":
    from handrail.operations.connect.clients import config_target, find_client, skill_folder, skill_target
    from handrail.wiring.machine import this_machine

    place, clients = current_place(), this_machine().agents.clients
    if wanted.agent is None:
        if not wanted.skill:
            names = ", ".join(each.name for each in clients)
            raise click.UsageError(f"which agent? One of {names}", click.get_current_context())
        return None, skill_target(Path(wanted.skill))
    client = find_client(clients, wanted.agent)
    if wanted.skill is None:
        return client, config_target(client, place, os.environ, project=wanted.project)
    folder = Path(wanted.skill) if wanted.skill else None
    return client, skill_target(folder or skill_folder(client, place, os.environ, project=wanted.project))


def _write_target(wanted: _Options, target: "FileTarget", about: str, client: "ConnectedClient | None") -> bool:
    from handrail.operations.connect.connection import look_at, write

    receipts = _receipts()
    standing = look_at(target, receipts)
    if standing.state == "present":
        _say(wanted, f"{_display_path(target)} is already set up: nothing to do")
        return False
    if standing.problem:
        write(target, receipts)
    _say(wanted, _question(target, about, client, wanted))
    if not _confirm_write(wanted):
        _say(wanted, "nothing was written; use --yes to write it")
        return False
    done = write(target, receipts)
    _say(wanted, f"wrote {_display_path(target)}; restart {about} to use it")
    _say(wanted, f"to undo this: {_command_line(wanted)} --undo")
    return done


def _undo_target(wanted: _Options, target: "FileTarget", about: str) -> bool:
    from handrail.operations.connect.connection import take_back

    done = take_back(target, _receipts())
    gone = f"removed what was written to {_display_path(target)}; restart {about}"
    _say(wanted, gone if done else f"{_display_path(target)} has nothing to undo")
    return done


def _receipts() -> "Receipts":
    from handrail.operations.connect.receipts import Receipts

    return Receipts(current_place().folders.data)


def _question(target: "FileTarget", about: str, client: "ConnectedClient | None", wanted: _Options) -> str:
    from handrail.operations.connect.clients import client_command

    if target.form is None:
        return f"this file teaches {about} to use Handrail:\n  {_display_path(target)}"
    lines = "".join(f"  {line}\n" for line in target.lines.splitlines())
    is_plain = client is not None and not wanted.project and client.environment not in target.entry
    own = client_command(client) if client is not None and is_plain else ""
    other = f"or, with its own command: {own}\n" if own else ""
    return f"{about} reads {_display_path(target)}; these lines connect it:\n\n{lines}\n{other}".rstrip("\n")


def _confirm_write(wanted: _Options) -> bool:
    if wanted.yes or wanted.as_json:
        return wanted.yes
    return sys.stdin.isatty() and click.confirm("Write this?", err=True)


def _command_line(wanted: _Options) -> str:
    skill = ["--skill", *([wanted.skill] if wanted.skill else [])] if wanted.skill is not None else []
    words = ["handrail", "connect", *([wanted.agent] if wanted.agent else []), *skill]
    return shlex.join([*words, *(["--project"] if wanted.project else [])])


def _say(wanted: _Options, text: str) -> None:
    if not wanted.as_json:
        click.echo("\n".join(escape_controls(line) for line in text.split("\n")))


def _display_path(target: "FileTarget") -> str:
    return current_place().display_path(target.path)


def _data(wanted: _Options, target: "FileTarget", *, changed: bool) -> dict[str, object]:
    from handrail.operations.connect.connection import look_at

    return {
        "agent": wanted.agent,
        "scope": "project" if wanted.project else "user",
        "what": "skill" if target.form is None else "server",
        "path": str(target.path),
        "lines": target.lines,
        "state": look_at(target, _receipts()).state,
        "changed": changed,
    }
