"""Every agent that comes with Handrail keeps what all agents must, on what it really printed and on junk."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from handrail.agents.claude.adapter import ClaudeAgent
from handrail.agents.played.cassette import CassetteAgent
from handrail.agents.profiles import load_profiles
from handrail.agents.registry import BUILT_IN
from handrail.authoring.scripts.cassette import HEAD, RecordedCall, digest, write_cassette
from handrail.ports.agents import Agent
from handrail.ports.processes import Ended
from handrail.testing.conformance.agents import AgentConformance, Stream
from support.places import RECORDED

LIVE = sorted(BUILT_IN.keys() - {"cassette"})


def recorded(name: str) -> tuple[Stream, ...]:
    files = sorted((RECORDED / name).glob("*.jsonl"))
    return tuple(Stream(file.stem, file.read_bytes().splitlines()) for file in files)


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the agents' names, which are never started."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for profile in load_profiles():
        path = folder / profile.program
        path.write_text("#!/bin/sh\nexit 99\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


class TestAgents(AgentConformance):
    @pytest.fixture(params=LIVE)
    def agent(self, request: pytest.FixtureRequest) -> Agent:
        made = BUILT_IN[str(request.param)]()
        return ClaudeAgent(clock=lambda: 1_800_000_000.0) if made.name == "claude" else made

    @pytest.fixture
    def streams(self, agent: Agent) -> Sequence[Stream]:
        return recorded(agent.name)

    @pytest.fixture
    def options(self, tmp_path: Path) -> Mapping[str, str]:
        script = tmp_path / "script.yaml"
        script.write_text("work: {say: Done.}\n")
        return {"script": str(script)}


class TestCassettes(AgentConformance):
    replays = True

    @pytest.fixture
    def agent(self) -> Agent:
        return CassetteAgent()

    @pytest.fixture
    def streams(self) -> Sequence[Stream]:
        return tuple(
            Stream(f"{name}-{each.name}", (_head(name), *each.lines)) for name in LIVE for each in recorded(name)[:2]
        )

    @pytest.fixture
    def options(self, tmp_path: Path) -> Mapping[str, str]:
        file = tmp_path / "cassette.jsonl"
        call = RecordedCall(
            run="",
            address="work",
            turn=1,
            agent="claude",
            model=None,
            prompt_digest=digest("Do it."),
            prompt="Do it.",
            lines=(),
            exit_code=0,
        )
        file.write_bytes(write_cassette([call], {}))
        return {"script": str(file)}


def _head(agent: str) -> bytes:
    return f'{{"type":"{HEAD}","agent":"{agent}","drift":"","strict":false}}'.encode()


@pytest.mark.parametrize("name", LIVE)
def test_every_agent_has_recorded_streams_of_a_success_and_of_a_failure(name: str) -> None:
    agent, streams = BUILT_IN[name](), recorded(name)
    assert len(streams) >= 2
    found = set[str]()
    for stream in streams:
        reader = agent.lines()
        for line in stream.lines:
            reader.feed(line)
        found.add(reader.outcome(Ended(0)).status)
    assert "ok" in found
    assert len(found) > 1
