"""Each broken workflow of the corpus gives exactly the diagnostics that stand beside it.

`HANDRAIL_UPDATE_CORPUS=1` writes them anew; then read each: its place must be the one a person would point at.
"""

import os
import re
from itertools import takewhile
from pathlib import Path

import pytest

from handrail.model.codes import CODES
from support.corpus.loading import HERE, Case, as_text, cases, diagnostics_of

CASES = cases()
SAID = re.compile(r"^(?:(\S+?):)?(\d+):(\d+): (error|warning|advice): .+ \[([a-z-]+)\]$", re.MULTILINE)
GENERATED = {"file-too-large", "too-deep", "too-many-nodes", "too-many-steps"}
"""Limits, whose files would be too large to keep: `test_corpus_limits.py` makes them."""
SOURCES = {
    "file-unreadable",
    "workflow-files",
    "folder-name",
    "folder-unreadable",
    "untrusted",
    "config-syntax",
    "config-key",
    "config-value",
    "unknown-channel",
}
"""Found while files are looked for, before there is a text to read."""
PYTHON = {"python-value", "python-error"}
"""Found in workflows that are programs."""
RUNNING = {"undefined-value"}
"""Found only when a workflow runs."""
WITHOUT_TEXT = {"native/yaml-empty-file", "workrail/json-empty"}
"""Cases with no line that anyone could point at."""


def note_of(case: Case) -> str:
    """The lines on top of an expectation that say what is wrong; a JSON file cannot hold them itself."""
    text = case.expected.read_text() if case.expected.exists() else ""
    return "".join(takewhile(lambda line: line.startswith("# "), text.splitlines(keepends=True)))


def says(case: Case) -> list[tuple[Path, int, int, str, str]]:
    """What an expectation says: file, line, column, severity and code of each diagnostic."""
    found: list[tuple[Path, int, int, str, str]] = []
    for name, line, column, severity, code in SAID.findall(case.expected.read_text()):
        inside = case.main.parent / name if name else case.main
        path = inside if inside.exists() else case.main.parent / "others" / name
        found.append((path, int(line), int(column), severity, code))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_broken_workflow_gives_its_diagnostics(case: Case) -> None:
    told = note_of(case) + as_text(diagnostics_of(case), case.main.name)
    if os.environ.get("HANDRAIL_UPDATE_CORPUS"):
        case.expected.write_text(told)
    assert told == case.expected.read_text()


def test_the_corpus_holds_hundreds_of_broken_workflows() -> None:
    broken = [case for case in CASES if any(severity == "error" for *_, severity, _ in says(case))]
    assert len([case for case in broken if case.name.startswith("native/")]) >= 300
    assert len([case for case in broken if case.name.startswith("workrail/")]) >= 150


def test_no_workflow_of_the_corpus_is_sound() -> None:
    assert [case.name for case in CASES if not says(case)] == []


def test_every_expectation_belongs_to_a_case() -> None:
    assert sorted(HERE.glob("*/*.expected")) == sorted(case.expected for case in CASES)


def test_every_case_says_in_a_sentence_what_is_wrong() -> None:
    for case in CASES:
        note = note_of(case) if case.main.suffix == ".json" else case.main.read_text().splitlines()[0]
        assert re.fullmatch(r"# [A-Z].+\.", note.strip()), case.name


def test_every_place_holds_text_that_a_person_can_be_pointed_at() -> None:
    for case in CASES:
        if case.name in WITHOUT_TEXT:
            continue
        for path, line, column, *_ in says(case):
            text = path.read_text().split("\n")[line - 1]
            assert 1 <= column <= len(text) + 1, case.name
            assert text.strip(), case.name
            assert not text.startswith("# "), case.name


def test_every_code_of_reading_compiling_and_linting_stands_in_the_corpus() -> None:
    said = {code for case in CASES for *_, code in says(case)}
    assert said <= set(CODES)
    assert set(CODES) - said == GENERATED | SOURCES | PYTHON | RUNNING
