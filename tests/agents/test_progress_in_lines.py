"""What the lines of each agent show in the middle of a call: what it has taken, and whether a tool runs."""

import json

import pytest

from handrail.agents.acp.lines import AcpLines
from handrail.agents.registry import KnownAgents
from handrail.ports.agents import CallProgress, Lines, progress_of
from support.places import RECORDED


def seen(reader: Lines, lines: list[bytes]) -> list[CallProgress]:
    """What is shown after each line."""
    found: list[CallProgress] = []
    for line in lines:
        reader.feed(line)
        found.append(progress_of(reader))
    return found


def recorded(agent: str, name: str) -> list[CallProgress]:
    return seen(KnownAgents().find(agent).lines(), (RECORDED / agent / f"{name}.jsonl").read_bytes().splitlines())


@pytest.mark.parametrize(
    ("agent", "name"), [("claude", "tools"), ("codex", "patch"), ("gemini", "edit"), ("scripted", "edit")]
)
def test_a_tool_runs_from_its_call_to_its_result(agent: str, name: str) -> None:
    found = [each.at_work for each in recorded(agent, name)]
    assert (found[0], any(found), found[-1]) == (False, True, False)


@pytest.mark.parametrize(("agent", "name"), [("claude", "tools"), ("opencode", "edit")])
def test_tokens_are_shown_before_the_end(agent: str, name: str) -> None:
    tokens = [each.usage.tokens for each in recorded(agent, name)]
    assert 0 < tokens[len(tokens) // 2] < tokens[-1]


def test_claude_names_the_model_that_answers() -> None:
    assert recorded("claude", "tools")[-1].model.startswith("claude-")


def test_an_agent_of_the_protocol_shows_its_cost_and_its_tools() -> None:
    def update(**what: object) -> bytes:
        return json.dumps({"type": "update", "update": what}).encode()

    lines = [
        update(sessionUpdate="tool_call", toolCallId="1", title="npm test", status="pending"),
        update(sessionUpdate="tool_call_update", toolCallId="1", status="in_progress"),
        update(sessionUpdate="usage_update", cost={"amount": 0.3, "currency": "USD"}),
        update(sessionUpdate="tool_call_update", toolCallId="1", status="completed"),
    ]
    found = seen(AcpLines(), lines)
    assert [each.at_work for each in found] == [True, True, True, False]
    assert [each.cost for each in found] == [None, None, 0.3, 0.3]
    again = json.dumps({"type": "session", "session": "s", "resumed": True}).encode()
    assert seen(AcpLines(), [again, *lines])[-1].cost is None


def test_a_reader_that_cannot_tell_shows_nothing() -> None:
    class Silent:
        def feed(self, line: bytes) -> str:
            del line
            return ""

    assert progress_of(Silent()) == CallProgress()  # pyright: ignore[reportArgumentType]  # its outcome is not asked for
