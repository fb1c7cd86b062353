"""Every link between the pages, and every anchor in it, leads somewhere."""

import re

import pytest

from support.docs.pages import ROOT, anchor_of, pages, prose

ELSEWHERE = ("http://", "https://", "mailto:")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


def anchors(text: str) -> set[str]:
    """Give the anchors of the headings in a text; a heading that comes again is numbered."""
    found: dict[str, int] = {}
    made: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        name = anchor_of(title)
        found[name] = found.get(name, -1) + 1
        made.add(f"{name}-{found[name]}" if found[name] else name)
    return made


def links(page: str) -> list[str]:
    """Give the links of a page to other places of this repository."""
    return [link for link in LINK.findall(prose(page)) if not link.startswith(ELSEWHERE)]


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_to_something_that_is_there(page: str) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path if path else ROOT / page).resolve()
        assert target.is_relative_to(ROOT), f"{page}: {link} leads out of the repository"
        assert target.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(prose(target.relative_to(ROOT).as_posix())), f"{page}: {link}"


def test_headings_of_the_same_name_have_anchors_of_their_own() -> None:
    text = "# Proofs: `done_when`\n\n## The files\n\n## The files\n"
    assert anchors(text) == {"proofs-done_when", "the-files", "the-files-1"}
