from pathlib import Path

import pytest

from handrail.testing.leaks import nothing_left_behind
from support.client.room import ClientRoom

__all__ = ["nothing_left_behind"]


@pytest.fixture
def room(tmp_path: Path) -> ClientRoom:
    return ClientRoom(tmp_path)
