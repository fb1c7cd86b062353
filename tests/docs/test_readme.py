"""The page README.md shows only what the tutorial, which is followed by a test, shows too."""

from pathlib import Path

import pytest

from support.docs.commands import commands, make_targets
from support.docs.examples import problems
from support.docs.pages import ROOT, Block, blocks, pages, text_of

PAGE = "README.md"
TUTORIAL = "docs/tutorial.md"
INDEX = "docs/README.md"
CONCEPTS = "docs/concepts.md"
MOST_WORDS = 2500
CONSOLES = [block for block in blocks(PAGE) if block.language == "console"]
SHOWN = {
    command.line: command.expected
    for block in blocks(TUTORIAL)
    if block.language == "console"
    for command in commands(block)
}


@pytest.mark.parametrize("block", CONSOLES, ids=str)
def test_every_line_of_a_transcript_stands_in_the_tutorial_in_the_same_order(block: Block) -> None:
    for command in commands(block):
        program, _, rest = command.line.partition(" ")
        if program == "make":
            assert rest in make_targets()
            continue
        rows = iter(SHOWN[command.line].splitlines())
        assert all(line in rows for line in command.expected.splitlines()), command


def test_the_workflow_is_that_of_the_tutorial() -> None:
    (workflow,) = [block for block in blocks(PAGE) if block.language == "yaml"]
    (shown,) = [block for block in blocks(TUTORIAL) if block.notes.get("file", "").endswith("mend/workflow.yaml")]
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


def test_the_first_screen_ends_with_how_to_try_it() -> None:
    text = text_of(PAGE)
    assert text.index("$ make run") < text.index("## A workflow")
    assert Path(ROOT / "LICENSE").is_file()
