"""The page docs/issues.md is tried out as it stands, in a real git repository."""

from pathlib import Path

import pytest

from handrail.cli.command_table import ISSUES
from support.beads.install import add_beads, install_bd
from support.docs.commands import Shown
from support.docs.pages import text_of
from support.docs.repository import begin, shown, untrue

__all__ = ["shown"]
PAGE = "docs/issues.md"


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    begin(shown, PAGE)
    assert untrue(shown, PAGE) == []


@pytest.mark.system  # takes long: many processes of its own
def test_what_the_page_shows_of_beads_is_true(shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", install_bd(tmp_path / "bin")["PATH"])
    begin(shown, PAGE)
    add_beads(shown.root)
    assert untrue(shown, PAGE, "beads") == []


def test_every_command_is_on_the_page() -> None:
    assert [name for name in ISSUES if f"handrail issues {name}" not in text_of(PAGE)] == []
