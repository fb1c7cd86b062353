"""Finding an agent by its name."""

from collections.abc import Callable

import pytest

from handrail.agents.played.scripted import ScriptedAgent
from handrail.agents.registry import BUILT_IN, KnownAgents
from handrail.errors import InvalidWorkflow, NotFound, UsageError
from handrail.ports.agents import Agent
from support.agents.agent_room import AgentRoom

TWO: dict[str, Callable[[], Agent]] = {"scripted": ScriptedAgent, "claude": ScriptedAgent}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_agent_is_found_by_the_name_that_it_gives_itself(name: str) -> None:
    assert KnownAgents().find(name).name == name


def test_an_agent_is_made_once() -> None:
    agents = KnownAgents({"scripted": ScriptedAgent})
    assert agents.find("scripted") is agents.find(None)


def test_the_configured_agent_is_taken_where_none_is_named() -> None:
    made: list[str] = []

    def claude() -> Agent:
        made.append("claude")
        return ScriptedAgent()

    agents = KnownAgents({"scripted": ScriptedAgent, "claude": claude}, default="claude")
    agents.find("scripted")
    assert made == []
    agents.find(None)
    assert made == ["claude"]


def test_an_unknown_agent_is_refused_with_what_was_meant_and_what_there_is() -> None:
    with pytest.raises(NotFound, match=r"^the agent 'scriptd' is not known, did you mean 'scripted'\?$") as caught:
        KnownAgents(TWO).find("scriptd")
    assert caught.value.next_step == "available agents: claude, scripted"


def test_a_configured_agent_that_is_unknown_is_said_to_be_the_configured_one() -> None:
    with pytest.raises(NotFound, match=r"^the configured agent 'codex' is not known$"):
        KnownAgents(TWO, default="codex").find(None)


def test_one_of_several_has_to_be_chosen() -> None:
    with pytest.raises(UsageError, match="no agent was chosen") as caught:
        KnownAgents(TWO).find(None)
    assert caught.value.next_step == "name one with `--agent`: claude, scripted"


def test_where_there_is_none_that_is_said() -> None:
    with pytest.raises(NotFound, match="no agent is configured here"):
        KnownAgents({}).find(None)


def test_the_scripted_agent_asks_for_its_script(room: AgentRoom) -> None:
    call = room.call()
    call.options.clear()
    with pytest.raises(UsageError, match="needs a script") as caught:
        ScriptedAgent().launch(call, str(room.root / "call"))
    assert caught.value.next_step == "add `--script FILE`"
    room.script("work: 5")
    with pytest.raises(InvalidWorkflow):
        ScriptedAgent().launch(room.call(), str(room.root / "call"))
    assert not (room.root / "call").exists()
