"""Runs a workflow in a real repository, in processes that kill themselves at each point once, until it is done.

Run as a script: `tree_crashing.py WORKFLOW FOLDER BATCH BATCHES`. Beside the points of `crashing.py` there is one
before, while and after each git command that changes something, and one at which a command or an agent dies together
with its driver. The first point of each kind belongs to every batch.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from handrail.agents.registry import KnownAgents
from handrail.model.history.events import RunRewound
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import TreeSource
from handrail.operations.runs import lifecycle as runs
from handrail.ports.log import Log
from handrail.ports.processes import Ended, Gone, ProcessSpec, Running, TimedOut
from handrail.processes.local import LocalProcesses
from handrail.processes.process_folder import read_record
from handrail.runtime.driver import Handlers
from handrail.runtime.event_records import HeldBlobs
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.handlers.items import ItemHandler
from handrail.runtime.handlers.proofs.handler import ProofHandler
from handrail.runtime.handlers.steps import StepHandler
from handrail.runtime.handlers.trackers.create_issues import IssueCreator
from handrail.runtime.handlers.trackers.handler import TrackerHandler
from handrail.runtime.handlers.trackers.pull_request import PullRequestOpener
from handrail.runtime.handlers.trees import TreeHandler
from handrail.runtime.history import events_of, state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.wiring.system import ENVIRONMENTS, FLOWS, ShellCommands, make_writer
from handrail.workspace.git.command import Git, GitProcess, GitResult
from handrail.workspace.git_workspaces import GitWorkspaces
from support.runtime.dying import CrashingProcesses, Points, labelled_log, lives, run_of
from support.runtime.room import library, pinned
from support.runtime.tree_workflows import CASES, FILES, TWENTY, Case

LONG = 100.0
OVER = ("succeeded", "failed", "cancelled", "blocked")
CHANGING = frozenset(
    {"worktree", "update-ref", "commit-tree", "symbolic-ref", "read-tree", "update-index", "write-tree", "mktree"}
    | {"hash-object", "config", "merge-tree"}
)
READING = (("symbolic-ref", "-q"), ("config", "--get"), ("config", "-z"))
_NAMES = re.compile(r"[0-9a-f]{7,64}|/\S*/")


class KindPoints(Points):
    """Points of which the first of each kind belongs to every batch."""

    def __init__(self, folder: Path, batch: int, batches: int) -> None:
        super().__init__(folder, batch, batches)
        self._kinds = {_kind(point) for point in self._seen}

    def chosen(self, point: str) -> bool:
        return _kind(point) not in self._kinds or super().chosen(point)


def _kind(point: str) -> str:
    words = point.split(" ")
    return " ".join(words[:2]) if point.startswith("git.") else words[0]


class MortalProcesses(CrashingProcesses):
    """Real processes, which may also die together with the driver."""

    def start(self, spec: ProcessSpec) -> Running:
        started = super().start(spec)
        self._point("start.after", spec.folder)
        return started

    async def wait(self, folder: str, timeout: float | None) -> Ended | Gone | TimedOut:
        self._lose(Path(folder))
        return await super().wait(folder, timeout)

    def _lose(self, folder: Path) -> None:
        # A command is lost once, whatever the number of its start: after five times a person has to look.
        point = f"lost {'/'.join(folder.parts[-3:-1])}/{folder.stem}"
        if self._points.fatal(point):
            record = read_record(folder)
            for pid in () if record is None else (record.pid, record.command):
                with suppress(ProcessLookupError):
                    if pid > 1:
                        os.kill(pid, signal.SIGKILL)
            self._points.die(point)


def crash_in_git(points: KindPoints, log: Log, run: str) -> None:
    """Let the driver die before, while and after git changes something."""
    inner, met = Git.run, Counter[str]()

    def where(git: Git) -> str:
        stream = git.where.name if log.last(git.where.name).seq else run
        return f"{git.where.name}:{log.last(stream).seq}"

    def ran(self: Git, *words: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> GitResult:
        if words[0] not in CHANGING or words[:2] in READING:
            return inner(self, *words, stdin=stdin, ok=ok)
        # The n-th of its likes since the run's last event: the next life comes by the same points.
        label = " ".join((words[0], where(self), *(_NAMES.sub("#", word) for word in words[1:4])))
        met[label] += 1
        label = f"{label} {met[label]}"
        points.label = label
        points("git.before")
        if points.fatal(f"git.during {label}"):
            _die_during(points, f"git.during {label}")
        done = inner(self, *words, stdin=stdin, ok=ok)
        points.label = label
        points("git.after")
        return done

    Git.run = ran


def _die_during(points: Points, point: str) -> None:
    """Let the next git command be started, and left alone."""

    def ended(self: GitProcess, ok: tuple[int, ...] = (0,), seconds: float = 0) -> NoReturn:
        del ok, seconds
        if self.process.stdin is not None:
            self.process.stdin.write(self.stdin)
            self.process.stdin.close()
        points.die(point)

    GitProcess.wait = ended


def supervisor_of(log: Log, data: Path, processes: LocalProcesses) -> Supervisor:
    """Wire everything up as for a user, with these processes."""
    folder, starts = data / "runs", CommandStarter(processes, ShellCommands(), ENVIRONMENTS)
    workspaces = GitWorkspaces(data)
    trees = TreeHandler(workspaces, starts, folder, time.time)
    commands = CommandHandler(starts, folder, time.time, trees.restore)
    agents = AgentHandler(starts, KnownAgents(), HeldBlobs(log), folder, time.time, trees.restore)
    proofs = ProofHandler(starts, folder)
    opener = PullRequestOpener(log, workspaces, ENVIRONMENTS, MemoryTrackers(), time.time)
    steps = StepHandler(
        *(commands, agents, trees, proofs, lambda: ItemHandler(log, ENVIRONMENTS, workspaces, time.time)),
        make_trackers=lambda: TrackerHandler(
            opener, IssueCreator(log, workspaces, ENVIRONMENTS, opener.catalog, lambda _: "")
        ),
    )
    children = ChildHandler(log, ENVIRONMENTS, library({}), time.time)
    return Supervisor(log, Handlers(ENVIRONMENTS, commands, children, FLOWS, steps), time.time, "crashing")


def make_repository(folder: Path) -> Path:
    """Make the user's repository, with one commit in it."""
    repo = folder / "repo"
    for name, text in FILES.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text, "utf-8")
    told = ("init -q -b main", "config user.name me", "config user.email me@example.org", "add -A", "commit -qm start")
    for words in told:
        subprocess.run(["git", *words.split()], cwd=repo, check=True)
    return repo


