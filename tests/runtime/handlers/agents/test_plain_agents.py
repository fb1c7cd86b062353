"""Calls of an agent that takes no system prompt, counts over the conversation, and may not even start."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rpds import HashTrieMap

from handrail.agents.registry import KnownAgents
from handrail.errors import NotFound
from handrail.model.history.events import RunBlocked, StepBegan, StepEnded
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import Abilities, Agent, AgentCall, AgentOutcome, Launch, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone
from handrail.runtime.event_records import HeldBlobs
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.store.memory.log import MemoryWorld
from handrail.wiring.system import make_starts


@dataclass
class Echo:
    """Gives what it is told as its answer, in the conversation `c`."""

    total: Usage | None = None
    status: OutcomeStatus = "ok"
    command: str = "cat"
    said: list[str] = field(default_factory=list[str])
    name: str = "echo"
    can: Abilities = field(default_factory=lambda: Abilities(resume=True))
    variables: tuple[str, ...] = ()

    def launch(self, call: AgentCall, folder: str) -> Launch:
        if not self.command:
            raise NotFound("the agent 'echo' is not installed", next_step="install it")
        assert call.system_prompt is None
        assert Path(folder).is_dir()
        return Launch(("/bin/sh", "-c", self.command), stdin=call.prompt.encode())

    def lines(self) -> "Echo":
        self.said.clear()
        return self

    def feed(self, line: bytes) -> str:
        self.said.append(line.decode())
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        text = "\n".join(self.said)
        usage = self.total or Usage()
        return AgentOutcome(
            status=self.status, text=text, session="c", usage=usage, total=self.total, message=f"{ended}"[:5]
        )

    def describe_line(self, line: bytes) -> str | None:
        return line.decode()


async def _restored(_: RunState) -> None:
    raise AssertionError("nothing was lost")


def call(tmp_path: Path, agent: Agent, used: list[int] | None = None, **spec: JsonValue) -> StepEnded | RunBlocked:
    before: HashTrieMap[str, JsonValue] = HashTrieMap({} if used is None else {"c": [*used]})
    (tmp_path / "work").mkdir()
    state = RunState(
        run="case-1",
        status="running",
        plan="",
        definition="",
        workflow="case",
        inputs={},
        workspace=str(tmp_path / "work"),
        started_at=0.0,
        used=before,
    )
    asked: dict[str, JsonValue] = {"prompt": "Do it.", "turn": 1, "system_prompt": "Be kind.", **spec}
    began = StepBegan(address="one", action="agent", attempt=1, spec=asked, at=0.0)
    known = KnownAgents({agent.name: lambda: agent})
    handler = AgentHandler(
        make_starts(), known, HeldBlobs(MemoryWorld().open()), tmp_path / "runs", lambda: 1.0, _restored
    )
    ended = asyncio.run(handler.perform(state, Pending(1, "one", "step", "agent"), began, None))
    assert isinstance(ended, StepEnded | RunBlocked)
    return ended


def ending(tmp_path: Path, agent: Agent, used: list[int] | None = None, **spec: JsonValue) -> StepEnded:
    ended = call(tmp_path, agent, used, **spec)
    assert isinstance(ended, StepEnded)
    return ended


def tokens(ended: StepEnded) -> JsonValue:
    spent = ended.details["spent"]
    assert isinstance(spent, dict)
    return spent["tokens"]


def test_the_system_prompt_stands_before_the_prompt(tmp_path: Path) -> None:
    assert ending(tmp_path, Echo()).output == "Be kind.\n\nDo it."


def test_what_a_conversation_has_heard_is_not_said_again(tmp_path: Path) -> None:
    assert ending(tmp_path, Echo(), session="c", goes_on=True).output == "Do it."


def test_a_step_that_joins_the_conversation_of_another_one_says_its_own(tmp_path: Path) -> None:
    assert ending(tmp_path, Echo(), session="c").output == "Be kind.\n\nDo it."


def test_a_new_conversation_took_all_that_it_counts(tmp_path: Path) -> None:
    ended = ending(tmp_path, Echo(Usage(1000, 100, 50)))
    assert (tokens(ended), ended.details["used"]) == (1150, [1000, 100, 50])


@pytest.mark.parametrize(("used", "grown"), [([600, 40, 50], 460), ([0, 0, 0], 1150), ([9000, 900, 0], 1150)])
def test_one_that_goes_on_took_what_its_count_grew_by(tmp_path: Path, used: list[int], grown: int) -> None:
    ended = ending(tmp_path, Echo(Usage(1000, 100, 50)), used, session="c")
    assert (tokens(ended), ended.details["used"]) == (grown, [1000, 100, 50])


def test_what_an_agent_complained_of_is_told_where_it_gave_no_result(tmp_path: Path) -> None:
    ended = ending(tmp_path, Echo(status="crashed", command="echo no such option >&2; exit 2"))
    assert ended.status == "failed"
    assert ended.error.endswith(": no such option")


def test_a_program_that_is_missing_needs_a_person(tmp_path: Path) -> None:
    blocked = call(tmp_path, Echo(command=""))
    assert isinstance(blocked, RunBlocked)
    assert (blocked.message, blocked.next_step) == ("step 'one': the agent 'echo' is not installed", "install it")


def test_a_call_whose_time_is_up_tells_what_kept_it(tmp_path: Path) -> None:
    ended = ending(tmp_path, Echo(status="network", command="sleep 300"), timeout=1)
    assert ended.details["agent_status"] == "timeout"
    assert "took longer than 1 s and was stopped while it was waiting for its service: Ended" in ended.error
