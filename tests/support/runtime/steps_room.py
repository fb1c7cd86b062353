"""A room with a real repository, real processes and the scripted agent: runs of steps that agents perform."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from handrail.compiler.catalog import Catalog
from handrail.compiler.outcome import CompileResult
from handrail.errors import NotFound
from handrail.model.history.events import Admission, Decision, StepBegan, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import TreeSource
from handrail.model.source import Document
from handrail.model.workflow.settings import NO_POLICY, NO_PROJECT, AgentPolicy, Project
from handrail.model.workflow.values import JsonValue
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Log, OnPoint
from handrail.runtime.history import state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.run_writer import RunWriter
from handrail.sources.library import library_root
from handrail.store.sqlite.log import open_log
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.wiring.system import System, make_writer
from support.compiler.native_case import compile_library, compile_text, shown
from support.places import TESTS
from support.runtime.room import assert_sound, of_kind, until

Turns = dict[str, Any]
START = {"README.md": "hello\n", ".gitignore": "*.log\n__pycache__/\n"}
DRIVE = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from support.runtime.steps_room import StepsRoom
StepsRoom(Path({folder!r}), workflows={workflows!r}).drive()
"""


def git(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, capture_output=True, text=True, check=False)
    assert not done.returncode, f"git {words}: {done.stderr}"
    return done.stdout.rstrip("\n")


def make_repository(repo: Path, files: dict[str, str]) -> None:
    """Make a repository with one commit on the branch main."""
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    for name, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
        git(repo, "config", name, value)
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "start")


