"""The fields of an older event, lifted version by version."""

import json
from collections.abc import Generator

import pytest

from handrail.errors import StorageTooNew
from handrail.model.history.events import VERSION
from handrail.ports.event_versions import LIFTERS_IN_USE, Fields, lift
from handrail.ports.log import StoredEvent


def stored(version: int, kind: str = "renamed", **fields: str) -> StoredEvent:
    return StoredEvent("fix-1", 3, 9, kind, version, json.dumps(fields).encode(), "0" * 64)


def name_to_title(fields: Fields) -> Fields:
    return {"title": fields["name"]}


def title_to_heading(fields: Fields) -> Fields:
    return {"heading": fields["title"]}


@pytest.fixture(autouse=True)
def lifters() -> Generator[None]:
    """Two changes of one kind; it stayed as it was in the version between them."""
    token = LIFTERS_IN_USE.set({("renamed", VERSION - 3): name_to_title, ("renamed", VERSION - 1): title_to_heading})
    yield
    LIFTERS_IN_USE.reset(token)


def test_an_event_is_lifted_through_every_version_after_its_own() -> None:
    assert lift(stored(VERSION - 3, name="x")) == {"heading": "x"}
    assert lift(stored(VERSION - 2, title="x")) == {"heading": "x"}
    assert lift(stored(VERSION - 1, title="x")) == {"heading": "x"}


def test_a_kind_without_a_lifter_stayed_as_it_was() -> None:
    assert lift(stored(VERSION - 3, "other", name="x")) == {"name": "x"}


def test_a_version_from_long_before_the_first_costs_no_more() -> None:
    assert lift(stored(-(10**30), name="x")) == {"heading": "x"}


def test_an_event_of_a_newer_version_is_refused_with_what_to_do() -> None:
    with pytest.raises(StorageTooNew) as refused:
        lift(stored(VERSION + 1, name="x"))
    versions = f"has version {VERSION + 1}, but this version of Handrail reads versions up to {VERSION}"
    assert refused.value.message == f"event 3 of fix-1 (renamed) {versions}"
    assert refused.value.next_step == "install the newest Handrail: pip install --upgrade handrail"
