"""A group whose commands are named in a table and loaded when they are called."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import click

from handrail.cli.commands import HIDDEN

Table: TypeAlias = dict[str, tuple[str, str]]
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
"""Commands take over from their group which options ask for the help."""

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandGroup(click.Group):
    """Commands from tables of `name: (module:attribute, help)`, by the title of their section in the help."""

    def __init__(self, name: str, sections: dict[str, Table], help_text: str, epilog: str) -> None:
        super().__init__(name, invoke_without_command=True, callback=show_help, help=help_text, epilog=epilog)
        self.context_settings = HELP
        self.sections = sections
        self.table: Table = {command: place for table in sections.values() for command, place in table.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Name all commands, in the order of the table."""
        return [*self.table, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        place = self.table[cmd_name][0] if cmd_name in self.table else HIDDEN.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = place.partition(":")
        return cast("click.Command", getattr(import_module(module), attribute))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or say which one was probably meant."""
        known = self.list_commands(ctx)
        if args[0] not in known and args[0] not in HIDDEN and not args[0].startswith("-") and not ctx.resilient_parsing:
            from handrail.model.suggest import did_you_mean

            raise click.UsageError(f"there is no command '{args[0]}'{did_you_mean(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the sections of commands from the table alone."""
        for title, table in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in table.items()])
        if self.commands:
            with formatter.section("Groups"):
                formatter.write_dl([(name, group.get_short_help_str(90)) for name, group in self.commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the epilog line by line, as it stands."""
        if self.epilog:
            formatter.write("\n" + self.epilog.strip("\n") + "\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the names of commands without loading them."""
        from click.shell_completion import CompletionItem

        texts = {name: text for name, (_, text) in self.table.items()}
        texts |= {name: group.get_short_help_str(90) for name, group in self.commands.items()}
        found = [CompletionItem(name, help=text) for name, text in texts.items() if name.startswith(incomplete)]
        return found or click.Command.shell_complete(self, ctx, incomplete)


@click.pass_context
def show_help(ctx: click.Context) -> None:
    """Show a group's help where no command of it was called."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