@dataclass(slots=True)
class Hand:
    """A clock that a test moves."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class StepsRoom:
    """A folder with a repository, a database and what runs there."""

    folder: Path
    files: dict[str, str] = field(default_factory=lambda: dict(START))
    workflows: dict[str, str] = field(default_factory=dict[str, str])
    """Workflows that steps may call, by name; those of the library are there too."""
    prompt_files: dict[str, str] = field(default_factory=dict[str, str])
    """Prompts of a workflow that is given as a text, by name."""
    checks: dict[str, str] = field(default_factory=dict[str, str])
    project: Project = NO_PROJECT
    clock: Callable[[], float] = time.time
    agent: str = "scripted"
    """What performs every step; nothing lets each step have its own."""
    agents: AgentPolicy = NO_POLICY
    admission: Admission | None = None
    """What a run waits for before it begins."""
    issue: str = ""
    """The name of the issue that runs are started for."""
    trackers: MemoryTrackers = field(default_factory=MemoryTrackers)
    """Where the runs find issues and pull requests."""
    _log: Log | None = None

    def __post_init__(self) -> None:
        if not self.repo.exists():
            make_repository(self.repo, self.files)

    @property
    def repo(self) -> Path:
        return self.folder / "shop"

    @property
    def log(self) -> Log:
        if self._log is None:
            self._log = open_log(self.folder / "data")
        return self._log

    @property
    def writer(self) -> RunWriter:
        return make_writer(self.log)

    def reopen(self, on_point: OnPoint) -> None:
        """Open the log again, with points around each commit."""
        self.close()
        self._log = open_log(self.folder / "data", on_point=on_point)

    def abandon(self) -> None:
        """Let go of the log as it is: whoever had it is dead."""
        log, self._log = self._log, None
        with suppress(SystemExit):
            if log is not None:
                log.close()

    def close(self) -> None:
        """Close, after a look at all that was recorded."""
        if self._log is not None:
            assert_sound(self._log)
            self._log.close()
            self._log = None

    def _pinned(self, text: str) -> PinnedWorkflow:
        known = "\n" not in text and (library_root() / "workflows" / text).is_dir()
        compiled, _, _ = compile_library(text) if known else self._compiled(text)
        assert compiled.plan is not None, shown(compiled.diagnostics)
        assert compiled.hash is not None
        return PinnedWorkflow(compiled.plan, compiled.hash)

    def _compiled(self, text: str) -> tuple[CompileResult, Document, Catalog]:
        files = {f"prompts/{name}.md": prompt for name, prompt in self.prompt_files.items()}
        main = "workflow.json" if text.lstrip().startswith("{") else "workflow.yaml"
        return compile_text(text, files, workflows=self.workflows, main=main)

    def _find(self, name: str, _: str) -> PinnedWorkflow:
        if name in self.workflows:
            return self._pinned(self.workflows[name])
        if (library_root() / "workflows" / name).is_dir():
            return self._pinned(name)
        raise NotFound(f"there is no workflow '{name}'")

    def start(self, text: str, script: Turns, **inputs: JsonValue) -> str:
        """Start a run of a text, or of a workflow of the library by its name."""
        pinned = self._pinned(text)
        given: dict[str, JsonValue] = {each.name: each.default for each in pinned.plan.inputs if not each.required}
        commit = git(self.repo, "rev-parse", "HEAD")
        source = TreeSource(repository=str(self.repo), base="main", commit=commit, branch="work/{run}")
        request = runs.Request(
            pinned, "", {**given, **inputs}, self.checks, "", "ann", source, self.agent, json.dumps(script).encode()
        )
        request = replace(request, agents=self.agents, project=self.project, admission=self.admission, issue=self.issue)
        return runs.start(self.writer, request)

    def system(self) -> System:
        """Build what drives the runs."""
        return System(self.log, self.folder / "data", self._find, self.clock, trackers=self.trackers)

    def drive(self) -> None:
        """Drive all runs until none can move by itself."""
        system = self.system()
        asyncio.run(system.supervisor("tester").run_until_idle())

    def run(self, text: str, script: Turns, **inputs: JsonValue) -> RunState:
        """Start a run and drive it as far as it goes."""
        run = self.start(text, script, **inputs)
        self.drive()
        return self.state(run)

    def state(self, run: str) -> RunState:
        return state_of(self.log, run)

    def answer(self, run: str, decision: Decision, feedback: str = "") -> RunState:
        """Answer for approval, and drive on."""
        runs.answer(self.writer, run, decision, "ann", feedback)
        self.drive()
        return self.state(run)

    def resume(self, run: str) -> RunState:
        """Resume a run, and drive on."""
        runs.resume(self.writer, run, "ann")
        self.drive()
        return self.state(run)

    def during(self, act: Callable[[], None], ready: Callable[[], bool]) -> None:
        """Drive, and act once meanwhile, as soon as something is so."""

        async def both() -> None:
            system = self.system()
            driving = asyncio.ensure_future(system.supervisor("tester").run_until_idle())
            await until(ready)
            act()
            await driving

        asyncio.run(both())

    def until(self, ready: Callable[[], bool]) -> None:
        """Wait until something is so, for a bounded time."""
        asyncio.run(until(ready))

    def drive_elsewhere(self) -> "subprocess.Popen[bytes]":
        """Drive the runs in a process of its own."""
        text = DRIVE.format(tests=str(TESTS), folder=str(self.folder), workflows=self.workflows)
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen([sys.executable, "-c", text], env=env, stderr=subprocess.DEVNULL)

    def path(self, run: str) -> list[str]:
        """The steps that were begun, in order."""
        return [event.address for event in of_kind(self.log, run, StepBegan)]

    def prompts(self, run: str, address: str) -> list[str]:
        """What was said to the agent of a step, call after call."""
        return [str(each.spec["prompt"]) for each in self.calls(run, address)]

    def calls(self, run: str, address: str) -> list[StepBegan]:
        return [each for each in of_kind(self.log, run, StepBegan) if each.address == address]

    def endings(self, run: str, address: str) -> list[StepEnded]:
        return [each for each in of_kind(self.log, run, StepEnded) if each.address == address]

    def tree(self, run: str) -> Path:
        """The work tree of a run."""
        tree = self.state(run).tree
        assert tree is not None
        return Path(tree.path)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StepsRoom]:
    """A room whose git knows no settings of the person who runs the tests."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    made = StepsRoom(tmp_path)
    yield made
    made.close()
