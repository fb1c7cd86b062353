"""A click group whose commands are named in a table and loaded when they are called."""

from collections.abc import Mapping
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import click

from handrail.cli.command_table import ANY_COMMANDS, HIDDEN, PERSON_COMMANDS, SUGGESTIONS

Table: TypeAlias = dict[str, tuple[str, str]]
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Commands inherit from their group which options show the help."""

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandGroup(click.Group):
    """Commands from a table of `name: (module:attribute, help)`, with aliases for some of them."""

    def __init__(self, name: str, table: Table, help_text: str, aliases: Mapping[str, str] | None = None) -> None:
        super().__init__(name, invoke_without_command=True, callback=show_help, help=help_text)
        self.context_settings = HELP
        self.table = table
        self.aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """List all commands, in the order of the table."""
        return [*self.table, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name in self.aliases:
            return _rename_command(self.get_command(ctx, self.aliases[cmd_name]), cmd_name, self.aliases[cmd_name])
        place = self.table[cmd_name][0] if cmd_name in self.table else HIDDEN.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = place.partition(":")
        command = cast("click.Command", getattr(import_module(module), attribute))
        inner = f"{self.name} {cmd_name}"
        known = inner if inner in ANY_COMMANDS or inner in PERSON_COMMANDS else cmd_name
        return command if known in ANY_COMMANDS else _guard_command(command, known)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or suggest the one that was probably meant."""
        known = [*self.list_commands(ctx), *self.aliases]
        if args[0] not in known and args[0] not in HIDDEN and not args[0].startswith("-") and not ctx.resilient_parsing:
            from handrail.model.suggest import did_you_mean

            near = f"; use {SUGGESTIONS[args[0]]}" if args[0] in SUGGESTIONS else did_you_mean(args[0], known)
            raise click.UsageError(f"there is no command '{args[0]}'{near}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands from the table, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the names of commands without loading them."""
        from click.shell_completion import CompletionItem

        texts = {name: text for name, (_, text) in self.table.items()}
        texts |= {name: group.get_short_help_str(90) for name, group in self.commands.items()}
        found = [CompletionItem(name, help=text) for name, text in texts.items() if name.startswith(incomplete)]
        return found or click.Command.shell_complete(self, ctx, incomplete)


def _rename_command(command: click.Command | None, name: str, target: str) -> click.Command | None:
    if command is None:
        return None
    renamed = copy(command)
    renamed.name, renamed.help = name, f"The same as `handrail {target}`.\n\n{command.help or ''}"
    return renamed


def _guard_command(command: click.Command, name: str) -> click.Command:
    """Wrap a command so that it first checks whether a person calls it."""
    callback = command.callback
    if callback is None:
        return command

    def call_as_person(**given: Any) -> Any:
        from handrail.cli.whose_word import require_person

        require_person(name, given)
        return callback(**given)

    guarded = copy(command)
    guarded.callback = call_as_person
    return guarded


@click.pass_context
def show_help(ctx: click.Context) -> None:
    """Show a group's help if none of its commands was called."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
