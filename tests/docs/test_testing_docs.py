"""The page testing-workflows.md is tried out from top to bottom, and names every key of a test."""

import subprocess
from pathlib import Path

import pytest

from handrail.authoring.scripts.schema import SCRIPT
from handrail.cli.workflows.test import command as the_command
from handrail.operations.scenarios.shapes import SCENARIO
from support.docs.commands import Shown, commands, fits
from support.docs.keys import keys_by_record, words
from support.docs.pages import CODE, blocks, prose, tables

PAGE = "docs/testing-workflows.md"
OF_SCRIPTS = keys_by_record(SCRIPT)
KEYS = {name: keys for name, keys in keys_by_record(SCENARIO).items() if name not in OF_SCRIPTS}
TABLES = {table.notes["keys"]: table for table in tables(PAGE) if "keys" in table.notes}
OPTIONS = ("help", "workflows")


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    found = Shown(tmp_path / "shop", tmp_path / "home")
    found.root.mkdir()
    found.home.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=found.root, check=True)
    return found


def test_an_author_writes_tests_breaks_and_mends_as_the_page_shows(shown: Shown) -> None:
    for block in blocks(PAGE):
        if "file" in block.notes:
            shown.write(block)
        for command in commands(block) if block.language == "console" else ():
            _, printed = shown.run(command.line)
            assert fits(command.expected, printed), f"{block}: $ {command.line}\n{printed}"


def test_every_record_of_a_test_has_a_table() -> None:
    assert set(TABLES) == set(KEYS)


@pytest.mark.parametrize("name", KEYS)
def test_every_table_has_every_key_in_the_order_of_the_format(name: str) -> None:
    assert [row[0].strip("`") for row in TABLES[name].rows] == list(KEYS[name])


def test_every_word_and_every_option_is_named() -> None:
    named = set(CODE.findall(prose(PAGE)))
    assert words(SCENARIO) - words(SCRIPT) <= named
    options = {option for each in the_command.params for option in each.opts if each.name not in OPTIONS}
    assert options <= {word.split()[0] for word in named}
