"""The page docs/issues.md is tried out as it stands, in a real git repository."""

from handrail.cli.command_table import ISSUES
from support.docs.commands import Shown
from support.docs.pages import text_of
from support.docs.repository import begin, shown, untrue

__all__ = ["shown"]
PAGE = "docs/issues.md"


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    begin(shown, PAGE)
    assert untrue(shown, PAGE) == []


def test_every_command_is_on_the_page() -> None:
    assert [name for name in ISSUES if f"handrail issues {name}" not in text_of(PAGE)] == []
