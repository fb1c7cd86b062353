"""The table of agents.md is drawn from the adapters; HANDRAIL_UPDATE_DOCS=1 draws it anew."""

import os
import re

from handrail.agents.profiles import agent_names
from handrail.agents.registry import BUILT_IN, PLAYED
from handrail.sources.config.config import REPOSITORY_TABLES
from handrail.testing.figures.agent_tables import ability_table
from support.docs.pages import ROOT, tables, text_of

PAGE = "docs/agents.md"
PART = re.compile(r"(<!-- generated: abilities -->\n).*?(<!-- generated: end -->)", re.DOTALL)


def _page(before: str) -> str:
    return PART.sub(lambda found: f"{found[1]}{ability_table()}\n{found[2]}", before)


def test_the_table_of_abilities_is_that_of_the_adapters() -> None:
    before = text_of(PAGE)
    if os.environ.get("HANDRAIL_UPDATE_DOCS"):
        (ROOT / PAGE).write_text(_page(before), encoding="utf-8")
    assert len(PART.findall(before)) == 1
    assert text_of(PAGE) == _page(before), "HANDRAIL_UPDATE_DOCS=1 writes it anew"


def test_every_real_agent_has_a_column_and_a_row_on_how_its_access_is_kept() -> None:
    real = sorted(BUILT_IN.keys() - set(PLAYED))
    assert ability_table().splitlines()[0] == "".join(["| |", *(f" {name} |" for name in real)])
    access = tables(PAGE)[-1]
    assert sorted(row[0] for row in access.rows) == real


def test_the_names_that_the_page_explains_are_read_so() -> None:
    for model in ("opus", "sonnet", "haiku"):
        assert agent_names().read(model).agent == "claude"
    assert agent_names().read("gpt-5.5").agent == "codex"
    assert "agent" in REPOSITORY_TABLES
