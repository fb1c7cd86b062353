from pathlib import Path

import pytest
from process_room import Room

from handrail.testing.leaks import nothing_left_behind

__all__ = ["nothing_left_behind"]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)
