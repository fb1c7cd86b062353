"""The pages about the engine are drawn from the code; HANDRAIL_UPDATE_DOCS=1 draws them. The example store is run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from handrail.engine.state.transitions import ALLOWED
from handrail.model.history.events import BlockReason, RunStatus, WaitReason
from handrail.testing.figures import diagrams
from support.docs.pages import ROOT, blocks, tables, text_of

LAWS = "docs/engine.md"
EVENTS = "docs/engine/events.md"
STATUSES = "docs/engine/statuses.md"
STORE = "docs/engine/store.md"
PART = re.compile(r"(<!-- generated: (events|transitions|diagram) -->\n).*?(<!-- generated: end -->)", re.DOTALL)


def _drawn(name: str) -> str:
    if name == "events":
        return diagrams.event_table()
    if name == "transitions":
        return diagrams.transition_table()
    return f"```mermaid\n{diagrams.state_diagram()}\n```"


def _page(before: str) -> str:
    return PART.sub(lambda found: f"{found[1]}{_drawn(found[2])}\n{found[3]}", before)


def test_the_tables_and_the_diagram_are_those_of_the_code() -> None:
    before = text_of(EVENTS)
    if os.environ.get("HANDRAIL_UPDATE_DOCS"):
        (ROOT / EVENTS).write_text(_page(before), encoding="utf-8")
    assert len(PART.findall(before)) == 3
    assert text_of(EVENTS) == _page(before), "HANDRAIL_UPDATE_DOCS=1 writes it again"


def test_every_event_has_a_sentence_and_a_row() -> None:
    kinds = [diagrams.kind_of(event) for event in diagrams.events()]
    rows = diagrams.event_table().splitlines()[2:]
    assert len(rows) == len(kinds) == len(set(kinds))
    for kind, row in zip(kinds, rows, strict=True):
        assert re.fullmatch(rf"\| `{kind}` \| [A-Z][^|]+\. \| [^|]+ \|", row), row


def test_every_event_may_come_in_some_status_and_every_status_is_known() -> None:
    kinds = {diagrams.kind_of(event) for event in diagrams.events()}
    assert set().union(*ALLOWED.values()) == kinds
    assert set(ALLOWED) == {"", *get_args(RunStatus)}
    assert set(diagrams.LEADS_TO) <= kinds
    assert {status for after in diagrams.LEADS_TO.values() for status in after} <= set(get_args(RunStatus))


def test_the_diagram_has_no_arrow_that_the_table_does_not_allow() -> None:
    arrows = re.findall(r"(\S+) --> (\w+): (.+)", diagrams.state_diagram())
    assert arrows
    for before, after, kinds in arrows:
        status = "" if before == "[*]" else before
        for kind in kinds.split(", "):
            assert kind in ALLOWED[status]
            assert after in diagrams.targets(status, kind)


def test_the_page_explains_every_status_with_every_reason() -> None:
    (table,) = [each for each in tables(STATUSES) if each.rows[0][0] == "`running`"]
    said = {(row[0].strip("`"), reason) for row in table.rows for reason in re.findall(r"`(\w+)`", row[1]) or [""]}
    expected = {("waiting", reason) for reason in get_args(WaitReason)}
    expected |= {("blocked", reason) for reason in get_args(BlockReason)}
    expected |= {(status, "") for status in get_args(RunStatus) if status not in ("waiting", "blocked")}
    assert said == expected


def test_the_example_store_keeps_all_promises_of_a_store(tmp_path: Path) -> None:
    (example,) = [block for block in blocks(STORE) if block.language == "python"]
    file = tmp_path / "test_copying_log.py"
    file.write_text(example.text, encoding="utf-8")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(tmp_path), "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d\d passed", done.stdout), done.stdout


@pytest.mark.parametrize("law", range(1, 13))
def test_the_laws_are_numbered_without_gaps(law: int) -> None:
    laws = text_of(LAWS).partition("## The laws")[2].partition("\n## ")[0]
    assert f"\n{law}. **" in laws
