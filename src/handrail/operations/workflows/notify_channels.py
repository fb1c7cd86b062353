"""Checks the channels that workflows notify with `escalate_to` against those of the user's own configuration."""

from collections.abc import Iterable, Iterator

from handrail.errors import UsageError
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.parts import walk_steps
from handrail.model.source import Document, Entry, Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.actions import has_escalation
from handrail.model.workflow.plan import Plan
from handrail.sources.config.notify import NotifySetting, read_notify
from handrail.sources.tiers import Location


def require_channels(place: Location, plans: Iterable[Plan]) -> None:
    """Refuse to start a run that would notify a channel which cannot be reached."""
    for plan in plans:
        for address, channel in list_escalations(plan):
            setting = read_notify(place.folders, Report())
            if not has_channel(setting, channel):
                message = f"step '{address}' escalates to {_problem(setting, channel)}"
                raise UsageError(message, next_step=_hint(place, channel))


def channel_problems(place: Location, document: Document, plan: Plan) -> tuple[Diagnostic, ...]:
    """Return an error for each channel of a workflow that the user's configuration cannot reach."""
    wanted = {channel for _, channel in list_escalations(plan)}
    setting, report = read_notify(place.folders, Report()) if wanted else NotifySetting(), Report()
    for entry in _entries(document.root):
        value = entry.value.value if isinstance(entry.value, Scalar) else None
        if entry.name == "escalate_to" and value in wanted and not has_channel(setting, str(value)):
            message = f"escalates to {_problem(setting, str(value))}"
            report.error("unknown-channel", message, entry.value, _hint(place, str(value)))
    return tuple(report)


def list_escalations(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the steps of a plan that notify a channel, each with the channel."""
    for address, step in walk_steps(plan.steps):
        if step.escalate_to and (step.on_fail == "escalate" or has_escalation(step.action)):
            yield address, step.escalate_to


def has_channel(setting: NotifySetting, name: str) -> bool:
    """Whether a channel can be reached."""
    target = setting.channel(name)
    return target is not None and not target.is_empty


def _problem(setting: NotifySetting, channel: str) -> str:
    known = [name for name, _ in setting.channels]
    if channel in known:
        return f"'{channel}', for which your configuration has no desktop, command or webhook"
    return f"'{channel}', which is not a channel in your configuration{did_you_mean(channel, known)}"


def _hint(place: Location, channel: str) -> str:
    return (
        f'add [notify.channels."{channel}"] with desktop, command or webhook to {place.folders.config / "config.toml"}'
    )


def _entries(node: Node) -> Iterator[Entry]:
    match node:
        case Mapping():
            for entry in node:
                yield entry
                yield from _entries(entry.value)
        case Sequence():
            for item in node:
                yield from _entries(item)
        case _:
            return
