"""Drives runs that exclude each other in processes that kill themselves at each point once, until all are done.

Run as a script: `queue_crashing.py WORKFLOW FOLDER BATCH BATCHES`. The points are those of `dying.py`: each commit,
start of a command and each wait, and each lease that is taken or given back, those of the gate, places and keys too.
"""

import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from handrail.model.history.events import Admission
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.driver import Handlers
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.history import state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.wiring.system import ENVIRONMENTS, FLOWS, ShellCommands, make_writer
from support.runtime.dying import CrashingProcesses, Points, labelled_log, lives
from support.runtime.room import library, pinned

RUNS = 3
TEXT = """
name: keyed
concurrency: {key: one}
steps:
  - {name: work, command: 'echo ${run.id} in >> trace; echo ${run.id} out >> trace'}
"""


def live(workflow: str, folder: Path, batch: int, batches: int) -> None:
    """One life: start what is missing, and go on until all runs are over."""
    points = Points(folder, batch, batches)
    log = labelled_log(folder, points)
    (folder / "work").mkdir(exist_ok=True)
    made = [f"{workflow}-{number}" for number in range(1, RUNS + 1)]
    limit = Admission("here", places=(("", 1),))
    for run in made:
        if not log.last(run).seq:
            runs.start(make_writer(log), runs.Request(pinned(TEXT), str(folder / "work"), admission=limit))
    starts = CommandStarter(CrashingProcesses(points), ShellCommands(), ENVIRONMENTS)
    commands = CommandHandler(starts, folder / "data" / "runs", time.time)
    children = ChildHandler(log, ENVIRONMENTS, library({}), time.time)
    supervisor = Supervisor(log, Handlers(ENVIRONMENTS, commands, children, FLOWS), time.time, "crashing")
    end = time.monotonic() + 120
    while any(state_of(log, run).status != "succeeded" for run in made):
        assert time.monotonic() < end, [(state_of(log, run).status, state_of(log, run).message) for run in made]
        asyncio.run(supervisor.run_until_idle())
    log.close()


if __name__ == "__main__":
    sys.stdout.write(str(lives(live, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
