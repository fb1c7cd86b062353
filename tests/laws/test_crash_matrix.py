"""Whatever moment the driving process is killed at: after a resume the run ends as if nothing had happened.

The points are found by the runs themselves: before and after every commit of the log, before every start of a
command, while it runs, and after it has ended; the same for each word with a flow. `crashing.py` lives and dies;
here is compared. A plain test run dies at a spread of the points; with HANDRAIL_SOAK=1 every one is fatal once.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handrail.ports.log import Log
from handrail.runtime.history import events_of, state_of
from handrail.store.sqlite.log import open_log
from handrail.testing.leaks import lasting_within
from support.runtime import crashing
from support.runtime.room import assert_sound, steps_of

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))

BATCHES = 8
SPREAD = 1 if SOAK else 4
"""One of so many points is fatal in the tests of every point."""
KINDS = {"append.before", "append.after", "start.before", "wait.before", "wait.after"}


@dataclass(frozen=True)
class Ending:
    """All that must be the same however often the driver died."""

    kinds: dict[str, list[str]]
    steps: dict[str, dict[str, Any]]
    names: dict[str, dict[str, Any]]
    message: str
    trace: list[str]


def _ending(log: Log, workflow: str, folder: Path) -> Ending:
    states = {run: state_of(log, run) for run in log.streams()}
    return Ending(
        {run: [f"{event.kind} {getattr(event, 'address', '')}" for _, event in events_of(log, run)] for run in states},
        {run: steps_of(state) for run, state in states.items()},
        {run: dict(state.names.items()) for run, state in states.items()},
        states[crashing.run_of(workflow)].message,
        (folder / "work" / "trace").read_text("utf-8").splitlines(),
    )


def _lived(workflow: str, folder: Path, batch: int, batches: int) -> tuple[int, Ending]:
    """Let processes live and die in a folder, and give how many were killed and what came of it."""
    words = [sys.executable, crashing.__file__, workflow, str(folder), str(batch), str(batches)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    log = open_log(folder / "data")
    try:
        assert_sound(log)
        assert not log.pending_streams()
        assert not (folder / "work" / "pwned").exists()
        return int(done.stdout), _ending(log, workflow, folder)
    finally:
        log.close()


def _uninterrupted(workflow: str, folder: Path) -> Iterator[Ending]:
    killed, ending = _lived(workflow, folder, 0, 0)
    assert killed == 0
    yield ending
    assert lasting_within(folder) == []


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ending]:
    yield from _uninterrupted(crashing.EVERYTHING, tmp_path_factory.mktemp("uninterrupted"))


@pytest.fixture(scope="module")
def flowed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ending]:
    yield from _uninterrupted(crashing.FLOWING, tmp_path_factory.mktemp("flowed"))


def test_the_uninterrupted_run_does_everything_once(uninterrupted: Ending) -> None:
    kinds = {each.split()[0] for each in uninterrupted.kinds[crashing.run_of(crashing.EVERYTHING)]}
    assert kinds == {
        *("run_started", "step_skipped", "step_began", "step_ended", "step_passed_over", "retry_scheduled"),
        *("timer_fired", "loop_entered", "round_started", "round_ended", "loop_ended", "group_entered", "group_left"),
        *("approval_requested", "approval_decided", "child_started", "run_ended"),
    }
    assert uninterrupted.message == "it is hello hi it's $(touch pwned) again"
    assert len(uninterrupted.trace) == 22


def test_the_uninterrupted_flow_calls_everything_once(flowed: Ending) -> None:
    run = crashing.run_of(crashing.FLOWING)
    assert flowed.trace == ["before", "first", "count", "weak", "tick 0", "tick 1", "one", "two", "after"]
    said = "hi it's $(touch pwned)"
    assert flowed.names[run]["flow"] == {"said": said, "weak": 7, "by": "person:me", "checked": True}
    assert flowed.names[run]["done"] == "over"
    names = ("first", "count", "weak", "approve", "tick", "tick#2", "checked")
    assert _requested(flowed, run) == [f"flow/{name}" for name in names]


def _requested(ending: Ending, run: str) -> list[str]:
    """The calls that were recorded, in their order."""
    return [each.split()[1] for each in ending.kinds[run] if each.startswith("call_requested")]


def test_a_driver_that_dies_at_the_points_of_a_run_changes_nothing(
    uninterrupted: Ending, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed, ending = _lived(crashing.EVERYTHING, tmp_path, 0, SPREAD)
    with capsys.disabled():
        sys.stdout.write(f" [{killed} points, each of them fatal once] ")
    assert ending == uninterrupted
    assert killed >= 100 // SPREAD
    _assert_points(tmp_path, killed, ending)


def test_a_driver_that_dies_at_the_points_of_a_flow_changes_nothing(
    flowed: Ending, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed, ending = _lived(crashing.FLOWING, tmp_path, 0, SPREAD)
    with capsys.disabled():
        sys.stdout.write(f" [{killed} points of a flow, each of them fatal once] ")
    assert ending == flowed
    points = _assert_points(tmp_path, killed, ending)
    # One word begins the flow, and one follows each call.
    words = {f"flow.{when} word {number}" for when in ("before", "during", "after") for number in range(1, 9)}
    found = {point for point in points if point.startswith("flow.")}
    assert found == words if SOAK else {point.split()[0] for point in found} == {word.split()[0] for word in words}
    assert lasting_within(tmp_path) == []


def _assert_points(folder: Path, killed: int, ending: Ending) -> list[str]:
    """Points of each kind were fatal, each of them once; all of them in the long campaign."""
    points = (folder / "killed").read_text("utf-8").splitlines()
    assert killed == len(points) == len(set(points))
    assert {point.split()[0] for point in points} >= KINDS
    if SOAK:
        _assert_all_points(points, ending)
    return points


def _assert_all_points(points: list[str], ending: Ending) -> None:
    """There was a point before and after each commit and in each effect."""
    for run, kinds in ending.kinds.items():
        appends = {point for point in points if point.startswith(("append.before", "append.after")) and run in point}
        assert len(appends) >= 2 * sum(kind.startswith("step_ended") for kind in kinds)
    assert len([point for point in points if point.startswith("wait.before")]) == len(ending.trace)


@pytest.mark.parametrize("batch", range(0, BATCHES, 1 if SOAK else 5))
def test_a_driver_that_dies_now_and_then_changes_nothing(uninterrupted: Ending, tmp_path: Path, batch: int) -> None:
    killed, ending = _lived(crashing.EVERYTHING, tmp_path, batch, BATCHES)
    assert killed > 0
    assert ending == uninterrupted
