"""How far runs of connected agents go on alone: `[pull]` with `autonomy` and `risk`."""

from typing import get_args

from handrail.model.diagnostics import Report
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import Autonomy, PullSetting, Risk
from handrail.sources.config.toml_file import TomlFile

CHOICES: dict[str, tuple[str, ...]] = {"autonomy": get_args(Autonomy), "risk": get_args(Risk)}


def read_pull(file: TomlFile, report: Report) -> PullSetting:
    """Read `[pull]`; a value that cannot be read counts as missing."""
    table = file.table("pull", report)
    for key in table:
        if key not in CHOICES:
            message = f"unknown key '{key}' in [pull]{did_you_mean(key, CHOICES)}"
            report.warning("config-key", message, file.place("pull", key), f"known keys: {', '.join(CHOICES)}")
    return PullSetting(*(_read_choice(file, name, table.get(name, ""), report) for name in CHOICES))


def _read_choice(file: TomlFile, key: str, said: object, report: Report) -> str:
    known = CHOICES[key]
    if said == "" or said in known:
        return str(said)
    near = did_you_mean(said, known) if isinstance(said, str) else ""
    message = f"'{key}' must be one of {', '.join(known)}{near}"
    report.error("config-value", message, file.place("pull", key), f'write {key} = "{known[0]}"')
    return ""
