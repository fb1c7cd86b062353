"""Reads `[budget]`: what any run may spend, whatever its workflow allows."""

from typing import Any

from handrail.model.diagnostics import Report
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import Budget
from handrail.sources.config.toml_file import TomlFile

_WORDS = {"at_limit": ("ask", "finish", "stop"), "unknown_price": ("estimate", "block")}
_WHOLE = ("tokens", "agent_calls")
KEYS = ("usd", "tokens", "minutes", "agent_calls", "at_limit", "unknown_price")


def read_budget(file: TomlFile, report: Report) -> Budget | None:
    """Read the table; a limit that cannot be understood allows nothing, so that it is noticed."""
    found: dict[str, Any] = {}
    for key, value in file.table("budget", report).items():
        if key not in KEYS:
            message = f"unknown key '{key}' in [budget]{did_you_mean(key, KEYS)}"
            report.error("config-key", message, file.place("budget", key), f"known keys: {', '.join(KEYS)}")
        elif _is_valid(key, value):
            found[key] = value
        else:
            wanted = " or ".join(f'"{each}"' for each in _WORDS[key]) if key in _WORDS else "a number, at least 0"
            message = f"'{key}' of [budget] must be {wanted}"
            report.error("config-value", message, file.place("budget", key), _example(key))
            found |= {} if key in _WORDS else {key: 0}
    return Budget(**found) if found else None


def _is_valid(key: str, value: object) -> bool:
    if key in _WORDS:
        return value in _WORDS[key]
    is_number = isinstance(value, int) or (isinstance(value, float) and key not in _WHOLE)
    return is_number and not isinstance(value, bool) and isinstance(value, int | float) and value >= 0


def _example(key: str) -> str:
    return f'{key} = "{_WORDS[key][0]}"' if key in _WORDS else f"{key} = 5"
