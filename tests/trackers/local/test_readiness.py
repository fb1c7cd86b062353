"""Which issues are ready: the rules of beads, case by case."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.model.issue_records import LocalIssue
from handrail.trackers.local.fold import line_of
from handrail.trackers.local.readiness import Order, Readiness
from handrail.trackers.local.times import format_time

NOW = 1_800_000_000.0
LATER, EARLIER = format_time(NOW + 60), format_time(NOW - 60)
Fields = dict[str, object]
Issues = dict[str, Fields]


def on(*targets: str, kind: str = "blocks", gate: str = "") -> Fields:
    """Depend on other issues."""
    metadata = {"metadata": json.dumps({"gate": gate})} if gate else {}
    return {"dependencies": [{"depends_on_id": each, "type": kind, **metadata} for each in targets]}


def part_of(parent: str, *blockers: str) -> Fields:
    """Be a part of another issue, and perhaps blocked by others."""
    links = [{"depends_on_id": parent, "type": "parent-child"}]
    return {"dependencies": [*links, *({"depends_on_id": each, "type": "blocks"} for each in blockers)]}


CASES: dict[str, tuple[Issues, str]] = {
    "an open issue": ({"a": {}}, "a"),
    "an issue without a status is open": ({"a": {"status": None}}, "a"),
    "in progress": ({"a": {"status": "in_progress"}}, ""),
    "blocked by its status": ({"a": {"status": "blocked"}}, ""),
    "deferred by its status": ({"a": {"status": "deferred"}}, ""),
    "closed": ({"a": {"status": "closed"}}, ""),
    "pinned by its status": ({"a": {"status": "pinned"}}, ""),
    "hooked": ({"a": {"status": "hooked"}}, ""),
    "a custom status": ({"a": {"status": "in_review"}}, ""),
    "pinned by its field": ({"a": {"pinned": True}}, ""),
    "ephemeral": ({"a": {"ephemeral": True}}, ""),
    "deferred until later": ({"a": {"defer_until": LATER}}, ""),
    "deferred until a time that has passed": ({"a": {"defer_until": EARLIER}}, "a"),
    "a time that cannot be read defers nothing": ({"a": {"defer_until": "soon"}}, "a"),
    **{
        f"type {each}": ({"a": {"issue_type": each}}, "")
        for each in ("merge-request", "gate", "molecule", "message", "agent", "role", "rig")
    },
    "an epic": ({"a": {"issue_type": "epic"}}, "a"),
    "a custom type": ({"a": {"issue_type": "experiment"}}, "a"),
    "assigned, but not begun": ({"a": {"assignee": "ann"}}, "a"),
    "blocked by an open issue": ({"a": on("b"), "b": {}}, "b"),
    "blocked by one in progress": ({"a": on("b"), "b": {"status": "in_progress"}}, ""),
    "blocked by one with a custom status": ({"a": on("b"), "b": {"status": "in_review"}}, ""),
    "blocked by one that is deferred": ({"a": on("b"), "b": {"status": "deferred"}}, ""),
    "freed by closing": ({"a": on("b"), "b": {"status": "closed"}}, "a"),
    "freed by closing, whatever the reason": (
        {"a": on("b"), "b": {"status": "closed", "close_reason": "not_planned"}},
        "a",
    ),
    "a pinned issue blocks nothing": ({"a": on("b"), "b": {"status": "pinned"}}, "a"),
    "an issue that does not exist blocks nothing": ({"a": on("gone")}, "a"),
    "one of two blockers is closed": ({"a": on("b", "c"), "b": {"status": "closed"}, "c": {}}, "c"),
    "a chain": ({"a": on("b"), "b": on("c"), "c": {}}, "c"),
    "conditional-blocks blocks like blocks": ({"a": on("b", kind="conditional-blocks"), "b": {}}, "b"),
    "conditional-blocks is freed by any closing": (
        {"a": on("b", kind="conditional-blocks"), "b": {"status": "closed"}},
        "a",
    ),
    **{
        f"{kind} does not block": ({"a": on("b", kind=kind), "b": {}}, "a b")
        for kind in ("related", "discovered-from", "replies-to", "duplicates", "supersedes", "tracks", "my-own")
    },
    "an open parent does not block": ({"a": part_of("p"), "p": {}}, "a p"),
    "a parent in progress does not block": ({"a": part_of("p"), "p": {"status": "in_progress"}}, "a"),
    "a blocked parent blocks": ({"a": part_of("p"), "p": on("b"), "b": {}}, "b"),
    "a blocked grandparent blocks": ({"a": part_of("p"), "p": part_of("g"), "g": on("b"), "b": {}}, "b"),
    "a parent whose blocker is closed does not block": (
        {"a": part_of("p"), "p": on("b"), "b": {"status": "closed"}},
        "a p",
    ),
    "a blocked sibling does not block": ({"a": part_of("p"), "c": part_of("p", "b"), "p": {}, "b": {}}, "a b p"),
    "a parent deferred by its status": ({"a": part_of("p"), "p": {"status": "deferred"}}, ""),
    "a parent deferred until later": ({"a": part_of("p"), "p": {"defer_until": LATER}}, ""),
    "a grandparent deferred until later": ({"a": part_of("p"), "p": part_of("g"), "g": {"defer_until": LATER}}, ""),
    "parents in a circle": ({"a": part_of("b"), "b": part_of("a")}, "a b"),
    "waits for children that are open": (
        {"a": on("p", kind="waits-for"), "p": {"status": "closed"}, "c": part_of("p")},
        "c",
    ),
    "waits for children of which one is open": (
        {"a": on("p", kind="waits-for"), "p": {}, "c": part_of("p"), "d": {**part_of("p"), "status": "closed"}},
        "c p",
    ),
    "waits for children that are closed": (
        {"a": on("p", kind="waits-for"), "p": {}, "c": {**part_of("p"), "status": "closed"}},
        "a p",
    ),
    "waits for an issue without children": ({"a": on("p", kind="waits-for"), "p": {}}, "a p"),
    "waits for any child, and one is closed": (
        {
            "a": on("p", kind="waits-for", gate="any-children"),
            "p": {},
            "c": part_of("p"),
            "d": {**part_of("p"), "status": "closed"},
        },
        "a c p",
    ),
    "waits for any child, and none is closed": (
        {"a": on("p", kind="waits-for", gate="any-children"), "p": {}, "c": part_of("p")},
        "c p",
    ),
}


def _readiness(issues: Issues) -> Readiness:
    return Readiness([line_of(_issue(name, fields)) for name, fields in issues.items()], NOW)


def _issue(name: str, fields: Fields) -> LocalIssue:
    record = {"title": name, "created_at": format_time(NOW - 100), **fields}
    return LocalIssue(id=name, seq=1, record={key: value for key, value in record.items() if value is not None})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("issues", "ready"), CASES.values(), ids=CASES)
def test_an_issue_is_ready_by_the_rules(issues: Issues, ready: str) -> None:
    assert sorted(line.id for line in _readiness(issues).list_ready()) == ready.split()


@pytest.mark.parametrize(("issues", "ready"), CASES.values(), ids=CASES)
def test_each_issue_that_is_not_ready_is_explained(issues: Issues, ready: str) -> None:
    closed = {name for name, fields in issues.items() if fields.get("status") == "closed"}
    explained = {each.id for each in _readiness(issues).list_reasons() if each.why}
    assert explained == issues.keys() - closed - set(ready.split())


@pytest.mark.parametrize(("order", "expected"), [("priority", "b d a c"), ("oldest", "c a b d"), ("hybrid", "b d a c")])
def test_ready_issues_are_sorted(order: Order, expected: str) -> None:
    day = 24 * 3600
    issues: Issues = {
        "a": {"priority": 1, "created_at": format_time(NOW - day)},
        "b": {"priority": 0, "created_at": format_time(NOW - 3600)},
        "c": {"priority": 1, "created_at": format_time(NOW - 30 * day)},
        "d": {"priority": 0, "created_at": format_time(NOW - 3600)},
    }
    assert [line.id for line in _readiness(issues).list_ready(order)] == expected.split()


def test_the_reason_names_what_is_in_the_way() -> None:
    issues: Issues = {"a": part_of("p"), "p": on("b"), "b": {}, "c": on("b")}
    assert {each.id: each.why for each in _readiness(issues).list_reasons()} == {
        "a": "p, which it is a part of, is blocked",
        "p": "b is not closed",
        "c": "b is not closed",
    }


@given(st.integers(0, 2**32))
def test_whoever_is_ready_has_no_reason_not_to_be(number: int) -> None:
    chance = random.Random(number)
    statuses = ("open", "open", "open", "in_progress", "closed", "pinned", "deferred")
    kinds = ("blocks", "parent-child", "waits-for", "conditional-blocks", "related")
    lines = [
        line_of(
            LocalIssue(
                id=f"a{each}",
                record={
                    "title": "t",
                    "status": chance.choice(statuses),
                    "issue_type": chance.choice(("task", "task", "gate")),
                    "defer_until": chance.choice(("", "", LATER)),
                    "dependencies": [
                        {"depends_on_id": f"a{chance.randrange(24)}", "type": chance.choice(kinds)}
                        for _ in range(chance.randrange(3))
                    ],
                },
            )
        )
        for each in range(20)
    ]
    found = Readiness(lines, NOW)
    assert {line.id for line in found.list_ready()} == {line.id for line in lines if not found.explain(line)}
