"""Everything in `src` has a caller in `src`: what only tests use is removed, or gets the caller it was written for."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from support.laws.unused_code import unused_definitions
from support.places import ROOT

ALLOWED = {
    "*.main": "the entry point of a program of its own",
    "handrail.cli.lazy_group.CommandGroup.*": "click calls it",
    "handrail.cli.main.Handrail.*": "click calls it",
    "handrail.cli.issues.options.PriorityType.convert": "click calls it",
    "handrail.trackers.memory.people.*": "for tests: what people do to pull requests of the twin",
    "handrail.serve.mcp.http_connections.Limited*": "uvicorn calls it",
    "handrail.serve.mcp.http_connections.RepeatFilter.filter": "logging calls it",
    "handrail.authoring.python.flow.FlowContext.*": "for those who write workflows: `ctx` of `async def run(ctx)`",
    "handrail.authoring.python.flow.Decided.approved": "for those who write workflows: what `ctx.approve` gives",
    "handrail.client.run.Run.*": "for Python programs that start and follow runs",
    "handrail.client.values.*": "for Python programs that start and follow runs",
    "handrail.store.memory.log.MemoryWorld": "the log for tests of our own and of others",
    "handrail.*.erase_blob": "a store promises to erase a content from the disk; no command asks for it yet",
    "handrail.*.find_by_marker": "finds processes that a command left behind: the conformance suite asks every adapter",
}
"""Patterns of names that may have no caller in `src`, and why."""


@pytest.fixture(scope="module")
def unused() -> list[str]:
    return unused_definitions(ROOT / "src" / "handrail")


def matches(names: list[str], pattern: str) -> Iterator[str]:
    return (name for name in names if fnmatchcase(name, pattern))


def test_every_definition_has_a_caller(unused: list[str]) -> None:
    allowed = {name for pattern in ALLOWED for name in matches(unused, pattern)}
    assert [name for name in unused if name not in allowed] == []


def test_nothing_is_allowed_that_has_a_caller(unused: list[str]) -> None:
    assert [pattern for pattern in ALLOWED if not list(matches(unused, pattern))] == []


def test_what_nothing_calls_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "from handrail import two\n"
        "from handrail.two import used\n"
        "def main(): return used(), two.through_its_module, Kept().method()\n"
        "def alone(): return alone()\n"
        "class Kept:\n"
        "    def method(self): ...\n"
        "    def unused(self): return self.unused()\n"
        "    def _private(self): ...\n"
        'def quoted() -> "Made": ...\n'
        "class Made: ...\n"
        'PATH = "alone"\n'
        'print("handrail.two:loaded")\n'
    )
    (tmp_path / "two.py").write_text(
        "def used(): ...\ndef loaded(): ...\nthrough_its_module = 1\ndef forgotten(): ...\nmain = quoted = 1\n"
    )
    assert unused_definitions(tmp_path) == [
        "handrail.one.main",
        "handrail.one.alone",
        "handrail.one.Kept.unused",
        "handrail.one.quoted",
        "handrail.one.PATH",
        "handrail.two.forgotten",
        "handrail.two.main",
        "handrail.two.quoted",
    ]
