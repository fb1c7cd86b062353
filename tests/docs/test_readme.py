"""The page README.md shows only what the tutorial, which is followed by a test, shows too."""

from pathlib import Path

import pytest

from support.docs.commands import commands, make_targets
from support.docs.examples import problems
from support.docs.pages import ROOT, Block, blocks, text_of

PAGE = "README.md"
TUTORIAL = "docs/tutorial.md"
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


def test_every_page_is_linked() -> None:
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")]
    assert [page for page in pages if f"]({page})" not in text_of(PAGE)] == []


def test_the_first_screen_ends_with_how_to_try_it() -> None:
    text = text_of(PAGE)
    assert text.index("$ make run") < text.index("## A workflow")
    assert Path(ROOT / "LICENSE").is_file()
