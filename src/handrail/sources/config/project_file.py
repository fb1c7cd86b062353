"""Reads `[project]` and the tables `[checks.NAME]`: where the code is, and how one file is checked."""

import re
from typing import Any, cast

from handrail.model.diagnostics import Report
from handrail.model.names import path_problem
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import FileCheck, Project
from handrail.sources.config.toml_file import TomlFile

KEYS = ("sources", "default_branch", "outdated", "update")
CHECK_KEYS = ("command", "failed", "report", "failed_when")
_EXAMPLES = {
    "sources": 'sources = ["src/**"]',
    "default_branch": 'default_branch = "main"',
    "outdated": 'outdated = "./scripts/outdated"',
    "update": 'update = "./scripts/update"',
    "command": 'command = "pytest -q"',
    "failed": "failed = [1]",
    "report": 'report = "build/report.xml"',
    "failed_when": 'failed_when = "^FAIL: "',
}


def read_project(file: TomlFile, report: Report) -> Project:
    """Read both; every problem is reported and the valid rest is used."""
    table = file.table("project", report)
    for key in table:
        if key not in KEYS:
            message = f"unknown key '{key}' in [project]{did_you_mean(key, KEYS)}"
            report.warning("config-key", message, file.place("project", key), f"known keys: {', '.join(KEYS)}")
    reader = _Reader(file, report, "project", "")
    return Project(
        reader.globs(table),
        reader.text(table, "default_branch"),
        reader.text(table, "outdated"),
        reader.text(table, "update"),
        tuple(_file_checks(file, report)),
    )


def _file_checks(file: TomlFile, report: Report) -> "list[FileCheck]":
    found: list[FileCheck] = []
    for name, value in file.table("checks", report).items():
        if not isinstance(value, dict):
            continue
        table = cast("dict[str, Any]", value)
        for key in table:
            if key not in CHECK_KEYS:
                message = f"unknown key '{key}' in [checks.{name}]{did_you_mean(key, CHECK_KEYS)}"
                place = file.find_nested_place("checks", name, key)
                report.warning("config-key", message, place, f"known keys: {', '.join(CHECK_KEYS)}")
        reader = _Reader(file, report, "checks", name)
        command = reader.text(table, "command")
        if not command.strip():
            if "command" not in table:
                message = f"[checks.{name}] has no command"
                hint = f"write {_EXAMPLES['command']}"
                report.error("config-value", message, file.find_nested_place("checks", name), hint)
            continue
        check = FileCheck(name, command, reader.codes(table), reader.report_path(table), reader.pattern(table))
        found.append(check)
    return found


class _Reader:
    """Reads the values of one table."""

    def __init__(self, file: TomlFile, report: Report, table: str, name: str) -> None:
        self._file, self._report, self._table, self._name = file, report, table, name

    def text(self, table: dict[str, Any], key: str) -> str:
        """Read a text; empty when there is none."""
        value = table.get(key, "")
        return value if isinstance(value, str) else self._refuse(key, "must be a text")

    def globs(self, table: dict[str, Any]) -> tuple[str, ...]:
        """Read the globs of the product's code."""
        value = table.get("sources", [])
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        texts = tuple(each for each in listed if isinstance(each, str) and each.strip("! "))
        outside = [each for each in texts if path_problem(each.removeprefix("!"))]
        if len(texts) != len(listed) or outside:
            self._refuse("sources", "must be a list of globs inside the repository")
            return ()
        if texts and all(each.startswith("!") for each in texts):
            self._refuse("sources", "contains only exclusions, so it matches nothing")
            return ()
        return texts

    def codes(self, table: dict[str, Any]) -> tuple[int, ...]:
        """Read the exit codes that mean a failing test."""
        value = table.get("failed", [])
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        codes = tuple(each for each in listed if type(each) is int and 0 < each < 256)
        if len(codes) != len(listed):
            self._refuse("failed", "must be a list of exit codes from 1 to 255")
        return codes

    def report_path(self, table: dict[str, Any]) -> str:
        """Read the path of a report inside the worktree."""
        path = self.text(table, "report")
        return self._refuse("report", "must be a path inside the repository") if path and path_problem(path) else path

    def pattern(self, table: dict[str, Any]) -> str:
        """Read a pattern; whether it can be searched in bounded time is checked by the run that needs it."""
        text = self.text(table, "failed_when")
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            return self._refuse("failed_when", f"is not a valid pattern: {error}")
        return text

    def _refuse(self, key: str, what: str) -> str:
        file, name = self._file, self._name
        place = file.find_nested_place(self._table, name, key) if name else file.place(self._table, key)
        self._report.error("config-value", f"'{key}' {what}", place, f"write {_EXAMPLES[key]}")
        return ""
