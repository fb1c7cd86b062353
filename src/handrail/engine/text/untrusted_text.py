"""Embeds untrusted text in what an agent reads: between marks that the text cannot contain, and limited in size.

A block is a fence that is longer than any inside it, so that no Markdown reader finds a heading in the text; inside are
tags with a mark that the text does not contain, so that no agent mistakes a part of the text for their end.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import count
from typing import Literal, TypeAlias

from handrail.model.workflow.values import JsonValue

BlockKind: TypeAlias = Literal["data", "message"]
"""`data` only informs; a `message` is from a person, and counts."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_MARK_LENGTH = 12


def clean(text: str) -> str:
    """Replace what cannot be sent to every agent: control characters, and lone surrogates."""
    return _CONTROLS.sub("\ufffd", text)


def mark_for(texts: Iterable[str]) -> str:
    """Find a mark that is in none of the texts; the same texts always get the same one."""
    whole = "\n".join(texts).lower()
    # A text may be made to contain its own hash, but not the hash of that and of every number.
    for number in count():
        mark = hashlib.sha256(f"{number} {whole}".encode(errors="replace")).hexdigest()[:_MARK_LENGTH]
        if mark not in whole:
            return mark
    raise AssertionError("counting ended")


def block(mark: str, about: str, text: str, kind: BlockKind = "data") -> str:
    """Put a text between tags that carry a mark, inside a fence."""
    return fence_code(wrap_in_tags(mark, about, text, kind))


def wrap_in_tags(mark: str, about: str, text: str, kind: BlockKind = "data") -> str:
    """Put a text between tags that carry a mark, if there is already a fence around them."""
    return f'<{kind}-{mark} of="{about}">\n{clean(text)}\n</{kind}-{mark}>'


def lone_block(about: str, text: str, kind: BlockKind = "data") -> str:
    """Put a text between tags with a mark of its own."""
    return block(mark_for([about, text]), about, text, kind)


def fence_code(text: str, language: str = "") -> str:
    """Build a code block that nothing in its text can close."""
    fence = "`" * max(3, longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """Format one line of code inside a sentence."""
    return code_between("`" * (longest_run(text) + 1), text)


def code_between(ticks: str, text: str) -> str:
    """Format inline code, padded because Markdown strips one space from both ends."""
    spaced = text.startswith(" ") and text.endswith(" ") and text.strip(" ")
    pad = " " if text.startswith("`") or text.endswith("`") or spaced else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def longest_run(text: str, character: str = "`") -> int:
    """Return the length of the longest run of a character."""
    return max((len(found[0]) for found in re.finditer(f"{re.escape(character)}+", text)), default=0)


def json_text(value: JsonValue) -> str:
    """Format a value as an agent reads it: a text as it is, everything else as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def first_line(text: str, most: int) -> str:
    """Return the first line that says something, cut to a length."""
    # A plain loop: it is called for each step that a prompt mentions.
    for line in text.splitlines():
        first = " ".join(line.split()).lstrip("# ")
        if first and not first.startswith("```"):
            return first if len(first) <= most else first[: most - 1].rstrip() + "\u2026"
    return ""


def cut_middle(text: str, most: int) -> str:
    """Cut the middle out of a text, retaining more of the end, because that is where errors are."""
    if len(text) <= most:
        return text
    head = most // 4
    left_out = f"\n[{len(text) - most} characters left out]\n"
    return text[:head] + left_out + text[len(text) - (most - head) :]
