"""Fixtures of the tests of agents."""

from pathlib import Path

import pytest

from support.agents.agent_room import AgentRoom


@pytest.fixture
def room(tmp_path: Path) -> AgentRoom:
    return AgentRoom(tmp_path)
