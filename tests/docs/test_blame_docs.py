"""The page docs/blame.md is tried out as it stands, in a real git repository."""

from support.docs.commands import Shown
from support.docs.examples import problems
from support.docs.pages import blocks
from support.docs.repository import begin, shown, untrue

__all__ = ["shown"]
PAGE = "docs/blame.md"


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    begin(shown, PAGE)
    assert untrue(shown, PAGE) == []


def test_the_workflow_of_the_page_compiles() -> None:
    (workflow,) = [block for block in blocks(PAGE) if block.notes.get("file", "").endswith("workflow.yaml")]
    assert problems(workflow) == ""
