"""Whatever moment the driving process is killed at: files, branches and outcomes end as if nothing had happened.

The points are found by the runs themselves: before and after every commit of the log, before, while and after every
git command that changes something, and around every command and every call of an agent, which may die as well.
`tree_crashing.py` lives and dies; here is compared. A plain test run dies at a spread of the points, with each kind of
them in it; with HANDRAIL_SOAK=1 every one is fatal once.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.testing.leaks import lasting_within
from support.runtime import tree_crashing
from support.runtime.tree_endings import Ending, ending
from support.runtime.tree_workflows import CASES

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))
BATCHES = {"steps": 7, "back": 7, "fan": 14, "gone": 7}
"""How many parts the points of a workflow are taken apart into; all batches together are all points."""
SHORT = ("steps", "fan")
"""The workflows that a plain test run dies in; between them they have every kind of step and of git command."""
CHOSEN = {name: range(0 if SOAK else count - (name in SHORT), count) for name, count in BATCHES.items()}
LIFETIME = 600.0 if SOAK else 280.0
Endings = Callable[[str], Ending]


def _lived(workflow: str, folder: Path, batch: int, batches: int) -> tuple[int, Ending]:
    """Let processes live and die in a folder, and give how many were killed and what came of it."""
    words = [sys.executable, tree_crashing.__file__, workflow, str(folder), str(batch), str(batches)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIFETIME)
    assert done.returncode == 0, done.stderr
    assert lasting_within(folder) == []
    return int(done.stdout), ending(folder)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Endings:
    """How each workflow ends when nobody dies; each is run once."""
    known: dict[str, Ending] = {}

    def find(workflow: str) -> Ending:
        if workflow not in known:
            killed, known[workflow] = _lived(workflow, tmp_path_factory.mktemp(workflow), 0, 0)
            assert killed == 0
        return known[workflow]

    return find


def test_the_uninterrupted_runs_do_everything(uninterrupted: Endings) -> None:
    kinds = {event.split()[0] for name in CASES for events in uninterrupted(name).events.values() for event in events}
    assert kinds >= {
        *("workspace_ready", "tree_restored", "run_rewound", "work_entered", "work_left", "item_started", "item_ended"),
        *("step_passed_over", "loop_entered", "round_ended"),
    }
    assert {name: uninterrupted(name).states[f"{name}-1"][0] for name in CASES} == dict.fromkeys(CASES, "succeeded")


def test_the_uninterrupted_steps_need_each_of_their_tries(uninterrupted: Endings) -> None:
    events = uninterrupted("steps").events["steps-1"]
    tries = {name: sum(each.startswith(f"step_began {name} ") for each in events) for name in ("make", "checks")}
    assert tries == {"make": 3, "checks": 2}
    assert sum(each.startswith("step_began review@1/fixer ") for each in events) == 2


def test_the_uninterrupted_items_fail_conflict_and_are_resolved(uninterrupted: Endings) -> None:
    found = uninterrupted("fan")
    built = found.states["fan-1"][4]["built"]
    assert [(each["key"], each["status"]) for each in built] == [
        *(("a", "succeeded"), ("b", "succeeded"), ("c", "failed"), ("d", "succeeded"), ("e", "succeeded"))
    ]
    combined = found.states["fan-1"][3]["combine"][1]
    assert combined["merged"] == ["b", "d"]
    assert [each["name"] for each in combined["left"]] == ["a", "e"]
    files = next(tree["files"] for path, tree in found.trees.items() if path.endswith("/fan-1"))
    assert files["shared.txt"] == "by a and d\n"
    assert "try.txt" not in files


def test_the_uninterrupted_loop_takes_back_what_failed(uninterrupted: Endings) -> None:
    (tree,) = uninterrupted("back").trees.values()
    assert tree["files"]["deps.txt"] == "x\nz\n"
    assert tree["files"]["notes.txt"] == "noted\nnoted\n"
    assert "new-y.txt" not in tree["files"]


def test_items_that_were_at_work_when_a_person_went_back_are_stopped_and_begun_anew(uninterrupted: Endings) -> None:
    found = uninterrupted("gone")
    assert {run: state[0] for run, state in found.states.items()} == {
        "gone-1": "succeeded",
        "item build[p]/ 1": "cancelled",
        "item build[p]/ 2": "succeeded",
        "item build[q]/ 1": "succeeded",
    }


@pytest.mark.timeout(LIFETIME * 2)
@pytest.mark.parametrize(("workflow", "batch"), [(name, batch) for name in CASES for batch in CHOSEN[name]])
def test_a_driver_that_dies_anywhere_changes_nothing(
    uninterrupted: Endings, tmp_path: Path, workflow: str, batch: int, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = uninterrupted(workflow)
    killed, found = _lived(workflow, tmp_path, batch, BATCHES[workflow])
    with capsys.disabled():
        sys.stdout.write(f" [{killed} points of {workflow}, each of them fatal once] ")
    assert found == expected
    points = (tmp_path / "killed").read_text("utf-8").splitlines()
    assert killed == len(points) == len(set(points))
    assert killed >= AT_LEAST[workflow]
    _assert_every_kind(points)


AT_LEAST = {"steps": 60, "back": 65, "fan": 90, "gone": 55}
"""Points of each batch; a snapshot of files that did not change calls git less often than others do."""


def _assert_every_kind(points: list[str]) -> None:
    """Somebody died around the log, around commands, and around each way in which git changes something."""
    kinds = {point.split(" ")[0] for point in points}
    assert kinds >= {
        *("append.before", "append.after", "acquire.before", "lost"),
        *("start.before", "start.after", "wait.before", "wait.after", "git.before", "git.during", "git.after"),
    }
    commands = {point.split(" ")[1] for point in points if point.startswith("git.")}
    assert commands >= {"update-ref", "commit-tree", "read-tree", "update-index", "write-tree"}
