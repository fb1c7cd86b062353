"""`handrail help`."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handrail.cli.command_table import ALIASES, GROUPS, RUNS, SECTIONS, WORKFLOWS

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPICS: dict[str, str] = {
    "workflows": "what a workflow is, where workflows come from, how they are written",
    "runs": "what a run is, how it is named, how it continues",
    "steps": "addresses of steps: tries, rounds, items, called workflows",
    "approvals": "what needs you, and how you answer",
    "budgets": "limits on dollars, tokens, calls and minutes; usage limits",
    "worktrees": "where runs work, and what happens to their changes",
    "trust": "why you are asked before a workflow runs",
    "exit-codes": "what a command's exit code means",
    "environment": "variables that Handrail reads, and those that commands see",
    "files": "where Handrail stores its files",
    "json": "the documents that --json prints",
    "testing": "trying a workflow without a model",
}
"""Topics and what they are about; each is a page in `topics/`."""
MAX_COLUMNS = 80


def complete_help(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete topics and commands."""
    return [name for name in ("commands", *TOPICS, *RUNS, *WORKFLOWS, *GROUPS) if name.startswith(incomplete)]


@click.command("help", epilog="Example: handrail help exit-codes")
@click.argument("words", metavar="[TOPIC|COMMAND]", nargs=-1, shell_complete=complete_help)
@click.pass_context
def command(ctx: click.Context, *, words: tuple[str, ...]) -> None:
    """Explain a topic or a command; `handrail help commands` shows every command."""
    name = words[0] if words else ""
    if not words:
        _page(_topics())
    elif words == ("commands",):
        _page(_commands())
    elif words == (name,) and name in TOPICS:
        from handrail.cli.help_pages import render_page

        _page(render_page(topic_text(name), _columns()) + _see_also(name))
    else:
        click.echo(_help_of(ctx, words))


def topic_text(name: str) -> str:
    """Return the page of a topic as it was written."""
    return (Path(__file__).parent / "topics" / f"{name}.md").read_text("utf-8")


def _columns() -> int:
    return max(20, min(shutil.get_terminal_size().columns, MAX_COLUMNS))


def _page(text: str) -> None:
    """Show a text, through a pager if the terminal is too small for it."""
    long = text.count("\n") >= shutil.get_terminal_size().lines - 1
    if long and sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        click.echo(text.rstrip("\n"))


def _topics() -> str:
    formatter = click.HelpFormatter(width=_columns())
    with formatter.section("Topics, for example: handrail help runs"):
        formatter.write_dl(list(TOPICS.items()))
    _more(formatter)
    return formatter.getvalue()


def _commands() -> str:
    formatter, tables = click.HelpFormatter(width=_columns()), RUNS | WORKFLOWS
    for title, names in SECTIONS.items():
        with formatter.section(title):
            formatter.write_dl([(name, tables[name][1]) for name in names])
    with formatter.section("Groups"):
        formatter.write_dl([(name, " ".join(table)) for name, (table, _) in GROUPS.items()])
    with formatter.section("Other names"):
        formatter.write_dl([(name, f"the same as {target}") for name, target in ALIASES.items()])
    _more(formatter)
    return formatter.getvalue().removeprefix("\n")


def _more(formatter: click.HelpFormatter) -> None:
    formatter.write_paragraph()
    formatter.write_text("Every command takes --help. Topics: handrail help. All commands: handrail help commands.")


def _see_also(name: str) -> str:
    if name not in RUNS | WORKFLOWS:
        return ""
    from handrail.cli.render.layout import wrap_text

    return "\n" + "\n".join(wrap_text(f"The command of that name: handrail {name} --help", _columns())) + "\n"


def _help_of(ctx: click.Context, words: "Sequence[str]") -> str:
    """Return the help of a command, exactly as the command itself prints it."""
    parent = ctx.find_root()
    found: click.Command = parent.command
    for name in words:
        inner = found.get_command(parent, name) if isinstance(found, click.Group) else None
        if inner is None:
            raise _unknown(ctx, " ".join(words), words[0])
        parent = click.Context(inner, info_name=name, parent=parent)
        found = inner
    return parent.get_help()


def _unknown(ctx: click.Context, words: str, first: str) -> click.UsageError:
    from handrail.model.suggest import did_you_mean

    near = did_you_mean(first, ("commands", *TOPICS, *RUNS, *WORKFLOWS, *GROUPS, *ALIASES))
    return click.UsageError(f"there is no topic or command '{words}'{near}", ctx.parent)
