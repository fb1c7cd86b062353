"""Invisible marks in texts that Handrail wrote, by which it finds them again.

A mark is an HTML comment at the very end of a text. It counts only in a text of our own account, as anybody can copy
it; a mark inside the text that is posted, such as one that an agent or an issue wrote, is made visible and so harmless.
"""

import re
from urllib.parse import quote, unquote

from handrail.model.issues import Marker

LONGEST = 65_000
"""The most characters of a text; GitHub refuses more than 65,536."""
_FORGED = re.compile(r"<!--(?=[\s\u200b-\u200f\u2060\ufeff]*handrail\s*:)", re.IGNORECASE)
_MARK = re.compile(r"<!-- handrail:(?P<what>[a-z-]+) key=(?P<key>\S*)(?P<extra>(?: [a-z_]+=\S*)*) -->\s*\Z")
_CUT = "\n\n… (the rest is too long for GitHub)"


def sign_text(text: str, marker: Marker) -> str:
    """Return a text with its mark; what looks like a mark in the text itself becomes visible."""
    mark = write_mark(marker)
    clean = neutralize(text)
    room = LONGEST - len(mark)
    if len(clean) > room:
        clean = clean[: room - len(_CUT)] + _CUT
    return f"{clean.rstrip()}\n\n{mark}"


def neutralize(text: str) -> str:
    """Make marks that somebody else wrote visible."""
    return _FORGED.sub("&lt;!--", text.replace("\0", "\ufffd"))


def write_mark(marker: Marker) -> str:
    """Write a mark; no key can end the comment that it is in."""
    extra = "".join(f" {name}={_escape(value)}" for name, value in sorted(marker.extra.items()))
    return f"<!-- handrail:{marker.what} key={_escape(marker.key)}{extra} -->"


def read_mark(text: str) -> Marker | None:
    """Read the mark at the end of a text; None if it has none."""
    found = _MARK.search(text[-4_000:])
    if found is None:
        return None
    pairs = (each.partition("=") for each in found["extra"].split())
    what = found["what"]
    if what not in ("progress", "claim", "issue", "pull-request", "message"):
        return None
    return Marker(what=what, key=unquote(found["key"]), extra={name: unquote(value) for name, _, value in pairs})


def is_marked(text: str, marker: Marker) -> bool:
    """Whether a text has a mark of this kind and key."""
    found = read_mark(text)
    return found is not None and (found.what, found.key) == (marker.what, marker.key)


def strip_mark(text: str) -> str:
    """Return a text without its mark."""
    found = _MARK.search(text)
    return text if found is None else text[: found.start()].rstrip()


def _escape(value: str) -> str:
    # Two hyphens could end the comment.
    return quote(value, safe="/:@", errors="replace").replace("--", "-%2D")
