"""Where a placeholder ends: braces and quotes inside its expression are respected."""

import re

_MARK = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]""", re.DOTALL)
LONGEST = 20_000
"""How far an end is looked for, so that many openings without an end stay cheap."""


def find_close(text: str, start: int, closer: str) -> int:
    """Give the offset of the closer of what begins before `start`, or -1; unclosed quotes do not count."""
    depth = 0
    end = min(len(text), start + LONGEST)
    for match in _MARK.finditer(text, start, end):
        mark = match[0]
        if depth == 0 and text.startswith(closer, match.start()):
            return match.start()
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth < 0:
                break
    return text.find(closer, start, end)
