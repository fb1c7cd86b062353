"""`handrail notify`."""

import click

from handrail.cli.options import current_place, json_option
from handrail.cli.output import note, write_json


@click.command("notify", epilog="Example: handrail notify test '#dev'")
@click.argument("action", metavar="test", type=click.Choice(["test"]))
@click.argument("channel", required=False, default="")
@json_option
def command(*, action: str, channel: str, as_json: bool) -> int:  # noqa: ARG001 (there is one so far)
    """Send a test notification to yourself, or to a CHANNEL.

    [notify] in your own config.toml sets how you are notified when a run needs you: `desktop = true`, `command`,
    `webhook`. Channels for `escalate_to` are set under [notify.channels."#dev"].
    """
    from handrail.cli.render.diagnostics import render_diagnostics
    from handrail.cli.render.safe_text import escape_controls
    from handrail.errors import UsageError
    from handrail.model.diagnostics import Report
    from handrail.ports.notices import Notice
    from handrail.sources.config.notify import WAYS, read_notify
    from handrail.wiring.notices import send_notice

    folders, report = current_place().folders, Report()
    setting = read_notify(folders, report)
    if found := tuple(report):
        note(render_diagnostics(found))
    target = setting.channel(channel) if channel else setting.own
    if target is None or target.is_empty:
        table = f'[notify.channels."{channel}"]' if channel else "[notify]"
        whom = f"the channel '{channel}'" if channel else "you"
        message = f"no notification is configured for {whom}"
        hint = f"add {table} with desktop = true, command or webhook to {folders.config / 'config.toml'}"
        raise UsageError(message, next_step=hint)
    notice = Notice(
        run="test-1",
        workflow="test",
        need="test",
        step="",
        message="this is what a notification looks like when a run needs you",
        next_step="handrail status",
    )
    problems = send_notice(target, notice)
    failed = {each.partition(":")[0] for each in problems}
    sent = [way for way in WAYS if getattr(target, way) and way not in failed]
    if as_json:
        write_json({"sent": sent, "failed": list(problems)})
        return 1 if problems else 0
    for problem in problems:
        click.echo(escape_controls(f"failed: {problem}"))
    if sent:
        click.echo(f"sent by {', '.join(sent)}")
    return 1 if problems else 0
