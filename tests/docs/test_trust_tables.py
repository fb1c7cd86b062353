"""The tables of what a hostile repository can run: each of their cells is a test that exists."""

import ast
import re

import pytest

from handrail.agents.profiles import PROFILES
from support.docs.pages import ROOT, Table, tables, text_of

PAGES = ("docs/trust.md", "docs/agents/repository-files.md")
NAMED = re.compile(r"^- ([A-Z]\d+): `(tests/[\w/]+\.py)::(test_\w+)`$", re.MULTILINE)
MARKS = re.compile(r"\b[A-Z]\d+\b")
CELLS = -3
"""The columns before trust, after trust, and when a file changed since come last."""


def find_table(page: str) -> Table:
    found = [each for each in tables(page) if each.rows and MARKS.search(each.rows[0][-1])]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("page", PAGES)
def test_every_cell_is_a_test_that_is_named(page: str) -> None:
    used: set[str] = set()
    for row in find_table(page).rows:
        for cell in row[CELLS:]:
            marks = set(MARKS.findall(cell.rpartition("(")[2]))
            assert marks, row
            used |= marks
    assert used == {mark for mark, _, _ in NAMED.findall(text_of(page))}


def test_the_table_of_agents_has_every_agent() -> None:
    assert set(PROFILES) <= {row[0] for row in find_table("docs/agents/repository-files.md").rows}


@pytest.mark.parametrize(
    ("path", "name"), [(path, name) for page in PAGES for _, path, name in NAMED.findall(text_of(page))]
)
def test_a_named_test_exists(path: str, name: str) -> None:
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    assert name in {each.name for each in body if isinstance(each, ast.FunctionDef)}
