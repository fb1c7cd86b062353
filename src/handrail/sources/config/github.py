"""Where GitHub is: `[github]` of the user's `config.toml`; a repository cannot say where a token is sent."""

from pathlib import Path
from typing import Any

from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.suggest import did_you_mean
from handrail.sources.config.toml_file import TomlFile, read_toml
from handrail.sources.folders import Folders

KEYS = ("api_url", "host")


@frozen
class GitHubTable:
    """What the user configures about GitHub."""

    api_url: str = ""
    """The address of the REST API, such as `https://github.example.org/api/v3`."""
    host: str = ""
    """The host of the web pages and remotes, where it does not follow from that address."""


def read_github(folders: Folders, report: Report) -> GitHubTable:
    """Read where GitHub is; what cannot be understood is reported and counts as not written."""
    path = folders.config / "config.toml"
    file = read_toml(path, Path(path.anchor), report)
    table = file.table("github", report)
    for key in table:
        if key not in KEYS:
            message = f"unknown key '{key}' in [github]{did_you_mean(key, KEYS)}"
            report.warning("config-key", message, file.place("github", key), f"known keys: {', '.join(KEYS)}")
    return GitHubTable(_text(file, table, "api_url", report), _text(file, table, "host", report))


def _text(file: TomlFile, table: dict[str, Any], key: str, report: Report) -> str:
    value = table.get(key, "")
    if isinstance(value, str):
        return value.strip()
    report.error("config-value", f"'{key}' must be a text", file.place("github", key), f'write {key} = "..."')
    return ""
