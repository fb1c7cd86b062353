"""Fixtures of the tests in which workflows run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.runtime.flow_home import flows
from support.runtime.room import Room
from support.runtime.steps_room import shop

__all__ = ["flows", "room", "shop"]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.close()
