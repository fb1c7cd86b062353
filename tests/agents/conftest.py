from pathlib import Path

import pytest
from agent_room import AgentRoom

from handrail.testing.leaks import nothing_left_behind

__all__ = ["nothing_left_behind"]


@pytest.fixture
def room(tmp_path: Path) -> AgentRoom:
    return AgentRoom(tmp_path)
