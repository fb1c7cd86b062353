from collections.abc import Iterator
from pathlib import Path

import pytest
from runtime_room import Room

from handrail.testing.leaks import nothing_left_behind

__all__ = ["nothing_left_behind"]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.close()
