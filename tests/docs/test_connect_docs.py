"""The tables of docs/connect.md are those of the profiles; its commands are run with those of the other pages."""

import pytest

from handrail.agents.registry import BuiltInCatalog
from handrail.cli.begin.connect import command
from support.docs.pages import prose, tables

PAGE = "docs/connect.md"
CLIENTS = BuiltInCatalog().clients


def rows(name: str) -> list[list[str]]:
    (table,) = [table for table in tables(PAGE) if table.notes.get("table") == name]
    return [[cell.strip("`") for cell in row] for row in table.rows]


def test_the_files_of_each_agent_are_those_that_are_written() -> None:
    assert rows("clients") == [[each.name, f"~/{each.user.at[0]}", each.project] for each in CLIENTS]


def test_the_folders_of_skills_are_those_that_are_written() -> None:
    known = [(each.name, each.skills, each.project_skills) for each in CLIENTS if each.skills is not None]
    assert rows("skills") == [[name, f"~/{skills.at[0]}", project] for name, skills, project in known]


@pytest.mark.parametrize("option", [name for each in command.params for name in each.opts if name.startswith("--")])
def test_every_option_is_on_the_page(option: str) -> None:
    assert option in prose(PAGE)
