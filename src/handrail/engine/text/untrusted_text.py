"""Puts foreign text into what an agent reads: between marks that the text itself cannot contain, and within a size."""

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import count
from typing import Literal, TypeAlias

from handrail.model.workflow.values import JsonValue

BlockKind: TypeAlias = Literal["data", "message"]
"""`data` only informs; a `message` is a person's, and counts."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_TICKS = re.compile(r"`+")
_MARK_LENGTH = 12


def clean(text: str) -> str:
    """Replace what cannot be sent to every agent: control characters, and halves of characters."""
    return _CONTROLS.sub("\ufffd", text)


def mark_for(texts: Iterable[str]) -> str:
    """Give a mark that stands in none of the texts; the same texts always get the same one."""
    whole = "\n".join(texts).lower()
    # A text may be made to contain its own hash, but not the hash of that and of every number.
    for number in count():
        mark = hashlib.sha256(f"{number} {whole}".encode(errors="replace")).hexdigest()[:_MARK_LENGTH]
        if mark not in whole:
            return mark
    raise AssertionError("counting ended")


def block(mark: str, about: str, text: str, kind: BlockKind = "data") -> str:
    """Put a text between tags that carry a mark."""
    return f'<{kind}-{mark} of="{about}">\n{clean(text)}\n</{kind}-{mark}>'


def lone_block(about: str, text: str, kind: BlockKind = "data") -> str:
    """Put a text between tags with a mark of its own."""
    return block(mark_for([about, text]), about, text, kind)


def fenced(text: str, language: str) -> str:
    """Give a code block that nothing in its text can close."""
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """Give one line of code inside a sentence."""
    ticks = "`" * (_longest_ticks(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(found[0]) for found in _TICKS.finditer(text)), default=0)


def json_text(value: JsonValue) -> str:
    """Give a value as an agent reads it: a text as it is, everything else as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def one_line(text: str, most: int) -> str:
    """Give the first line that says something, cut to a length."""
    lines = (" ".join(line.split()).lstrip("# ") for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("```")), "")
    return first if len(first) <= most else first[: most - 1].rstrip() + "\u2026"


def middle_cut(text: str, most: int) -> str:
    """Keep the beginning and, as errors stand there, more of the end."""
    if len(text) <= most:
        return text
    head = most // 4
    left_out = f"\n[{len(text) - most} characters left out]\n"
    return text[:head] + left_out + text[len(text) - (most - head) :]
