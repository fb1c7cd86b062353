"""A user's folders with runs in them and, at times, a background driver."""

import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handrail.model.history.run_state import RunState
from handrail.operations.driving.background_driver import find_background_driver
from handrail.operations.driving.handover import Handover, HandoverResult, keep_going
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Log
from handrail.processes.environment import build_run_environment
from handrail.processes.local_programs import LocalPrograms
from handrail.runtime.history import state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.run_writer import RunWriter
from handrail.sources.folders import Folders, user_folders
from handrail.store.sqlite.log import open_log
from handrail.wiring.driver_channel import driver_environments
from handrail.wiring.system import make_writer
from support.compiler.native_case import compile_text, shown

PATIENCE = 60.0


def eventually(what: Callable[[], bool]) -> None:
    """Wait until something holds, within bounds."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Home:
    """A database, a folder to work in, and whoever drives in the background."""

    folders: Folders
    log: Log
    shop: Path

    @property
    def writer(self) -> RunWriter:
        return make_writer(self.log)

    def start(self, steps: str, **workflows: str) -> str:
        """Start a run of native steps."""
        text = f"name: case\nsteps:\n{steps}"
        compiled, _, _ = compile_text(text, workflows=workflows)
        assert compiled.plan is not None, shown(compiled.diagnostics)
        assert compiled.hash is not None
        return runs.start(self.writer, runs.Request(PinnedWorkflow(compiled.plan, compiled.hash), str(self.shop)))

    def state(self, run: str) -> RunState:
        """Give the state of a run as the log has it."""
        return state_of(self.log, run)

    def reaches(self, run: str, status: str) -> RunState:
        """Wait until a run has a status."""
        eventually(lambda: self.state(run).status == status)
        return self.state(run)

    def keep_going(self, run: str) -> HandoverResult:
        """Leave a run to whoever drives it, else to the background driver, in the environment of this process."""
        held = driver_environments(self.folders.data)
        over = Handover(self.folders, LocalPrograms(), self.log, held, lambda _: build_run_environment(os.environ, ()))
        return keep_going(over, run)

    def shows(self, name: str) -> None:
        """Wait until a file of the folder is there."""
        eventually((self.shop / name).exists)

    def driver(self) -> int:
        """Give the process of the background driver."""
        running = find_background_driver(self.folders)
        assert running is not None
        return running.pid

    def end_driver(self, number: int = signal.SIGTERM) -> None:
        """End the background driver, and wait until its lock is free."""
        running = find_background_driver(self.folders)
        if running is not None:
            os.kill(running.pid, number)
            eventually(lambda: find_background_driver(self.folders) is None)


@contextmanager
def home_in(root: Path) -> Generator[Home]:
    """Make the folders that the environment names, and a repository; end what is driven in the background."""
    folders = user_folders(os.environ)
    shop = root / "shop"
    (shop / ".handrail").mkdir(parents=True)
    made = Home(folders, open_log(folders.data), shop)
    try:
        yield made
    finally:
        made.end_driver()
        made.log.close()
