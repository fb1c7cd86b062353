"""How much durability costs: Handrail beside LangGraph, DBOS and a bare append, in one run, on one disk.

Run with `make bench`, or `python benchmarks/engine.py --quick`. Every engine syncs each step to the disk. The peers
live in virtual environments of their own, made here once. Rounds are interleaved, so that a disk that is busy for a
while is busy for all; figures are medians.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "engines"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "handrail-benchmarks"
PINNED: dict[str, tuple[str, ...]] = {
    "langgraph": ("langgraph==1.2.20", "langgraph-checkpoint-sqlite==3.1.2"),
    "dbos": ("dbos==3.3.0",),
}
NAMES = {"bare": "bare append", "handrail": "Handrail", "langgraph": "LangGraph SqliteSaver", "dbos": "DBOS on SQLite"}
PROGRAMS = {each: HERE / (f"{each}.py" if each == "bare" else f"{each}_engine.py") for each in NAMES}
LONGEST = 300.0
MEASURABLE = 0.25
"""Percent of a processor: what the same process differs by from one measurement to the next."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    steps: tuple[tuple[int, int], ...] = ((50, 3), (1_000, 3), (10_000, 1))
    """Steps in a run, and rounds."""
    children: int = 100
    events: int = 100_000
    waiting: int = 1_000


QUICK = Sizes(((50, 2), (500, 2), (2_000, 1)), 20, 10_000, 100)


