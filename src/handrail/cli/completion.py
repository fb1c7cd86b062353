"""`handrail completion`."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", epilog='Example: eval "$(handrail completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
def command(*, shell: str) -> None:
    """Print the completion script for your shell: commands, workflows, runs and steps.

    \b
    bash: eval "$(handrail completion bash)" in ~/.bashrc
    zsh:  eval "$(handrail completion zsh)" in ~/.zshrc, after compinit
    fish: handrail completion fish > ~/.config/fish/completions/handrail.fish
    """  # noqa: D301 - click takes the character, not its escape
    from click.shell_completion import get_completion_class

    from handrail.cli.main import cli

    found = get_completion_class(shell)
    if found is not None:
        click.echo(found(cli, {}, "handrail", "_HANDRAIL_COMPLETE").source())
