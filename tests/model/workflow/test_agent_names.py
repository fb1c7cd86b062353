"""How the names of agents are read."""

import pytest

from handrail.agents.profiles import agent_names
from handrail.model.workflow.agent_names import NO_AGENT_NAMES, AgentChoice

NAMES = agent_names()


@pytest.mark.parametrize(
    ("agent", "model", "expected"),
    [
        ("claude/opus", None, AgentChoice("claude", "opus")),
        ("opus", None, AgentChoice("claude", "opus")),
        ("haiku", "claude-haiku-4-5", AgentChoice("claude", "claude-haiku-4-5")),
        ("codex", "gpt-5.5", AgentChoice("codex", "gpt-5.5")),
        (None, "sonnet", AgentChoice("claude", "sonnet")),
        (None, "mine", AgentChoice(None, "mine")),
        ("opencode/anthropic/claude-sonnet", None, AgentChoice("opencode", "anthropic/claude-sonnet")),
        ("", None, AgentChoice()),
    ],
)
def test_names_of_agents_are_read(agent: str | None, model: str | None, expected: AgentChoice) -> None:
    assert NAMES.read(agent, model) == expected


def test_a_model_of_several_agents_names_none() -> None:
    assert [NAMES.owner_of(each) for each in ("codex", "claude", "gemini", "kimi", "opusculum")] == [None] * 5


@pytest.mark.parametrize("name", ["openai", "OpenAI"])
def test_another_name_of_an_agent_is_its_name(name: str) -> None:
    assert NAMES.read(name) == AgentChoice("codex")
    assert NAMES.read(f"{name}/mine") == AgentChoice("codex", "mine")


def test_a_label_is_a_name_or_a_model_of_one_agent() -> None:
    assert all(NAMES.is_label(each) for each in ("Codex", "openai", "sonnet"))
    assert not any(NAMES.is_label(each) for each in ("gemini-cli", "bug"))


def test_without_names_every_one_stands_for_itself() -> None:
    assert NO_AGENT_NAMES.read("openai/opus") == AgentChoice("openai", "opus")
    assert NO_AGENT_NAMES.read("opus") == AgentChoice("opus")
    assert not NO_AGENT_NAMES.is_label("codex")
