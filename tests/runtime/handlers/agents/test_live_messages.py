"""An agent that listens while it works: what it took up is told with its outcome, and only that counts as heard."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from handrail.agents.registry import KnownAgents
from handrail.engine.prompts.person_messages import remove_heard, wants_follow_up
from handrail.model.history.events import QuestionAsked, StepBegan, StepEnded
from handrail.model.history.run_state import Frame, Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import Abilities, Agent, AgentCall, AgentOutcome, Launch
from handrail.ports.processes import Ended, Gone
from handrail.runtime.event_records import HeldBlobs
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.runtime.handlers.agents.live_messages import can_listen
from handrail.store.memory.log import MemoryWorld
from handrail.wiring.system import make_starts

HEARS = "read -r prompt; read -r mark text; echo heard $mark; echo said $text; echo DONE; cat"
LOST = f"test -e restored || {{ read -r prompt; read -r said; kill -9 $PPID $$; }}; {HEARS}"
DEAF = "read -r prompt; echo said nothing; echo DONE; cat >/dev/null"
PENDING = Pending(3, "one", "step", "agent")
SAID = ((5, "use tabs"), (8, "be brief"))


@dataclass
class Listener:
    """Prints the marks of what it takes up."""

    command: str = HEARS
    question: str = ""
    printed: list[str] = field(default_factory=list[str])
    listened: list[bool] = field(default_factory=list[bool])
    name: str = "listener"
    can: Abilities = field(default_factory=lambda: Abilities(resume=True, single_turn=True, follow_up=True))
    variables: tuple[str, ...] = ()

    def launch(self, call: AgentCall, folder: str) -> Launch:
        assert Path(folder).is_dir()
        self.listened.append(call.listens)
        until = "DONE" if call.listens else ""
        return Launch(("/bin/sh", "-c", self.command), stdin=self.encode_message(call.prompt, "-"), until=until)

    def encode_message(self, text: str, mark: str) -> bytes:
        return f"{mark} {' '.join(text.split())}\n".encode()

    def lines(self) -> "Listener":
        self.printed.clear()
        return self

    def feed(self, line: bytes) -> str:
        self.printed.append(line.decode())
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        assert isinstance(ended, Ended)
        marks = tuple(each.removeprefix("heard ") for each in self.printed if each.startswith("heard "))
        words = "\n".join(each for each in self.printed if each.startswith("said "))
        return AgentOutcome(status="ok", text=words, session="c", heard=marks, question=self.question)

    def describe_line(self, line: bytes) -> str | None:
        return line.decode()


async def _restored(state: RunState) -> None:
    (Path(state.workspace) / "restored").touch()


def state_in(workspace: Path) -> RunState:
    return RunState(
        run="case-1",
        status="running",
        plan="",
        definition="",
        workflow="case",
        inputs={},
        workspace=str(workspace),
        started_at=0.0,
        stack=(Frame(""),),
        messages=tuple((seq, "ann", text) for seq, text in SAID),
    )


def call(tmp_path: Path, agent: Agent, **spec: JsonValue) -> StepEnded | QuestionAsked:
    (tmp_path / "work").mkdir(exist_ok=True)
    began = StepBegan(address="one", action="agent", attempt=1, spec={"prompt": "Do it.", "turn": 1, **spec}, at=0.0)

    def said(run: str, seq: int) -> tuple[tuple[int, str], ...]:
        assert run == "case-1"
        return tuple(each for each in SAID if each[0] > seq)

    known = KnownAgents({agent.name: lambda: agent})
    log = MemoryWorld().open()
    handler = AgentHandler(make_starts(), known, HeldBlobs(log), tmp_path / "runs", lambda: 1.0, _restored, said=said)
    ended = asyncio.run(handler.perform(state_in(tmp_path / "work"), PENDING, began, None))
    assert isinstance(ended, StepEnded | QuestionAsked)
    return ended


def test_what_it_took_up_is_told_with_its_outcome_and_nothing_else(tmp_path: Path) -> None:
    ended = call(tmp_path, Listener())
    assert isinstance(ended, StepEnded)
    assert ended.details["heard"] == [5]
    assert "# A message for you" in str(ended.output)
    assert "use tabs" in str(ended.output)
    assert "Your task is otherwise unchanged." in str(ended.output)


def test_an_agent_that_hears_nothing_has_heard_nothing(tmp_path: Path) -> None:
    ended = call(tmp_path, Listener(DEAF))
    assert isinstance(ended, StepEnded)
    assert (ended.output, "heard" in ended.details) == ("said nothing", False)


def test_a_call_that_was_lost_and_is_made_again_is_told_again(tmp_path: Path) -> None:
    ended = call(tmp_path, Listener(LOST))
    assert isinstance(ended, StepEnded)
    assert (tmp_path / "work" / "restored").exists()
    assert ended.details["heard"] == [5]


def test_a_question_tells_it_too(tmp_path: Path) -> None:
    asked = call(tmp_path, Listener(question="Tabs or spaces?"))
    assert isinstance(asked, QuestionAsked)
    assert asked.heard == (5,)


def test_a_single_turn_is_told_its_prompt_alone(tmp_path: Path) -> None:
    agent = Listener(DEAF)
    call(tmp_path, agent, single_turn=True)
    assert agent.listened == [False]
    assert not list(tmp_path.rglob("said"))


@pytest.mark.parametrize(
    ("pending", "can"),
    [
        (Pending(3, "one", "step", "guided"), Abilities(follow_up=True)),
        (Pending(3, "one", "step", "agent"), Abilities()),
    ],
)
def test_a_guided_step_and_an_agent_that_cannot_are_not_spoken_to(pending: Pending, can: Abilities) -> None:
    began = StepBegan(address="one", action="agent", attempt=1, spec={}, at=0.0)
    assert can_listen(state_in(Path("/")), PENDING, began, Listener())
    assert not can_listen(state_in(Path("/")), pending, began, Listener(can=can))


def test_only_what_was_not_heard_is_told_by_a_further_call() -> None:
    state = remove_heard(state_in(Path("/")), PENDING, [5])
    assert state.messages == ((8, "ann", "be brief"),)
    assert wants_follow_up(state, PENDING, "c")
    assert not wants_follow_up(remove_heard(state, PENDING, [8]), PENDING, "c")
