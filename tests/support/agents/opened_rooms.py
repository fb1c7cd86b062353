"""Opens rooms in which both real agents ask a model that plays scripts."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from handrail.testing.models.scripts import Action
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import Home, real_agents
from support.agents.real_room import RealRoom

__all__ = ["Open", "opened", "real_agents"]
Open = Callable[..., RealRoom]


@pytest.fixture
def opened(real_agents: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open a room whose model plays scripts for both agents."""
    with ExitStack() as stack:

        def opening(**scripts: list[Action]) -> RealRoom:
            model = stack.enter_context(ModelServer(scripts))
            monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
            real_agents.point_codex(model.url)
            room = RealRoom(tmp_path, real_agents, model)
            stack.callback(room.close)
            return room

        yield opening
