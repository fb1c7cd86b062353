from collections.abc import Iterator
from pathlib import Path

import pytest
from flow_home import flows
from runtime_room import Room
from steps_room import shop

from handrail.testing.leaks import nothing_left_behind

__all__ = ["flows", "nothing_left_behind", "shop"]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.close()
