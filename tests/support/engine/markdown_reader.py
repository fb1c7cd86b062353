"""A simple reader of Markdown: it knows fences, headings and inline code, which is what a forged prompt would use."""

import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t].*)?", re.DOTALL)
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_TICKS = re.compile(r"`+")


def outside_of_fences(text: str) -> Iterator[str]:
    """Give the lines that stand in no fence; whatever any reader may take for the end of a line counts as one."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if not fence and found is not None:
            fence = found[1]
        elif not fence:
            yield line
        elif found is not None and found[1].startswith(fence) and not found[2].strip():
            fence = ""


def headings(text: str) -> list[str]:
    """Give the headings, in both of Markdown's forms."""
    found: list[str] = []
    before = ""
    for line in outside_of_fences(text):
        if _HEADING.fullmatch(line):
            found.append(line.strip())
        elif before.strip() and _UNDERLINE.fullmatch(line):
            found.append(before.strip())
        before = line
    return found


def inline_code(line: str) -> list[str]:
    """Give what stands in inline code."""
    found: list[str] = []
    at = 0
    while opening := _TICKS.search(line, at):
        same = re.compile(rf"(?<!`){opening[0]}(?!`)")
        closing = same.search(line, opening.end())
        if closing is None:
            at = opening.end()
            continue
        inner = line[opening.end() : closing.start()]
        if inner.startswith(" ") and inner.endswith(" ") and inner.strip(" "):
            inner = inner[1:-1]
        found.append(inner)
        at = closing.end()
    return found


def blocks(text: str) -> list[str]:
    """Give what stands between tags with a mark, in the order of the text."""
    found: list[str] = []
    at = 0
    while opening := re.compile(r'^<(data|message)-([0-9a-f]{12}) of="[^"\n]*">\n', re.MULTILINE).search(text, at):
        closing = text.index(f"\n</{opening[1]}-{opening[2]}>", opening.end() - 1)
        found.append(text[opening.end() : max(closing, opening.end())])
        at = closing + 1
    return found