@dataclass(slots=True)
class Engine:
    """One engine, and what was measured of it."""

    name: str
    python: str
    per_step: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    """Milliseconds of each step, by the length of the run."""
    flat: float = 0.0
    """How much slower the last hundred steps of the longest run are than its first."""
    other: dict[str, Any] = field(default_factory=dict[str, Any])

    def run(self, scenario: str, count: int) -> dict[str, Any]:
        """Run a scenario in a process and a folder of its own."""
        with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
            argv = self.argv(scenario, folder, count)
            done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            raise SystemExit(f"{self.name} {scenario}: {done.stderr[-2000:]}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def argv(self, scenario: str, folder: str, count: int) -> list[str]:
        """Give the command of a scenario."""
        return [self.python, str(PROGRAMS[self.name]), scenario, folder, str(count)]

    def step(self, count: int) -> float:
        """Median milliseconds of a step in a run of this length."""
        return statistics.median(self.per_step[count])


def engines() -> list[Engine]:
    """Give the engines that can be measured here."""
    found = [Engine("bare", sys.executable), Engine("handrail", sys.executable)]
    for name, packages in PINNED.items():
        try:
            found.append(Engine(name, _environment(name, packages)))
        except subprocess.CalledProcessError as error:
            print(f"{NAMES[name]} cannot be installed here and is left out: {str(error.stderr)[-300:]}")
    return found


def _environment(name: str, packages: Sequence[str]) -> str:
    folder = CACHE / "_".join([name, *(each.partition("==")[2] for each in packages)])
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        print(f"making a virtual environment for {', '.join(packages)} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, capture_output=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        subprocess.run(install, check=True, capture_output=True, text=True)
        ready.touch()
    return str(python)


def measure_steps(found: list[Engine], sizes: Sizes) -> None:
    """Measure no-op steps, one engine after the other in each round."""
    for count, rounds in sizes.steps:
        for _ in range(rounds):
            for engine in found:
                times: list[float] = engine.run("steps", count)["times"]
                each = [(after - before) * 1000 for before, after in pairwise(times)]
                engine.per_step.setdefault(count, []).extend(each)
                engine.flat = statistics.median(each[-100:]) / statistics.median(each[10:100])


def measure_rest(found: list[Engine], sizes: Sizes) -> None:
    """Measure children, waiting and recovery."""
    for engine in found:
        if engine.name == "bare":
            continue
        children = [engine.run("fan_out", sizes.children)["seconds"] for _ in range(2)]
        waits = engine.run("waiting", sizes.waiting)
        waits["wake"] = statistics.median(waits["wakes"])
        engine.other = {"fan_out": min(children), **waits, **recovery(engine)}
        if engine.name == "handrail":
            engine.other["resume"] = engine.run("resume", sizes.events)["seconds"]


def recovery(engine: Engine) -> dict[str, Any]:
    """Kill a run in the middle; give the seconds from starting again to the next step, and steps done twice."""
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
        argv = engine.argv("work", folder, 400)
        said = _said_until(argv, "s200")
        began = time.perf_counter()
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as again:
            assert again.stdout is not None
            first = again.stdout.readline().strip()
            took = time.perf_counter() - began
            rest = [first, *(line.strip() for line in again.stdout)]
    numbers = [int(line[1:]) for line in (*said, *rest) if line.startswith("s")]
    return {"recovery": took, "twice": len(numbers) - len(set(numbers)), "missing": 400 - len(set(numbers))}


def _said_until(argv: list[str], word: str) -> list[str]:
    said: list[str] = []
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            if line.strip() == word:
                process.kill()
    return said


def print_steps(found: list[Engine], sizes: Sizes) -> None:
    """Print what a step costs."""
    counts = [count for count, _ in sizes.steps]
    best = best_peer(found, counts[1])
    print("\nms per no-op step, median; the mean has the checkpoints in it")
    print(
        f"{'':24}"
        + "".join(f"{f'{count:,} steps':>14}" for count in counts)
        + "     mean   x bare   x best peer   flat"
    )
    for engine in found:
        cells = "".join(f"{engine.step(count):14.3f}" for count in counts)
        beside = f"{engine.step(counts[1]) / best:14.2f}" if best else f"{'-':>14}"
        mean = statistics.mean(engine.per_step[counts[-1]])
        bare = of_bare(found, engine, counts[1])
        print(f"{NAMES[engine.name]:24}{cells}{mean:9.3f}{bare:9.2f}{beside}{engine.flat:7.2f}")


def of_bare(found: list[Engine], engine: Engine, count: int) -> float:
    """How many bare appends a step costs."""
    return engine.step(count) / found[0].step(count)


def best_peer(found: list[Engine], count: int) -> float | None:
    """Give the milliseconds per step of the fastest peer that was measured."""
    return min((each.step(count) for each in found if each.name in PINNED), default=None)


def print_rest(found: list[Engine], sizes: Sizes) -> None:
    """Print everything else."""
    titles = (
        f"{sizes.children} children s",
        "KB per waiting run",
        "idle CPU %",
        "awake ms",
        "recovery s",
        "done twice",
    )
    print(f"\n{'':24}" + "".join(f"{title:>20}" for title in titles))
    for engine in found:
        if not engine.other:
            continue
        of = engine.other
        values = (of["fan_out"], of["memory"] / 1024, of["idle"] * 100, of["wake"] * 1000, of["recovery"], of["twice"])
        print(f"{NAMES[engine.name]:24}" + "".join(f"{value:20.2f}" for value in values))
        if of["missing"]:
            print(f"  {of['missing']} steps were never done after the kill")


def print_aims(found: list[Engine], sizes: Sizes) -> None:
    """Print each aim with what was reached."""
    ours, count = found[1], sizes.steps[1][0]
    best, of = best_peer(found, count), ours.other
    aims = [
        ("at most 1/3 of the best peer per step", ours.step(count) / best if best else 0.0, 1 / 3, "x"),
        ("within 3 bare appends", of_bare(found, ours, count), 3.0, "x"),
        ("flat from the first steps to the last", ours.flat, 1.2, "x"),
        (f"resume of {sizes.events:,} events", of["resume"], 0.5, "s"),
        ("memory per waiting run", of["memory"] / 1024, 20.0, "KB"),
        ("CPU that waits for all of them, beyond that for none", (of["idle"] - of["alone"]) * 100, MEASURABLE, "%"),
        ("awake", of["wake"] * 1000, 50.0, "ms"),
    ]
    print()
    for text, value, limit, unit in aims:
        print(f"{'reached' if value <= limit else 'MISSED ':8} {text}: {value:.2f} {unit} (aim {limit:.2f})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, about half a minute")
    sizes = QUICK if parser.parse_args().quick else Sizes()
    found, began = engines(), time.perf_counter()
    measure_steps(found, sizes)
    measure_rest(found, sizes)
    print_steps(found, sizes)
    print_rest(found, sizes)
    print_aims(found, sizes)
    print(f"\n{time.perf_counter() - began:.0f} s on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
