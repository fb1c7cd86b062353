"""Answers questions about what was explored: where a choice can lead, and how long a run can become."""

from handrail.engine.simulation.explore import Exploration
from handrail.engine.simulation.world import Choice, End


def ends_after(explored: Exploration, place: str, says: str) -> list[End]:
    """List every end that a run may reach after a choice was made at a place."""
    first = [
        to for edges in explored.edges.values() for choice, to in edges if choice.place == place and choice.says == says
    ]
    seen: set[str] = set()
    waiting = list(first)
    while waiting:
        key = waiting.pop()
        if key not in seen:
            seen.add(key)
            waiting += [to for _, to in explored.edges.get(key, [])]
    return [end for key, end in explored.ended.items() if key in seen]


def longest_path(explored: Exploration) -> tuple[str, ...]:
    """Find the longest path through everything that was explored."""
    best: dict[str, tuple[int, Choice | None, str]] = {}
    open_: set[str] = set()
    stack = [("", False)]
    while stack:
        key, done = stack.pop()
        if done:
            open_.discard(key)
            ways = [
                (best[to][0] + bool(choice.says), choice, to)
                for choice, to in explored.edges.get(key, [])
                if to in best
            ]
            best[key] = max(ways, key=lambda way: way[0], default=(0, None, ""))
        elif key not in best and key not in open_:
            open_.add(key)
            stack.append((key, True))
            stack += [(to, False) for _, to in explored.edges.get(key, []) if to not in best and to not in open_]
    return _follow_best(best)


def _follow_best(best: dict[str, tuple[int, Choice | None, str]]) -> tuple[str, ...]:
    found: list[str] = []
    key, seen = "", set[str]()
    while key in best and key not in seen:
        seen.add(key)
        _, choice, key = best[key]
        if choice is None:
            break
        if choice.says:
            found.append(f"{choice.place}: {choice.says}")
    return tuple(found)
