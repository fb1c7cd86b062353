"""Plays one scenario with the real engine: starts the run, answers for the person, moves the clock, stops in time."""

import asyncio
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from handrail.errors import HandrailError, UsageError
from handrail.frozen import frozen
from handrail.model.history.events import Decision
from handrail.model.history.run_state import RunState
from handrail.model.source import Mapping, Node, Scalar
from handrail.operations.runs import lifecycle as runs
from handrail.operations.scenarios.read import Scenario
from handrail.operations.scenarios.replacements import StepReplacements
from handrail.operations.scenarios.scenario_environment import ScenarioEngine, ScenarioEnvironment
from handrail.operations.views.run_tree import family, find_acting_run, root_of
from handrail.operations.views.step_addresses import members
from handrail.runtime.history import state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import PinnedWorkflow

ACTOR = "test"
POLL_INTERVAL = 0.05
TIMEOUT = 20.0
"""Timeout in seconds for ending what a scenario started."""
DECISIONS: dict[str, Decision] = {"approve": "approve", "reject": "reject"}
Trouble: TypeAlias = Literal["", "unanswered", "wrong answer", "timeout", "interrupted"]


@frozen
class PlayResult:
    """How far a scenario got."""

    run: str
    state: RunState
    acting: RunState
    """The run of the family at which it is."""
    trouble: Trouble = ""
    address: str = ""
    """The step that the trouble is about, relative to the run."""
    words: str = ""


class _ScenarioTimeout(Exception):
    """The scenario has to end now."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble)
        self.trouble: Trouble = trouble


@dataclass(slots=True)
class ScenarioPlayer:
    """One scenario in its environment."""

    scenario: Scenario
    pinned: PinnedWorkflow
    environment: ScenarioEnvironment
    engine: ScenarioEngine
    answers: StepReplacements
    stopping: threading.Event
    _ends: float = 0.0

    def play(self) -> PlayResult:
        """Play the scenario until its run ends or needs something that the test does not provide."""
        return asyncio.run(self._play())

    async def _play(self) -> PlayResult:
        self._ends = asyncio.get_running_loop().time() + self.scenario.timeout
        run = runs.start(self.engine.writer, self._request())
        supervisor = self.engine.supervisor(ACTOR)
        try:
            trouble, address, words = await self._drive(run, supervisor)
        except _ScenarioTimeout as out:
            address = self._display_address(find_acting_run(self.engine.log, run).acting)
            await self._stop(run)
            trouble, words = out.trouble, ""
        found = find_acting_run(self.engine.log, run)
        return PlayResult(run, found.state, found.acting, trouble, address, words)

    def _request(self) -> runs.Request:
        source = self.environment.set_up(self.scenario, self.engine.machine.repositories)
        return runs.Request(
            self.pinned,
            str(self.environment.repository),
            self.scenario.inputs,
            self.scenario.checks,
            self.scenario.task,
            ACTOR,
            source,
            "scripted",
            self.scenario.turns,
            project=self.scenario.project,
        )

    async def _drive(self, run: str, supervisor: Supervisor) -> tuple[Trouble, str, str]:
        while True:
            await self._run_with_timeout(supervisor.run_until_idle())
            acting = find_acting_run(self.engine.log, run).acting
            if acting.status == "waiting" and acting.reason in ("approval", "question"):
                trouble, words = self._answer(acting)
                if trouble:
                    return trouble, self._display_address(acting), words
                continue
            states = [state_of(self.engine.log, each) for each in family(self.engine.log, run)]
            times = [each.until for each in states if each.status == "waiting" and each.reason in ("timer", "quota")]
            until = min((time for time in times if time is not None), default=None)
            if until is None:
                return "", "", ""
            self.environment.clock.jump(until)

    def _answer(self, acting: RunState) -> tuple[Trouble, str]:
        """Answer for the person with what the test says, if it says something."""
        pending = acting.pending
        own = "" if pending is None else pending.address
        answer = self.answers.take(self._display_address(acting), own)
        if answer is None:
            return "unanswered", acting.message
        try:
            self._say(acting, answer)
        except HandrailError as error:
            return "wrong answer", error.message
        return "", ""

    def _say(self, acting: RunState, answer: Node) -> None:
        writer, word = self.engine.writer, _text(answer)
        if acting.reason == "question":
            runs.answer_in_words(writer, acting.run, word, ACTOR)
        elif isinstance(answer, Mapping):
            runs.answer(writer, acting.run, "revise", ACTOR, _text(answer.get("revise")))
        elif word in DECISIONS:
            runs.answer(writer, acting.run, DECISIONS[word], ACTOR)
        else:
            raise UsageError(f"'{word}' is not a valid answer to an approval")

    def _display_address(self, acting: RunState) -> str:
        address = acting.pending.address if acting.pending is not None else ""
        via = {each.run: each.via for each in members(self.engine.log, root_of(self.engine.log, acting.run))}
        return f"{via.get(acting.run, '')}{address}"

    async def _run_with_timeout(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something until it is done, the time is up, or everything has to end."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=POLL_INTERVAL))[0]:
                if self.stopping.is_set():
                    raise _ScenarioTimeout("interrupted")
                if asyncio.get_running_loop().time() > self._ends:
                    raise _ScenarioTimeout("timeout")
            task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _stop(self, run: str) -> None:
        """End the run with everything that it started."""
        state = state_of(self.engine.log, run)
        if not state.is_over:
            runs.stop(self.engine.writer, run, ACTOR)
            await asyncio.wait_for(self.engine.supervisor(ACTOR).run_until_idle(), TIMEOUT)


def _text(node: Node | None) -> str:
    return str(node.value) if isinstance(node, Scalar) else ""
