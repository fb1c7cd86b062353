"""The page of diagnostics lists every code; HANDRAIL_UPDATE_DOCS=1 writes its table anew."""

import os

from handrail.model.codes import CODES
from support.docs.pages import ROOT, text_of

PAGE = "docs/diagnostics.md"
HEAD = "<!-- codes: all -->\n| code | what it means |\n|---|---|\n"


def _page(before: str) -> str:
    rows = "".join(f"| `{code}` | {meaning} |\n" for code, meaning in CODES.items())
    return before.partition(HEAD)[0] + HEAD + rows


def test_every_code_is_listed_with_its_sentence() -> None:
    before = text_of(PAGE)
    if os.environ.get("HANDRAIL_UPDATE_DOCS"):
        (ROOT / PAGE).write_text(_page(before), encoding="utf-8")
    assert text_of(PAGE) == _page(before), "HANDRAIL_UPDATE_DOCS=1 writes it anew"
