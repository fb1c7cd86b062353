"""The page README.md shows only what the tutorial, which a test follows, shows too; and every page is linked."""

import os
from pathlib import Path

import pytest

from handrail.cli.command_table import RUNS, WORKFLOWS
from support.docs.commands import commands, make_targets
from support.docs.examples import problems
from support.docs.pages import ROOT, Block, blocks, pages, text_of
from support.docs.terminal_picture import draw_session

PAGE = "README.md"
TUTORIAL = "docs/tutorial.md"
INDEX = "docs/README.md"
CONCEPTS = "docs/concepts.md"
PICTURE = "docs/pictures/first-run.svg"
MOST_WORDS = 2500
CONSOLES = [block for block in blocks(PAGE) if block.language == "console"]
SHOWN = {
    command.line: command.expected
    for block in blocks(TUTORIAL)
    if block.language == "console"
    for command in commands(block)
}
PICTURED = [
    'handrail run bugfix "two of one kind cost as much as one" --script ../play.yaml',
    "handrail approve bugfix-1",
    "handrail resume",
    "handrail apply bugfix-1",
]


@pytest.mark.parametrize("block", CONSOLES, ids=str)
def test_every_command_is_one_that_there_is(block: Block) -> None:
    for command in commands(block):
        program, *rest = command.line.partition("  #")[0].split()
        assert not command.expected.strip(), "what a command prints is shown where a test runs it"
        known = {"make": make_targets(), "handrail": {*RUNS, *WORKFLOWS}, "uv": {"tool"}, "cd": {"your-repository"}}
        assert rest[0] in known[program]


def test_the_picture_shows_what_the_commands_of_the_tutorial_print() -> None:
    lines = [shown or f"$ {line}" for line in PICTURED for shown in ("", *_pictured(SHOWN[line]))]
    drawn = draw_session("A run that is approved, paused and resumed", lines)
    if os.environ.get("HANDRAIL_UPDATE_DOCS"):
        (ROOT / PICTURE).write_text(drawn, encoding="utf-8")
    assert text_of(PICTURE) == drawn, "HANDRAIL_UPDATE_DOCS=1 draws it"
    assert f"]({PICTURE})" in text_of(PAGE)


def _pictured(printed: str) -> list[str]:
    """Give the lines that say how something ended, not those that announce it or say what comes next."""
    return [line for line in printed.splitlines() if not line.startswith(("▸", "next:", "..."))]


def test_the_workflow_is_that_of_the_tutorial() -> None:
    (workflow,) = [block for block in blocks(PAGE) if block.language == "yaml"]
    (shown,) = [block for block in blocks(TUTORIAL) if block.notes.get("file", "").endswith("bugfix/workflow.yaml")]
    assert workflow.text == shown.text
    assert problems(workflow) == ""


def test_the_index_of_the_documentation_is_linked() -> None:
    assert f"]({INDEX})" in text_of(PAGE)


def test_every_page_is_linked_from_the_index_or_from_the_index_of_its_folder() -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"]
    assert [path.name for path in pages if path != ROOT / INDEX and not _is_linked(path)] == []


def _is_linked(page: Path) -> bool:
    """Tell whether an index has a link to a page."""
    folder = page.parent
    above = folder.parent / f"{folder.name}.md"
    indexes = [ROOT / INDEX, *([above] if above.is_file() else [])]
    return any(f"]({page.relative_to(index.parent).as_posix()})" in index.read_text("utf-8") for index in indexes)


def test_the_page_of_concepts_is_short_and_comes_first() -> None:
    assert len(text_of(CONCEPTS).split()) <= 900
    assert text_of(INDEX).index("](concepts.md)") < text_of(INDEX).index("](tutorial.md)")


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("docs/") and "/decisions/" not in page])
def test_a_page_is_about_one_matter_and_has_at_most_2500_words(page: str) -> None:
    assert len(text_of(page).split()) <= MOST_WORDS


def test_the_first_screen_has_a_picture_the_installation_and_a_first_run() -> None:
    text = text_of(PAGE)
    places = [text.index(each) for each in (PICTURE, "## Install", "handrail demo", "## Six reasons", "## Read on")]
    assert places == sorted(places)
    assert text.count("- **") == 6
    assert Path(ROOT / "LICENSE").is_file()
