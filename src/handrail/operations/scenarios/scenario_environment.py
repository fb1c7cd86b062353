"""A temporary repository, home and set of programs for one scenario; nothing of the user's is read or written."""

import os
import shutil
import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Protocol

from handrail.authoring.scripts.turn import FileForm
from handrail.frozen import frozen
from handrail.model.history.trees import TreeSource
from handrail.operations.scenarios.read import Scenario
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.ports.repositories import Repositories
from handrail.runtime.handlers.commands.handler import Instead
from handrail.runtime.local.supervisor import Supervisor
from handrail.runtime.ports import Workflows
from handrail.runtime.run_writer import RunWriter
from handrail.sources.folders import HOME

BRANCH = "main"


@dataclass(slots=True)
class ScenarioClock:
    """The clock of a scenario: what a run waits for comes at once."""

    ahead: float = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return time.time() + self.ahead

    def jump(self, until: float) -> None:
        """Move the clock to a time, if it is in the future."""
        self.ahead += max(0.0, until - self())


@frozen
class ScenarioEnvironment:
    """Where one scenario is played, and what its engine is built with."""

    folder: Path
    workflows: Workflows
    instead: Instead
    clock: ScenarioClock = field(default_factory=ScenarioClock)

    @property
    def repository(self) -> Path:
        """The repository in which the run is started."""
        return self.folder / "repository"

    @property
    def home(self) -> Path:
        """The value of HANDRAIL_HOME there."""
        return self.folder / "home"

    @property
    def data(self) -> Path:
        """The folder in which the run is recorded."""
        return self.home / "data"

    @property
    def environ(self) -> dict[str, str]:
        """The variables that differ from those of the person who tests."""
        path = os.pathsep.join([str(self.folder / "tools"), os.environ.get("PATH", os.defpath)])
        return {"PATH": path, HOME: str(self.home)}

    def set_up(self, scenario: Scenario, repositories: Repositories) -> TreeSource:
        """Write the programs and the repository of a scenario; return what the run's worktree is created from."""
        for name, script in scenario.tools.items():
            text = script if script.startswith("#!") else f"#!/bin/sh\n{script}\n"
            put(self.folder / "tools" / name, FileForm(text=text, executable=True))
        self.repository.mkdir(parents=True)
        for name, form in scenario.files.items():
            put(self.repository / name, form)
        commit = repositories.create(self.repository, BRANCH)
        return TreeSource(repository=str(self.repository), base=BRANCH, commit=commit, branch="work/{run}")

    def clear(self) -> None:
        """Remove the whole environment."""
        shutil.rmtree(self.folder, ignore_errors=True)


class ScenarioEngine(Protocol):
    """A log with what drives its runs."""

    @property
    def log(self) -> Log:
        """The log."""
        ...

    @property
    def machine(self) -> Machine:
        """The machine."""
        ...

    @property
    def writer(self) -> RunWriter:
        """The writer to the runs of the log."""
        ...

    def supervisor(self, name: str) -> Supervisor:
        """Create a supervisor for the runs of the log."""
        ...


OpenEngine = Callable[[ScenarioEnvironment], ScenarioEngine]
"""Opens the engine of a environment."""


def make_environment(workflows: Workflows, instead: Instead) -> ScenarioEnvironment:
    """Create an empty environment."""
    return ScenarioEnvironment(Path(mkdtemp(prefix="handrail-test-")).resolve(), workflows, instead)


def put(path: Path, form: FileForm) -> None:
    """Write a file as a scenario describes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if "link" in form:
        path.symlink_to(form["link"])
        return
    path.write_bytes(b64decode(form["base64"]) if "base64" in form else form.get("text", "").encode())
    if form.get("executable"):
        path.chmod(0o755)
