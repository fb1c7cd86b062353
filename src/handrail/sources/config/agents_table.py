"""One `[agents.NAME]` while it is read: its values, their positions, and where its problems are reported."""

from typing import Any

from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.sources.config.toml_file import TomlFile


@frozen
class Table:
    """The table of one agent."""

    file: TomlFile
    name: str
    values: dict[str, Any]
    report: Report

    def wrong(self, key: str, message: str, hint: str) -> None:
        """Report a value that cannot be used."""
        place = self.file.find_nested_place("agents", self.name, key)
        self.report.error("config-value", f"agent '{self.name}': {message}", place, hint)

    def unknown(self, key: str, message: str, hint: str) -> None:
        """Report a key that is ignored."""
        place = self.file.find_nested_place("agents", self.name, key)
        self.report.warning("config-key", f"agent '{self.name}': {message}", place, hint)
