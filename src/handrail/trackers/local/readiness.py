"""Which issues can be worked on now, and why the others cannot: the rules of beads.

An issue is ready if its status is `open`; it is neither pinned nor ephemeral; the time until which it is deferred has
passed; no issue above it is deferred; its type is one that somebody works on; and it is not blocked. It is blocked by a
dependency `blocks` or `conditional-blocks` on an issue that is neither closed nor pinned, by `waits-for` until the
children of the other issue are closed (or one of them, with the gate `any-children`), and by a parent that is itself
blocked. A parent that is merely open blocks nothing, and nothing blocks that does not exist.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.actors import actor_words
from handrail.model.issue_records import IssueLine
from handrail.trackers.local.times import format_time

Order: TypeAlias = Literal["priority", "oldest", "hybrid"]
NOT_WORKED_ON = frozenset({"merge-request", "gate", "molecule", "message", "agent", "role", "rig"})
"""Types of issues that are never ready."""
RECENT = 48 * 3600.0
"""In the order `hybrid`, issues that are newer come first by priority, and older ones by age."""


@frozen
class Reason:
    """Why an issue is not ready."""

    id: str
    why: str


class Readiness:
    """What is ready among the issues of a repository at one moment."""

    def __init__(self, lines: Sequence[IssueLine], now: float) -> None:
        self._lines = {line.id: line for line in lines}
        self._now = now
        self._blocked: dict[str, str] = {}

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for line in self._lines.values():
            for on, kind, _ in line.links:
                if kind == "parent-child":
                    found.setdefault(line.id, []).append(on)
        return found

    @cached_property
    def _children(self) -> dict[str, list[IssueLine]]:
        found: dict[str, list[IssueLine]] = {}
        for name, parents in self._parents.items():
            for parent in parents:
                found.setdefault(parent, []).append(self._lines[name])
        return found

    def list_ready(self, order: Order = "priority") -> list[IssueLine]:
        """List what is ready, in the order in which it should be worked on."""
        ready = [line for line in self._lines.values() if line.status == "open" and not self.explain(line)]
        return sort_lines(ready, order, self._now)

    def explain(self, line: IssueLine) -> str:
        """Say why an issue is not ready; empty if it is."""
        if line.status != "open":
            return self._explain_status(line)
        if line.hidden:
            return "it is pinned or ephemeral"
        if line.deferred_until > self._now:
            return f"it is deferred until {format_time(line.deferred_until)}"
        if line.kind in NOT_WORKED_ON:
            return f"nobody works on issues of type {line.kind}"
        if not line.links:
            return ""
        return self._explain_deferred_parent(line.id) or self._explain_blocked(line.id)

    def list_reasons(self) -> list[Reason]:
        """Explain each issue that is neither closed nor ready."""
        reasons = ((line, self.explain(line)) for line in self._lines.values() if line.status != "closed")
        return [Reason(line.id, why) for line, why in reasons if why]

    def _explain_status(self, line: IssueLine) -> str:
        if line.claimed:
            return f"it is claimed by {actor_words(line.claimed.partition(' ')[0])}"
        who = f", assigned to {actor_words(line.assignee)}" if line.assignee else ""
        return f"its status is {line.status}{who}"

    def _explain_deferred_parent(self, name: str) -> str:
        for above in self._ancestors(name):
            line = self._lines.get(above)
            if line is not None and (line.status == "deferred" or line.deferred_until > self._now):
                return f"{above}, which it is a part of, is deferred"
        return ""

    def _explain_blocked(self, name: str) -> str:
        if why := self._find_blocker(name):
            return why
        for above in self._ancestors(name):
            if above in self._lines and self._find_blocker(above):
                return f"{above}, which it is a part of, is blocked"
        return ""

    def _ancestors(self, name: str) -> list[str]:
        """List the issues above one, the nearest first; a circle ends where it closes."""
        if name not in self._parents:
            return []
        found, wanted = dict[str, None](), [name]
        while wanted:
            fresh = [each for each in self._parents.get(wanted.pop(0), []) if each not in found and each != name]
            found.update(dict.fromkeys(fresh))
            wanted += fresh
        return list(found)

    def _find_blocker(self, name: str) -> str:
        if name not in self._blocked:
            reasons = (self._blocks(on, kind, gate) for on, kind, gate in self._lines[name].links)
            self._blocked[name] = next((why for why in reasons if why), "")
        return self._blocked[name]

    def _blocks(self, on: str, kind: str, gate: str) -> str:
        if kind in ("blocks", "conditional-blocks"):
            other = self._lines.get(on)
            return "" if other is None or other.status in ("closed", "pinned") else f"{on} is not closed"
        if kind != "waits-for":
            return ""
        children = self._children.get(on, [])
        closed = [each for each in children if each.status == "closed"]
        met = bool(closed) if gate == "any-children" else len(closed) == len(children)
        return "" if met or not children else f"it waits for the children of {on}"


def sort_lines(lines: Iterable[IssueLine], order: Order, now: float) -> list[IssueLine]:
    """Sort ready issues: by priority and then the newest, the oldest first, or a mixture of both."""
    if order == "oldest":
        return sorted(lines, key=lambda line: (line.created, line.id))
    if order == "priority":
        return sorted(lines, key=lambda line: (line.priority, -line.created, line.id))
    return sorted(
        lines,
        key=lambda line: (
            (0, line.priority, -line.created, line.id) if now - line.created < RECENT else (1, 0, line.created, line.id)
        ),
    )
