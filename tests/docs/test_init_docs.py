"""The page docs/init.md is tried out as it stands, in a real git repository."""

from pathlib import Path

from handrail.agents.profiles import PROFILES
from handrail.cli.begin.init import command
from handrail.model.diagnostics import Report
from handrail.sources.config.config import read_repository_config
from support.docs.commands import Shown, commands, fits
from support.docs.pages import blocks, prose
from support.docs.repository import commit, shown

__all__ = ["shown"]
PAGE = "docs/init.md"


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    for block in blocks(PAGE):
        if block.notes.get("file") == "Makefile":
            shown.write(block)
    commit(shown)
    for block in blocks(PAGE):
        for each in commands(block) if block.language == "console" else ():
            code, printed = shown.run(each.line)
            assert code == 0, printed
            assert fits(each.expected, printed), f"{block}: $ {each.line}\n{printed}"


def test_the_configuration_of_the_page_is_read_without_a_word(tmp_path: Path) -> None:
    (block,) = [block for block in blocks(PAGE) if block.language == "toml"]
    (tmp_path / ".handrail").mkdir()
    (tmp_path / ".handrail" / "config.toml").write_text(block.text, "utf-8")
    report = Report()
    assert read_repository_config(tmp_path, report).agent == "claude"
    assert list(report) == []


def test_every_option_and_every_agent_is_on_the_page() -> None:
    options = [name for each in command.params for name in each.opts if name.startswith("--")]
    for word in (*options, *PROFILES):
        assert f"`{word}" in prose(PAGE), word
