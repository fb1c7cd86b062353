"""How runs work on issues: `[issues]` of a repository's or the user's configuration."""

from pathlib import Path

from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.suggest import did_you_mean
from handrail.sources.config.toml_file import TomlFile, read_toml
from handrail.sources.folders import Folders

KEYS = ("workflow", "tracker", "close", "blocked_label")
TRACKERS = ("local", "remote")


@frozen
class IssueSetting:
    """What is configured about issues; empty or None where nothing is."""

    workflow: str = ""
    """The workflow that runs if none is named."""
    tracker: str = ""
    """Where ready issues are looked for: `local`, or `remote` for those of the repository's code host."""
    close: bool | None = None
    """Whether a run that finished its issue closes it."""
    blocked_label: str = ""
    """The label that an issue has while its run needs a person."""


def read_issues(file: TomlFile, report: Report) -> IssueSetting:
    """Read `[issues]`; a value that cannot be read is reported and counts as missing."""
    table = file.table("issues", report)
    for key in table:
        if key not in KEYS:
            message = f"unknown key '{key}' in [issues]{did_you_mean(key, KEYS)}"
            report.warning("config-key", message, file.place("issues", key), f"known keys: {', '.join(KEYS)}")
    return IssueSetting(
        _read_text(file, "workflow", table.get("workflow", ""), report),
        _read_tracker(file, table.get("tracker", ""), report),
        _read_truth(file, table.get("close"), report),
        _read_text(file, "blocked_label", table.get("blocked_label", ""), report),
    )


def read_user_issues(folders: Folders, report: Report) -> IssueSetting:
    """Read `[issues]` of the user's own configuration."""
    path = folders.config / "config.toml"
    return read_issues(read_toml(path, Path(path.anchor), report), report)


def merge_issues(first: IssueSetting, other: IssueSetting) -> IssueSetting:
    """Join two settings: what the first does not say, the other says."""
    return IssueSetting(
        first.workflow or other.workflow,
        first.tracker or other.tracker,
        other.close if first.close is None else first.close,
        first.blocked_label or other.blocked_label,
    )


def _read_text(file: TomlFile, key: str, said: object, report: Report) -> str:
    if isinstance(said, str):
        return said
    example = "fix-bug" if key == "workflow" else "needs-help"
    report.error("config-value", f"'{key}' must be a text", file.place("issues", key), f'write {key} = "{example}"')
    return ""


def _read_tracker(file: TomlFile, said: object, report: Report) -> str:
    if said == "" or said in TRACKERS:
        return str(said)
    near = did_you_mean(said, TRACKERS) if isinstance(said, str) else ""
    message = f"'tracker' must be one of {', '.join(TRACKERS)}{near}"
    report.error("config-value", message, file.place("issues", "tracker"), 'write tracker = "local"')
    return ""


def _read_truth(file: TomlFile, said: object, report: Report) -> bool | None:
    if said is None or isinstance(said, bool):
        return said
    report.error("config-value", "'close' must be true or false", file.place("issues", "close"), "write close = false")
    # A value that cannot be understood closes nothing.
    return False
