"""What a step costs that a user runs: scripts, fan-outs and agents through the command line, beside bare processes.

Run with `python benchmarks/steps.py`, or `--quick`. A bare step is one `posix_spawn` of `sh -c true` and one durable
commit to SQLite; a bare item of a fan-out is `git worktree add` and `git worktree remove`; a bare agent is the scripted
agent's own process. Runs and bare work take turns, so that a machine that is busy for a while is busy for both.
Figures are medians, each step from when it began until the next one did. Beside them stands the time that the process
of the run had a processor, which tells more where the machine has other work to do.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any, cast

import apsw

from handrail.agents.registry import KnownAgents
from handrail.model.history.events import Event, ItemEnded, ItemStarted, StepBegan
from handrail.ports.agents import AgentCall
from handrail.runtime.event_records import decode_event
from handrail.store.sqlite.log import open_log

HANDRAIL = str(Path(sys.executable).parent / "handrail")
FILES_IN_FOLDER = 50
WARM = 10
"""Steps at the beginning of a run that do not count: it loads what it needs."""
IDENTITY = {f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ROW = b'{"address":"s1","began":2,"details":{},"exit_code":0,"kind":"step_ended","output":"","status":"succeeded"}' * 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int = 3
    steps: int = 200
    long: int = 3_000
    agents: int = 60
    items: int = 100
    many_items: int = 500
    bare: int = 100


QUICK = Sizes(rounds=2, steps=110, long=1_000, agents=20, items=20, many_items=60, bare=50)


@dataclass(slots=True)
class Times:
    """Milliseconds of each step, and those of the processor that their process had per step."""

    each: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.each)

    def line(self, text: str) -> str:
        """Say how long it took."""
        processor = f"{statistics.median(self.cpu):12.2f}" if self.cpu else ""
        return f"{text:62}{self.median:10.2f}{processor}"


@dataclass(slots=True)
class Place:
    """A folder to run workflows in, with a home and a database of its own."""

    folder: Path
    files: int | None = None
    """Files of the repository; None for a plain folder."""
    _numbers: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True)
        if self.files is None:
            return
        for number in range(self.files):
            path = self.root / f"d{number // FILES_IN_FOLDER}" / f"file{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"line {number}\n" * 20)
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
            self.git(*words)

    @property
    def root(self) -> Path:
        """Where the work is done."""
        return self.folder / "shop"

    @property
    def environment(self) -> dict[str, str]:
        """What everything here is started with."""
        own = {"HOME": str(self.folder), "HANDRAIL_HOME": str(self.folder / "home"), "LC_ALL": "C.UTF-8"}
        return {"PATH": os.environ["PATH"], **own, **IDENTITY}

    def git(self, *words: str) -> None:
        """Run bare git."""
        subprocess.run(["git", *words], cwd=self.root, env=self.environment, check=True, capture_output=True)

    def run(self, workflow: Sequence[str], *words: str) -> tuple[list[Event], float]:
        """Run a workflow; give what is recorded of it, and the seconds that its process had a processor."""
        path = self.folder / "flows" / f"flow{next(self._numbers)}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join((f"name: {path.stem}", "description: a benchmark", *workflow)))
        here = ("--in", ".") if self.files is None else ()
        said = b""
        for more in (("trust", str(path), "--yes"), ("run", str(path), "--json", *here, *words)):
            with subprocess.Popen(
                [HANDRAIL, *more], cwd=self.root, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                assert process.stdout is not None
                assert process.stderr is not None
                said, complaint = process.stdout.read(), process.stderr.read()
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"handrail {' '.join(more)}: {complaint.decode()[-2000:]}{said.decode()[-2000:]}")
        return self._events(json.loads(said)["run"]), used.ru_utime + used.ru_stime

    def _events(self, run: str) -> list[Event]:
        log = open_log(self.folder / "home" / "data")
        try:
            return [decode_event(each) for each in log.read(run)]
        finally:
            log.close()


@dataclass(slots=True)
class Bare:
    """What a step and an item cost by hand."""

    folder: Path
    steps: Times = field(default_factory=Times)
    items: Times = field(default_factory=Times)

    def step(self, times: int) -> None:
        """Start a process and commit a row, so many times."""
        path = str(self.folder / "bare.db")
        connection = apsw.Connection(path)
        execute = cast("Any", connection).execute
        for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"):
            execute(line).fetchall()
        execute("CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, data BLOB)")
        argv = ["/bin/sh", "-c", "true"]

        def one() -> None:
            os.waitpid(os.posix_spawn(argv[0], argv, os.environ), 0)
            execute("INSERT INTO events (data) VALUES (?)", (ROW,))

        self.steps.each += [_took(one) for _ in range(times)]
        connection.close()

    def item(self, place: Place, times: int) -> None:
        """Add and remove a worktree, so many times."""

        def one() -> None:
            place.git("worktree", "add", "-q", "-b", f"bare-{time.time_ns()}", str(place.folder / "bare-tree"))
            place.git("worktree", "remove", str(place.folder / "bare-tree"))

        self.items.each += [_took(one) for _ in range(times)]


def _took(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def measure_steps(place: Place, bare: Bare, steps: int, sizes: Sizes) -> Times:
    """Measure script steps of a plan, with bare steps before and after each run."""
    found = Times()
    lines = ["steps:", *(f"  - {{name: s{number}, command: 'true'}}" for number in range(steps))]
    for _ in range(1 if steps == sizes.long else sizes.rounds):
        bare.step(sizes.bare)
        _note_steps(found, place, lines)
        bare.step(sizes.bare)
    return found


def measure_agents(place: Place, sizes: Sizes) -> tuple[Times, Times]:
    """Measure steps of the scripted agent, and its own process alone."""
    found, alone = Times(), Times()
    script = place.folder / "script.yaml"
    script.write_text("default: {say: Done., repeat: true}\n")
    steps = (f"  - {{name: s{number}, agent: scripted, prompt: Go on.}}" for number in range(sizes.agents))
    lines = ["steps:", *steps]
    for _ in range(sizes.rounds):
        alone.each += [_agent_alone(place, script) for _ in range(sizes.agents // 2)]
        _note_steps(found, place, lines, "--script", str(script))
        alone.each += [_agent_alone(place, script) for _ in range(sizes.agents // 2)]
    return found, alone


def _agent_alone(place: Place, script: Path) -> float:
    call = AgentCall(run="r", address="s", turn=1, prompt="Go on.", workspace=str(place.root), access="full")
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        options = {"script": str(script)}
        launch = KnownAgents().find("scripted").launch(replace(call, options=options), folder)
        environment = {**place.environment, **dict(launch.env)}
        return _took(
            lambda: subprocess.run(
                launch.argv, cwd=place.root, env=environment, input=launch.stdin, check=True, capture_output=True
            )
        )


def _note_steps(found: Times, place: Place, lines: Sequence[str], *words: str) -> None:
    events, used = place.run(lines, *words)
    began = [each.at for each in events if isinstance(each, StepBegan)]
    found.each += [(after - before) * 1000 for before, after in pairwise(began[WARM:])]
    found.cpu.append(used * 1000 / len(began))


def measure_items(place: Place, bare: Bare, items: int, sizes: Sizes) -> Times:
    """Measure a fan-out per item, from its first start to its last end, with bare worktrees before and after."""
    found = Times()
    numbers = json.dumps([str(number) for number in range(items)])
    body = "    steps: [{name: work, command: 'true'}]"
    lines = ["steps:", "  - name: each", "    type: parallel-agents", f"    for_each: {numbers}", "    key: item", body]
    for _ in range(1 if items == sizes.many_items else sizes.rounds):
        bare.item(place, 20)
        events, used = place.run(lines)
        began = next(each.at for each in events if isinstance(each, ItemStarted))
        ended = max(each.at for each in events if isinstance(each, ItemEnded))
        found.each.append((ended - began) * 1000 / items)
        found.cpu.append(used * 1000 / items)
        bare.item(place, 20)
    return found


def print_aim(text: str, value: float, aim: float, unit: str = "x") -> None:
    """Print an aim with what was reached."""
    print(f"{'reached' if value <= aim else 'MISSED ':8} {text}: {value:.2f} {unit} (aim {aim:.2f})", flush=True)


def measure_scripts(folder: Path, sizes: Sizes) -> None:
    """Measure script steps inside git and outside."""
    bare = Bare(folder)
    for name, files in (("in a repository of 1,000 files", 1_000), ("outside git", None)):
        place = Place(folder / f"scripts-{files}", files)
        short, long = (measure_steps(place, bare, steps, sizes) for steps in (sizes.steps, sizes.long))
        print(bare.steps.line("a bare process and one commit"))
        print(short.line(f"a script step {name}, plan of {sizes.steps}"))
        print(long.line(f"the same, plan of {sizes.long:,}"))
        print_aim(f"a script step {name}", short.median / bare.steps.median, 6.0)
        print_aim(f"plan of {sizes.long:,} beside one of {sizes.steps}", long.median / short.median, 1.2)


def measure_fan_outs(folder: Path, sizes: Sizes) -> None:
    """Measure fan-outs."""
    bare, place = Bare(folder), Place(folder / "items", 500)
    few, many = (measure_items(place, bare, items, sizes) for items in (sizes.items, sizes.many_items))
    print(bare.items.line("a bare worktree, added and removed, 500 files"))
    print(few.line(f"an item of a fan-out of {sizes.items}"))
    print(many.line(f"an item of a fan-out of {sizes.many_items}"))
    print_aim(f"an item of {sizes.items}", few.median / bare.items.median, 2.5)
    print_aim(f"{sizes.many_items} items beside {sizes.items}", many.median / few.median, 1.2)


def measure_agent_steps(folder: Path, sizes: Sizes) -> None:
    """Measure agent steps."""
    found, alone = measure_agents(Place(folder / "agents", 1_000), sizes)
    print(alone.line("the scripted agent alone"))
    print(found.line("an agent step, scripted agent"))
    print_aim("our own time of an agent step", found.median - alone.median, 10.0, "ms")


PARTS = {"scripts": measure_scripts, "items": measure_fan_outs, "agents": measure_agent_steps}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about a minute")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    asked = parser.parse_args()
    sizes, began = QUICK if asked.quick else Sizes(), time.perf_counter()
    print(f"{'ms, medians':62}{'time':>10}{'processor':>12}")
    for name, part in PARTS.items():
        if asked.only in (None, name):
            with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
                part(Path(folder), sizes)
    print(f"\n{time.perf_counter() - began:.0f} s on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
