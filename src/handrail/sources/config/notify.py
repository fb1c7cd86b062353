"""Who is notified when a run needs a person: `[notify]` and `[notify.channels.NAME]` of the user's `config.toml`."""

import re
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Span
from handrail.model.suggest import did_you_mean
from handrail.ports.notices import NoticeTarget
from handrail.sources.config.toml_file import TomlFile, read_toml
from handrail.sources.folders import Folders

WAYS = ("desktop", "command", "webhook")
_ADDRESS = re.compile(r"https://[^\s/]+\S*|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/\S*)?")


@frozen
class NotifySetting:
    """Whom the user wants to be notified."""

    own: NoticeTarget = NoticeTarget()
    channels: tuple[tuple[str, NoticeTarget], ...] = ()

    def channel(self, name: str) -> NoticeTarget | None:
        """Look up a channel by its name."""
        return dict(self.channels).get(name)


def read_notify(folders: Folders, report: Report) -> NotifySetting:
    """Read whom the user wants to be notified; what cannot be understood is reported and notifies nobody."""
    path = folders.config / "config.toml"
    file = read_toml(path, Path(path.anchor), report)
    table = file.table("notify", report)
    given = table.get("channels", {})
    channels = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if not isinstance(given, dict):
        hint = 'write [notify.channels."#dev"], and the keys below it'
        report.error("config-value", "'channels' must be a table of channels", file.place("notify", "channels"), hint)
    own = _target(file, {key: value for key, value in table.items() if key != "channels"}, "notify", report)
    return NotifySetting(own, tuple((name, _channel(file, name, each, report)) for name, each in channels.items()))


def _channel(file: TomlFile, name: str, given: object, report: Report) -> NoticeTarget:
    title = f'notify.channels."{name}"'
    if not isinstance(given, dict):
        report.error("config-value", f"the channel '{name}' must be a table", file.place("notify"), f"write [{title}]")
        return NoticeTarget()
    return _target(file, cast("dict[str, Any]", given), title, report)


def _target(file: TomlFile, table: dict[str, Any], title: str, report: Report) -> NoticeTarget:
    at = file.place("notify")
    for key in table:
        if key not in WAYS:
            message = f"unknown key '{key}' in [{title}]{did_you_mean(key, WAYS)}"
            report.warning("config-key", message, at, f"known keys: {', '.join(WAYS)}")
    desktop = table.get("desktop", False)
    if not isinstance(desktop, bool):
        report.error("config-value", f"'desktop' in [{title}] must be true or false", at, "write desktop = true")
    command = _text(table, "command", title, at, report)
    return NoticeTarget(desktop is True, command, _webhook(table, title, at, report))


def _text(table: dict[str, Any], key: str, title: str, at: Span, report: Report) -> str:
    value = table.get(key, "")
    if isinstance(value, str) and "\0" not in value:
        return value.strip()
    report.error("config-value", f"'{key}' in [{title}] must be a text", at, f'write {key} = "..."')
    return ""


def _webhook(table: dict[str, Any], title: str, at: Span, report: Report) -> str:
    address = _text(table, "webhook", title, at, report)
    if not address or _ADDRESS.fullmatch(address):
        return address
    message = f"'webhook' in [{title}] must be an address that begins with https://"
    report.error("config-value", message, at, 'write webhook = "https://..."; http:// is allowed only for this machine')
    return ""
