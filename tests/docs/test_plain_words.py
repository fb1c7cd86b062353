"""The pages use the words of the field: worktree, start over, fix, automatically."""

import re

import pytest

from support.docs.pages import CODE, pages, prose

PLAIN = {
    r"work trees?": "worktree",
    r"anew": "again, or start over",
    r"mend(?:s|ed|ing)?": "fix",
    r"heed(?:s|ed)?": "respect",
    r"by (?:itself|themselves)": "automatically",
    r"(?:is|are|was|were|be) told": "gets, is notified",
    r"nobody drives it": "no process is running it",
    r"taken? back": "undone",
}
"""What a page does not say, and what it says instead."""
GENERATED = re.compile(r"<!-- (?:generated|codes): (?!end).*?(?:<!-- generated: end -->|\Z)", re.DOTALL)
"""Tables that are drawn from texts of the code."""


@pytest.mark.parametrize("page", pages())
def test_a_page_uses_plain_words(page: str) -> None:
    text = CODE.sub("", GENERATED.sub("", prose(page)))
    found = {word: plain for word, plain in PLAIN.items() if re.search(rf"\b{word}\b", text, re.IGNORECASE)}
    assert found == {}
