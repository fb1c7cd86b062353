"""What lists of runs and long runs take: CPU of Handrail's commands beyond what they take where nothing was recorded.

Run with `python benchmarks/lists.py`, or `--quick`. Each command is a process of its own; its CPU (user and system) is
read when it has ended, rounds are interleaved, and figures are medians in milliseconds.

1. 5,000 runs that were given 2 KB each, beside an empty database with one run: `status`, `inbox`,
   `show @last`, a new run; and the documents of all of them.
2. A run of 2,000 steps, beside one of a single step: `show`, `why`, `logs --tail 20`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import encode_state
from handrail.engine.state.given import take_out
from handrail.model.history.events import Event, RunEnded, RunStarted, StepBegan, StepEnded
from handrail.model.history.run_state import REDUCER
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import Append, Checkpoint, Log
from handrail.runtime.event_records import encode_event
from handrail.runtime.run_summary import summary_of
from handrail.store.sqlite.log import open_log

RUNS, STEPS = 5_000, 2_000
LIST_AIM, LONG_AIM = 60.0, 100.0
EVERY_AIM = 1.0
"""Milliseconds for each run, where the documents of all are wanted."""
ROUNDS, QUICK = 3, 1
CHECKPOINT = 100
"""Events after which a state is kept."""
PLAN = b'{"name":"work","steps":[]}'
HANDRAIL = str(Path(sys.executable).parent / "handrail")
WORKFLOW = "name: small\nsteps:\n  - {name: one, command: 'true'}\n"


@dataclass(slots=True)
class Command:
    """A command in a large home and in a small one, and the CPU that it took in each."""

    text: str
    words: Sequence[str]
    aim: float
    large: list[float] = field(default_factory=list[float])
    small: list[float] = field(default_factory=list[float])

    def once(self, folder: Path, large: str, small: str) -> None:
        """Run it in both."""
        self.large.append(_cpu(folder, large, self.words))
        self.small.append(_cpu(folder, small, self.words))

    def line(self) -> str:
        """Say how it went."""
        more = statistics.median(self.large) - statistics.median(self.small)
        figures = f"{statistics.median(self.small):10.1f}{statistics.median(self.large):10.1f}{more:8.1f}"
        return f"{'reached' if more <= self.aim else 'MISSED ':8} {self.text:48}{figures}  (aim {self.aim:.0f})"


def _cpu(folder: Path, home: str, words: Sequence[str]) -> float:
    environ = {"PATH": os.environ["PATH"], "HANDRAIL_HOME": str(folder / home), "HOME": str(folder)}
    with subprocess.Popen(
        [HANDRAIL, *words], cwd=folder / "work", env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"handrail {' '.join(words)} exited with {process.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000


def fill_list(home: Path, runs: int) -> None:
    """Record runs, all but a few of which have ended."""
    log = open_log(home / "data")
    plan = log.put_blob(PLAN)
    appends: list[Append] = []
    for number in range(1, runs + 1):
        text = f"issue {number}: {'a sentence of it. ' * 114}"
        started = _started(f"work-{number}", plan, float(number), {"text": text})
        ended = [RunEnded(status="succeeded", at=number + 1.0)] if number % 500 else []
        appends.append(_append(log, [started, *ended]))
    # All at once: each commit on its own would take longer than everything that is measured.
    log.append(appends, [])
    log.close()


def fill_long(home: Path, steps: int) -> None:
    """Record one run of many steps, with a checkpoint at its end as a driver takes it."""
    log = open_log(home / "data")
    events: list[Event] = [_started("long-1", log.put_blob(PLAN), 1.0, {})]
    for number in range(steps):
        began = len(events) + 1
        address, at = f"step-{number}", float(began)
        events.append(StepBegan(address=address, action="script", attempt=1, spec={}, at=at))
        events.append(StepEnded(address=address, began=began, status="succeeded", output="fine", at=at))
    log.append([_append(log, [*events, RunEnded(status="succeeded", at=9e5)])], [])
    log.close()


def _started(run: str, plan: str, at: float, inputs: dict[str, JsonValue]) -> RunStarted:
    workflow = run.rpartition("-")[0]
    return RunStarted(run=run, workflow=workflow, definition="", plan=plan, inputs=inputs, workspace="", at=at)


def _append(log: Log, events: list[Event]) -> Append:
    state = apply(None, events[0], 1, log.get_blob)
    for event in events[1:]:
        state = apply(state, event, state.seq + 1, log.get_blob)
    kept = Checkpoint(state.run, state.seq, REDUCER, encode_state(state)) if len(events) > CHECKPOINT else None
    first, blobs = take_out(cast("RunStarted", events[0]))
    recorded = tuple(map(encode_event, (first, *events[1:])))
    return Append(state.run, 0, recorded, checkpoint=kept, summary=summary_of(state), blobs=blobs)


def measure(rounds: int) -> list[str]:
    """Measure everything, and give a line for each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        for home, count in (("many", RUNS), ("few", 1)):
            fill_list(folder / home, count)
            (folder / home / "workflows" / "small").mkdir(parents=True)
            (folder / home / "workflows" / "small" / "workflow.yaml").write_text(WORKFLOW)
        for home, count in (("long", STEPS), ("short", 1)):
            fill_long(folder / home, count)
        lists = [
            Command(f"status, {RUNS} runs", ("status",), LIST_AIM),
            Command(f"status --json -n 20, {RUNS} runs", ("status", "--json", "-n", "20"), LIST_AIM),
            Command(f"status --json, documents of {RUNS} runs", ("status", "--json"), EVERY_AIM * RUNS),
            Command(f"inbox, {RUNS} runs", ("inbox",), LIST_AIM),
            Command(f"show @last, {RUNS} runs", ("show", "@last"), LIST_AIM),
            Command(f"run, {RUNS} runs", ("run", "small", "--in", "."), LIST_AIM),
        ]
        long = [
            Command(f"show, {STEPS} steps", ("show", "long-1"), LONG_AIM),
            Command(f"why, {STEPS} steps", ("why", "long-1"), LONG_AIM),
            Command(f"logs --tail 20, {STEPS} steps", ("logs", "long-1", "--tail", "20"), LONG_AIM),
        ]
        for _ in range(rounds):
            for each in lists:
                each.once(folder, "many", "few")
            for each in long:
                each.once(folder, "long", "short")
        return [each.line() for each in (*lists, *long)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} rounds instead of {ROUNDS}")
    rounds = QUICK if parser.parse_args().quick else ROUNDS
    print(f"{'':9}{'medians of CPU in ms':48}{'small':>10}{'large':>10}{'more':>8}")
    for line in measure(rounds):
        print(line)


if __name__ == "__main__":
    main()
