"""Whether a run took the path that a test expects, and how the two paths differ."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache

from handrail.operations.scenarios.addresses import is_same_step, is_within_step
from handrail.operations.scenarios.shapes import GAP


def is_expected_path(expected: Sequence[str], walked: Sequence[str]) -> bool:
    """Whether a path matches: `...` is any number of steps, and a step includes all its parts."""

    @cache
    def rest_fits(at: int, walked_to: int) -> bool:
        if at == len(expected):
            return walked_to == len(walked)
        if expected[at] == GAP:
            return rest_fits(at + 1, walked_to) or (walked_to < len(walked) and rest_fits(at, walked_to + 1))
        return any(rest_fits(at + 1, end) for end in _ends(expected[at], walked, walked_to))

    return rest_fits(0, 0)


def _ends(key: str, walked: Sequence[str], start: int) -> list[int]:
    """List where one visit of a step may end: it may go into its parts, and from them come back to itself."""
    found: list[int] = []
    inside = False
    for at in range(start, len(walked)):
        itself = is_same_step(key, walked[at])
        if not (itself or is_within_step(key, walked[at])) or (itself and at > start and not inside):
            break
        inside = not itself
        found.append(at + 1)
    return found


def difference(expected: Sequence[str], walked: Sequence[str]) -> list[tuple[str, str]]:
    """List the steps of both paths, each with a mark: `-` only expected, `+` only walked, a blank for both."""
    seen = _rephrase_path(expected, walked)
    lines: list[tuple[str, str]] = []
    for what, i, j, k, m in SequenceMatcher(None, expected, seen, autojunk=False).get_opcodes():
        if what == "equal":
            lines += [(" ", step) for step in expected[i:j]]
        else:
            lines += [("-", step) for step in expected[i:j] if step != GAP]
            lines += [(" " if GAP in expected[i:j] else "+", step) for step in seen[k:m]]
    return lines


def _rephrase_path(expected: Sequence[str], walked: Sequence[str]) -> list[str]:
    """Convert the walked path to the names that the test uses, where it has names for them."""
    said: list[str] = []
    for step in walked:
        word = next((key for key in expected if key != GAP and is_same_step(key, step)), None)
        word = word or next((key for key in expected if key != GAP and is_within_step(key, step)), step)
        if not said or said[-1] != word or is_same_step(word, step):
            said.append(word)
    return said
