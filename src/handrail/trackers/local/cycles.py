"""Circles of dependencies, in which no issue could ever become ready."""

from collections.abc import Sequence

from handrail.model.issue_records import IssueLine

BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for", "parent-child"})


def find_cycle(lines: Sequence[IssueLine], issue: str, on: str, kind: str) -> list[str]:
    """Return the circle that a new dependency would close; empty if there is none, or if it would not block."""
    if kind not in BLOCKING:
        return []
    if issue == on:
        return [issue, on]
    links = {line.id: line.links for line in lines if line.links}
    before, wanted = {on: issue}, [on]
    while wanted:
        name = wanted.pop()
        for target, link, _ in links.get(name, []):
            if link not in BLOCKING or target in before:
                continue
            before[target] = name
            if target == issue:
                return _path(before, issue)
            wanted.append(target)
    return []


def _path(before: dict[str, str], issue: str) -> list[str]:
    path = [issue]
    while before[path[-1]] != issue:
        path.append(before[path[-1]])
    return [issue, *reversed(path)]
