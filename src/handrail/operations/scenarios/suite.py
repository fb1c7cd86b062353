"""Tests workflows: plays all their scenarios, several at a time, and reports the outcome of each."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.discover import Suite
from handrail.operations.scenarios.judge import judge
from handrail.operations.scenarios.play import ScenarioPlayer
from handrail.operations.scenarios.problems import Evidence, Problem
from handrail.operations.scenarios.read import Scenario
from handrail.operations.scenarios.replacements import CommandReplacement, StepReplacements
from handrail.operations.scenarios.scenario_environment import (
    OpenEngine,
    ScenarioEngine,
    ScenarioEnvironment,
    make_environment,
)
from handrail.operations.scenarios.trace import Visit, trace_of
from handrail.runtime.ports import Workflows


@frozen(kw_only=True)
class Outcome:
    """The outcome of one scenario."""

    suite: Suite
    scenario: Scenario
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()
    visits: tuple[Visit, ...] = ()
    run: str = ""
    replaced: tuple[str, ...] = ()
    """The steps whose commands did not run, and the programs that did not: the test replaced them."""
    kept: str = ""
    """The folder in which all its files still are."""

    @property
    def ok(self) -> bool:
        """Whether everything is as the test expects."""
        return not self.problems

    def data(self) -> dict[str, JsonValue]:
        """Convert the outcome to JSON data."""
        return {
            "workflow": self.suite.name,
            "name": self.scenario.name,
            "file": self.scenario.file,
            "line": self.scenario.line,
            "status": "skipped" if self.scenario.skip else "passed" if self.ok else "failed",
            "seconds": round(self.seconds, 3),
            "problems": [each.data() for each in self.problems],
            "path": [{"step": each.address, "status": each.status, "tries": each.tries} for each in self.visits],
            "replaced": list(self.replaced),
            "run": self.run,
            "kept": self.kept or None,
        }


@dataclass(slots=True)
class ScenarioRunner:
    """Plays scenarios, as many at a time as there are cores."""

    opens: OpenEngine
    workflows: Workflows
    keep: bool = False
    fail_fast: bool = False
    stopping: threading.Event | None = None

    def play(self, suites: Sequence[Suite], word: str = "") -> Iterator[Outcome]:
        """Yield the outcomes in the order of the files; whoever stops iterating ends what is being played."""
        stopping = self.stopping = threading.Event()
        chosen = [(suite, each) for suite in suites for each in suite.scenarios if _is_wanted(suite, each, word)]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0)), "scenario") as pool:
            futures: list[Future[Outcome]] = [pool.submit(self._play_scenario, *each) for each in chosen]
            try:
                for future in futures:
                    outcome = future.result()
                    yield outcome
                    if self.fail_fast and not outcome.ok:
                        return
            finally:
                stopping.set()
                pool.shutdown(wait=True, cancel_futures=True)

    def _play_scenario(self, suite: Suite, scenario: Scenario) -> Outcome:
        if scenario.skip:
            return Outcome(suite=suite, scenario=scenario)
        replacing = CommandReplacement(StepReplacements(scenario.part("commands")))
        environment = make_environment(self.workflows, replacing)
        began = time.monotonic()
        try:
            engine = self.opens(environment)
            try:
                evidence = self._gather_evidence(suite, scenario, environment, engine, replacing)
                problems = judge(evidence)
            finally:
                engine.log.close()
        except HandrailError as error:
            what = f"it could not be played: {error.message}"
            problems = (Problem(what, scenario.file, scenario.line, hint=error.next_step or ""),)
            return Outcome(suite=suite, scenario=scenario, seconds=time.monotonic() - began, problems=problems)
        finally:
            if not self.keep:
                environment.clear()
        return Outcome(
            suite=suite,
            scenario=scenario,
            seconds=time.monotonic() - began,
            problems=problems,
            visits=evidence.trace.visits,
            run=evidence.ended.run,
            replaced=(*replacing.replaced, *scenario.tools),
            kept=str(environment.folder) if self.keep else "",
        )

    def _gather_evidence(
        self,
        suite: Suite,
        scenario: Scenario,
        environment: ScenarioEnvironment,
        engine: ScenarioEngine,
        replacing: CommandReplacement,
    ) -> Evidence:
        answers = StepReplacements(scenario.part("answers"))
        stopping = self.stopping or threading.Event()
        ended = ScenarioPlayer(scenario, suite.pinned, environment, engine, answers, stopping).play()
        return Evidence(scenario, ended, trace_of(engine.log, ended.run), answers, replacing.results)


def _is_wanted(suite: Suite, scenario: Scenario, word: str) -> bool:
    text = f"{suite.name} {scenario.name} {scenario.file}".lower()
    return word.lower() in text