def begin(log: Log, folder: Path, case: Case) -> str:
    """Start the run of a case."""
    repo = folder / "repo"
    words = ["git", "rev-parse", "HEAD"]
    head = subprocess.run(words, cwd=repo, capture_output=True, text=True, check=True).stdout.strip()
    source = TreeSource(repository=str(repo), base="main", commit=head, branch="work/{run}", setup=case.setup)
    inputs: dict[str, Any] = {"outside": str(folder / "outside")}
    made, script = pinned(case.text), case.script.encode()
    return runs.start(make_writer(log), runs.Request(made, "", inputs, source=source, agent="scripted", script=script))


async def go_on(log: Log, run: str, folder: Path, case: Case, supervisor: Supervisor) -> None:
    """Drive until nothing moves; a person goes back once, while the step runs that waits for that."""
    driving = asyncio.ensure_future(supervisor.run_until_idle())
    while not driving.done():
        if case.held:
            go_back(log, state_of(log, run), folder, case)
        await asyncio.wait({driving}, timeout=0.01)
    await driving


def go_back(log: Log, state: RunState, folder: Path, case: Case) -> None:
    """Send the run back when it stands where it is to be sent back from."""
    if any(isinstance(event, RunRewound) for _, event in events_of(log, state.run)):
        (folder / "outside" / "rewound").touch()
    elif (folder / "outside" / "held").exists() and not log.inbox(state.run):
        runs.rewind(make_writer(log), state.run, case.back_to, "me")


def live(workflow: str, folder: Path, batch: int, batches: int) -> None:
    """One life: find out where things stand, and go on until the run is over."""
    run, case, points = run_of(workflow), {**CASES, "twenty": TWENTY}[workflow], KindPoints(folder, batch, batches)
    log = labelled_log(folder, points)
    crash_in_git(points, log, run)
    if not log.last(run).seq:
        begin(log, folder, case)
    supervisor = supervisor_of(log, folder / "data", MortalProcesses(points))
    end = time.monotonic() + LONG
    while (state := state_of(log, run)).status not in OVER:
        assert time.monotonic() < end, f"{state.status} {state.reason}"
        asyncio.run(go_on(log, run, folder, case, supervisor))
        time.sleep(0.002)
    log.close()


if __name__ == "__main__":
    name, room = sys.argv[1], Path(sys.argv[2])
    if not (room / "repo").exists():
        make_repository(room)
        (room / "outside").mkdir()
    sys.stdout.write(str(lives(live, name, room, int(sys.argv[3]), int(sys.argv[4]))))
