"""The text of `.handrail/config.toml`: written from scratch, or extended without changing what a person wrote."""

import json
import re
import tomllib
from dataclasses import replace
from typing import Any, TypeAlias

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.workflow.settings import NO_PROJECT, FileCheck, Project

MARK = "# left out by handrail init"
HEAD = """\
# How Handrail works in this repository. Written by `handrail init`; edit it as you like.
# After a change: handrail trust .handrail/config.toml
"""
ABOUT = {
    "project": "# Where the product's code is, which branch work goes to, and how packages are listed and updated.",
    "agent": "# The agent for steps that do not name one. NAME uses the agent's own model; NAME/MODEL chooses one.",
    "checks": "# Commands that must pass; `checks: project` in a workflow runs them all.",
    "checks.test_one": "# Runs the tests of $FILE. The other keys tell a failing test from one that does not compile.",
    "worktrees": "# Runs work in fresh worktrees: commands that set one up, and ignored files to copy there.",
}
"""Each table with the comment that it starts with."""
EMPTY = {
    "project": '# Nothing was found. For example: sources = ["src/**"]',
    "agent": '# None was found. For example: default = "claude"',
    "checks": '# None were found. For example: test = "make test"',
    "worktrees": '# Nothing is needed. For example: setup = ["npm ci"] and copy = [".env"]',
}
Plain: TypeAlias = str | tuple[str, ...] | tuple[int, ...]
"""A value as it is written."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@frozen
class OmittedCommand:
    """A check or a set-up command that was found and is not used, with the reason."""

    table: str
    name: str
    value: str | tuple[str, ...]
    why: str


@frozen
class Settings:
    """What is to be written: one agent, checks, and how worktrees are set up."""

    agent: str = ""
    checks: tuple[tuple[str, str], ...] = ()
    setup: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    left_out: tuple[OmittedCommand, ...] = ()
    project: Project = NO_PROJECT

    @property
    def single_file_check(self) -> FileCheck | None:
        """How the tests of one file are run."""
        return next((each for each in self.project.file_checks if each.name == "test_one"), None)

    def tables(self) -> "dict[str, dict[str, Plain]]":
        """Return the tables with their keys and values, without empty ones."""
        worktrees = {"setup": self.setup, "copy": self.copy}
        one, project = self.single_file_check, self.project
        names = ("sources", "default_branch", "outdated", "update")
        found: dict[str, Plain] = {name: getattr(project, name) for name in names if getattr(project, name)}
        single: dict[str, Plain] = {} if one is None else {"command": one.command}
        if one is not None:
            single |= {"failed": one.failed} if one.failed else {}
            single |= {"failed_when": one.failed_when} if one.failed_when else {}
        return {
            "project": found,
            "agent": {"default": self.agent} if self.agent else {},
            "checks": dict(self.checks),
            "checks.test_one": single,
            "worktrees": {name: value for name, value in worktrees.items() if value},
        }


def assignment(name: str, value: "Plain") -> str:
    """Format a key and its value as a line of TOML, whatever characters they hold."""
    key = name if _BARE.fullmatch(name) else _quote(name)
    if isinstance(value, str):
        return f"{key} = {_quote(value)}"
    return f"{key} = [{', '.join(_quote(each) if isinstance(each, str) else str(each) for each in value)}]"


def render_settings(settings: Settings) -> str:
    """Write a configuration from scratch."""
    parts = [HEAD]
    for table, values in settings.tables().items():
        comments = [_comment(each) for each in settings.left_out if each.table == table]
        lines = [assignment(name, value) for name, value in values.items()]
        if table not in EMPTY and not lines:
            continue
        about = ABOUT[table] if lines or comments else EMPTY[table]
        parts.append("\n".join([f"[{table}]", about, *lines, *comments]) + "\n")
    return "\n".join(parts)


def add_settings(text: str, settings: Settings) -> str:
    """Add what is missing to a configuration; comments, order and everything else stay as they are."""
    ending = "\r" if "\r\n" in text else ""
    lines = text.split("\n")
    for table, values in settings.tables().items():
        fresh = [assignment(name, value) for name, value in values.items()]
        superseded = tuple(f": {line}" for line in fresh)
        lines = [line for line in lines if not (line.startswith(MARK) and line.rstrip("\r").endswith(superseded))]
        notes = [_comment(each) for each in settings.left_out if each.table == table]
        fresh += [line for line in notes if line + ending not in lines]
        if fresh:
            lines = _insert_into_table(lines, table, fresh, ending)
    made = "\n".join(lines)
    _verify(text, made, settings)
    return made


def drop_failed_checks(text: str, settings: Settings) -> Settings:
    """Return the settings without the checks that an earlier trial left out: nothing has shown that they work now."""
    noted = [line for line in text.splitlines() if line.startswith(MARK)]
    checks = [each for each in settings.checks if not any(line.endswith(f": {assignment(*each)}") for line in noted)]
    failed = any(line.endswith(f": {assignment('setup', settings.setup)}") for line in noted)
    return replace(settings, checks=tuple(checks), setup=() if failed else settings.setup)


def is_put_aside(text: str, name: str) -> bool:
    """Return whether a person commented a key out."""
    return re.search(rf"^[ \t]*#[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=", text, re.MULTILINE) is not None


def _insert_into_table(lines: list[str], table: str, fresh: list[str], ending: str) -> list[str]:
    header = re.compile(rf"[ \t]*\[[ \t]*[\"']?{re.escape(table)}[\"']?[ \t]*\][ \t]*(#.*)?\r?")
    at = next((number for number, line in enumerate(lines) if header.fullmatch(line)), None)
    if at is None:
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        last = [lines[-1].rstrip("\r") + ending, ending] if lines else []
        return [*lines[:-1], *last, *(line + ending for line in (f"[{table}]", *fresh)), ""]
    rest = enumerate(lines[at + 1 :], at + 1)
    end = next((number for number, line in rest if line.lstrip().startswith("[")), len(lines))
    held = [number for number in range(at, end) if (text := lines[number].strip()) and not text.startswith("#")]
    last = held[-1] if held[-1] != at else _find_last_comment(lines, at, end)
    before = [*lines[:last], lines[last].rstrip("\r") + ending]
    after = lines[last + 1 :] or [""]
    return [*before, *(line + ending for line in fresh), *after]


def _find_last_comment(lines: list[str], at: int, end: int) -> int:
    """Return the last of the comments that directly follow a table's header and explain it."""
    while at + 1 < end and lines[at + 1].lstrip().startswith("#") and not lines[at + 1].startswith(MARK):
        at += 1
    return at


def _verify(before: str, after: str, settings: Settings) -> None:
    """Refuse an edit whose result would differ from the old content plus the new keys."""
    wanted: dict[str, Any] = tomllib.loads(before)
    for table, values in settings.tables().items():
        if values:
            plain = {name: value if isinstance(value, str) else list(value) for name, value in values.items()}
            *outer, last = table.split(".")
            place = wanted.setdefault(outer[0], {}) if outer else wanted
            place[last] = {**place.get(last, {}), **plain}
    try:
        same = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        lines = [f"[{table}] {assignment(*each)}" for table, new in settings.tables().items() for each in new.items()]
        message = "config.toml is written in a way that init cannot add to; it was not changed"
        raise UsageError(message, next_step=f"add by hand: {'; '.join(lines)}")


def _comment(each: OmittedCommand) -> str:
    return f"{MARK}, {each.why}: {assignment(each.name, each.value)}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
