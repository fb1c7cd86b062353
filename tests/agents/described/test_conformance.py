"""Agents that are described by data keep what all agents must."""

import sys
from collections.abc import Sequence

import pytest

from handrail.agents.acp.adapter import AcpAgent
from handrail.agents.described.adapter import CommandAgent
from handrail.ports.agent_definitions import AgentDefinition, ValueMapping
from handrail.ports.agents import Agent
from handrail.testing.conformance.agents import AgentConformance, Stream
from support.places import RECORDED

ACP = RECORDED / "acp"


class TestText(AgentConformance):
    tells_its_end = False

    @pytest.fixture
    def agent(self) -> Agent:
        return CommandAgent(AgentDefinition(name="plain", command=(sys.executable,)))

    @pytest.fixture
    def streams(self) -> Sequence[Stream]:
        return [Stream("words", [b"one", b"two"])]


class TestJsonLines(AgentConformance):
    @pytest.fixture
    def agent(self) -> Agent:
        definition = AgentDefinition(
            name="lines",
            command=(sys.executable,),
            output="jsonl",
            mapped=(ValueMapping("text", ("text",), ((("type",), "say"),), add=True), ValueMapping("cost", ("usd",))),
            final=((("type",), "done"),),
        )
        return CommandAgent(definition)

    @pytest.fixture
    def streams(self) -> Sequence[Stream]:
        return [Stream("answer", [b'{"type": "say", "text": "hi"}', b'{"type": "done", "usd": 0.5}'])]


class TestAcp(AgentConformance):
    @pytest.fixture
    def agent(self) -> Agent:
        return AcpAgent(AgentDefinition(name="spoken", protocol="acp", command=(sys.executable,)))

    @pytest.fixture
    def streams(self) -> Sequence[Stream]:
        return [Stream(file.stem, file.read_bytes().splitlines()) for file in sorted(ACP.glob("*.jsonl"))]
