"""Twenty items, four at a time, some after others; three fail and one does not fit: nothing of it is lost."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.model.history.events import ItemEnded, ItemStarted
from handrail.runtime.history import events_of
from handrail.store.sqlite.log import open_log
from handrail.testing.leaks import lasting_within
from support.runtime import tree_crashing
from support.runtime.room import LONG
from support.runtime.tree_endings import Ending, ending, git
from support.runtime.tree_workflows import AFTER, CONFLICTING, FAILING, KEYS

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))

RUN, WIDTH = "twenty-1", 4
pytestmark = pytest.mark.timeout(400)


def _driving(folder: Path) -> "subprocess.Popen[str]":
    words = [sys.executable, tree_crashing.__file__, "twenty", str(folder), "0", "0"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def _driven(folder: Path) -> Ending:
    """Drive the run to where only a person can go on, and look at what is there."""
    said, faults = (driving := _driving(folder)).communicate(timeout=200)
    assert driving.returncode == 0, faults
    assert said == "0"
    assert lasting_within(folder) == []
    return ending(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ending]:
    folder = tmp_path_factory.mktemp("whole")
    return folder, _driven(folder)


def _moves(folder: Path) -> list[ItemStarted | ItemEnded]:
    log = open_log(folder / "data")
    try:
        return [event for _, event in events_of(log, RUN) if isinstance(event, ItemStarted | ItemEnded)]
    finally:
        log.close()


def test_at_most_four_items_are_at_work_and_each_waits_for_those_it_comes_after(whole: tuple[Path, Ending]) -> None:
    running, most = set[str](), 0
    ended = list[str]()
    for event in _moves(whole[0]):
        if isinstance(event, ItemStarted):
            assert set(AFTER.get(event.key, [])) <= set(ended)
            running.add(event.key)
        else:
            running.discard(event.key)
            ended.append(event.key)
        most = max(most, len(running))
    assert most == WIDTH
    assert sorted(ended) == KEYS


def test_the_others_are_merged_in_order_and_the_run_says_what_is_left(whole: tuple[Path, Ending]) -> None:
    folder, found = whole
    status, reason, message = found.states[RUN][:3]
    assert (status, reason) == ("blocked", "merge")
    assert CONFLICTING[1] in message
    assert "shared.txt" in message
    merged = git(folder / "repo", "log", "--first-parent", "--merges", "--reverse", "--format=%s", "work/twenty-1")
    assert [line.removeprefix("Merge ") for line in merged.splitlines()] == _expected_order()
    files = next(tree["files"] for path, tree in found.trees.items() if path.endswith(f"/{RUN}"))
    assert {name for name in files if name.startswith("i")} == {f"{key}.txt" for key in _expected_order()}
    assert files["shared.txt"] == f"by {CONFLICTING[0]}\n"


def _expected_order() -> list[str]:
    """Item order, with each item after those it comes after."""
    ordered = list[str]()

    def add(key: str) -> None:
        for other in AFTER.get(key, []):
            add(other)
        if key not in ordered:
            ordered.append(key)

    for key in KEYS:
        if key not in FAILING and key != CONFLICTING[1]:
            add(key)
    return ordered


def test_only_the_failed_still_have_a_worktree(whole: tuple[Path, Ending]) -> None:
    built = whole[1].states[RUN][4]["built"]
    there = {
        each["run"] for each in built for path, tree in whole[1].trees.items() if tree and path.endswith(each["run"])
    }
    assert there == {each["run"] for each in built if each["status"] == "failed"}


def test_the_failed_are_listed_and_their_work_is_still_there(whole: tuple[Path, Ending]) -> None:
    folder, found = whole
    built = found.states[RUN][4]["built"]
    assert [each["key"] for each in built] == KEYS
    assert tuple(each["key"] for each in built if each["status"] == "failed") == FAILING
    for each in built:
        assert git(folder / "repo", "show", f"{each['branch']}:{each['key']}.txt") == f"{each['key']}\n"
    shared = git(folder / "repo", "show", f"work/twenty-1-{CONFLICTING[1]}:shared.txt")
    assert shared == f"by {CONFLICTING[1]}\n"


@pytest.mark.parametrize("after", [5, 14] if SOAK else [14])
def test_a_kill_in_the_middle_and_a_resume_end_in_the_same(
    whole: tuple[Path, Ending], tmp_path: Path, after: int
) -> None:
    driving = _driving(tmp_path)
    try:
        _until(lambda: _ended(tmp_path) >= after, driving)
    finally:
        os.killpg(driving.pid, signal.SIGKILL)
        driving.communicate()
    assert _ended(tmp_path) < len(KEYS)
    assert _driven(tmp_path) == whole[1]


def _ended(folder: Path) -> int:
    if not (folder / "data" / "handrail.db").exists():
        return 0
    log = open_log(folder / "data")
    try:
        if not log.last(RUN).seq:
            return 0
        return sum(isinstance(event, ItemEnded) for _, event in events_of(log, RUN))
    finally:
        log.close()


def _until(ready: Callable[[], bool], driving: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 3 * LONG
    while not ready():
        assert time.monotonic() < end, "it never became so"
        assert driving.poll() is None, driving.communicate()
        time.sleep(0.02)
