"""What a queued run waits for right now, read from the summaries: nothing is folded for it."""

from collections.abc import Iterable
from typing import Any

from handrail.frozen import frozen
from handrail.model.history.run_lines import Row
from handrail.model.workflow.values import JsonValue

Document = dict[str, Any]
OPEN = ("queued", "running", "waiting", "blocked")
MAX_NAMED = 3


@frozen
class QueuePosition:
    """Why a run waits, and for which runs."""

    waits_for: str
    """`key` or `place`; empty if its turn has come, or nothing is known about it."""
    behind: tuple[str, ...] = ()
    key: str = ""
    most: int = 0
    """How many may run at once."""

    @property
    def words(self) -> str:
        """Describe it in a line: `queued behind deps-1: same concurrency key 'deps'`."""
        more = len(self.behind) - MAX_NAMED
        names = ", ".join(self.behind[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        if self.waits_for == "key":
            return f"queued behind {names}: same concurrency key '{self.key}'"
        if self.waits_for == "place":
            return f"queued behind {names}: at most {self.most} run at once (max_concurrent_instances)"
        return "queued: it starts next"


def find_queue_reason(run: str, rows: Iterable[Row]) -> QueuePosition:
    """Find out what a run waits for, from the summaries of the open runs, itself included."""
    known = {row.key: row for row in rows if row.document.get("status") in OPEN}
    if run not in known:
        return QueuePosition("")
    own = known[run]
    line: Document = dict(own.document)
    others: dict[str, Document] = {each: dict(row.document) for each, row in known.items() if _root(row) != _root(own)}
    needs = _needs(line)
    key = (needs.get("scope"), needs.get("key"))
    if needs.get("key") and not line["admission"].get("admitted"):
        same = [each for each, other in others.items() if _key(other) == key]
        first = [each for each in same if others[each]["admission"].get("admitted")]
        if first or same:
            return QueuePosition("key", tuple(sorted(first) or sorted(same)), str(needs["key"]))
    for name, most in needs.get("places") or ():
        running = [
            each for each, other in others.items() if other.get("status") == "running" and _has_place(other, name)
        ]
        roots = tuple(dict.fromkeys(_root(known[each]) for each in sorted(running)))
        if len(roots) >= most:
            return QueuePosition("place", roots, most=most)
    return QueuePosition("")


def queue_data(run: str, rows: Iterable[Row]) -> dict[str, JsonValue]:
    """Convert what a run waits for to JSON data."""
    found = find_queue_reason(run, rows)
    return {"waits_for": found.waits_for or None, "behind": list(found.behind), "words": found.words}


def _root(row: Row) -> str:
    return row.facts.root or row.key


def _needs(line: Document) -> Document:
    found: Document = line.get("admission") or {}
    needs: Document | None = found.get("needs")
    return needs or {}


def _key(line: Document) -> tuple[Any, Any]:
    needs = _needs(line)
    return (needs.get("scope"), needs.get("key"))


def _has_place(line: Document, name: str) -> bool:
    return any(each == name for each, _ in _needs(line).get("places") or ())
