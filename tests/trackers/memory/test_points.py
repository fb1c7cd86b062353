"""Every call of the twins can be cut before it and after it took effect."""

import asyncio

import pytest

from handrail.model.issues import IssueDraft, Marker
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.service import MemoryService

DRAFT = IssueDraft(title="Once")
MARK = Marker(what="issue", key="demo-1/1")


class _Cut(Exception):
    """The process ended here."""


def _cut_at(point: str) -> MemoryTrackers:
    def cut(reached: str) -> None:
        if reached == point:
            service.on_point = lambda _: None
            raise _Cut

    service = MemoryService(on_point=cut)
    return MemoryTrackers(service)


@pytest.mark.parametrize(("point", "there"), [("create.before", 0), ("create.after", 1)])
def test_a_call_that_is_cut_afterwards_took_effect(point: str, there: int) -> None:
    trackers = _cut_at(point)
    with pytest.raises(_Cut):
        asyncio.run(trackers.tracker("local").create(DRAFT, MARK))
    assert len(trackers.service.issues) == there


@pytest.mark.parametrize("point", ["create.before", "create.after"])
def test_the_next_process_creates_nothing_twice(point: str) -> None:
    trackers = _cut_at(point)
    with pytest.raises(_Cut):
        asyncio.run(trackers.tracker("local").create(DRAFT, MARK))
    asyncio.run(trackers.tracker("local").create(DRAFT, MARK))
    assert len(trackers.service.issues) == 1


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/acme/shop.git", "github.com/acme/shop"),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@github.com/acme/shop", "github.com/acme/shop"),
        ("https://example.org/acme/shop", "None"),
        ("/srv/git/shop.git", "None"),
    ],
)
def test_a_remote_names_its_repository(remote: str, name: str) -> None:
    assert str(MemoryTrackers().repository_of(remote)) == name
