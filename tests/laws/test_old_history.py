"""Runs that an older Handrail wrote go on under this one.

The archive holds a home with four runs: `mend-1` is finished, `mend-2` waits for an approval, `mend-3` is a fork of
`mend-1` that nobody drives, and `survey-1` is finished, with items, a merge, a review loop and a loop.
"""

import json
from collections.abc import Generator

import pytest

from support.laws.old_history import OldHistory, old_history


@pytest.fixture
def history() -> Generator[OldHistory]:
    with old_history() as opened:
        yield opened


def statuses(history: OldHistory) -> dict[str, str]:
    return {each["run"]: each["status"] for each in json.loads(history.call("status", "--json"))["runs"]}


def test_its_runs_are_listed_as_they_were_left(history: OldHistory) -> None:
    ended = {"mend-1": "succeeded", "survey-1": "succeeded"}
    assert statuses(history) == {**ended, "mend-2": "waiting", "mend-3": "running"}


@pytest.mark.parametrize("run", ["mend-1", "mend-2", "mend-3", "survey-1"])
def test_each_run_can_be_read_in_full(history: OldHistory, run: str) -> None:
    assert json.loads(history.call("show", run, "--json"))["run"] == run
    assert history.call("logs", run)
    assert history.call("cost", run)
    assert history.call("why", run)


def test_the_log_is_whole(history: OldHistory) -> None:
    assert json.loads(history.call("doctor", "--json"))["healthy"]


def test_the_waiting_run_is_approved_and_goes_on_to_its_end(history: OldHistory) -> None:
    assert "mend-2 succeeded" in history.call("approve", "mend-2")
    assert statuses(history)["mend-2"] == "succeeded"


def test_the_forked_run_is_resumed_and_goes_on_to_its_end(history: OldHistory) -> None:
    assert "mend-3 succeeded" in history.call("resume", "mend-3")


def test_a_finished_run_is_rewound_and_runs_again(history: OldHistory) -> None:
    told = history.call("rewind", "mend-1", "fix")
    assert "the files are restored" in told
    assert "mend-1 succeeded" in told


def test_a_finished_run_is_forked(history: OldHistory) -> None:
    assert "mend-4 is a copy of mend-1" in history.call("fork", "mend-1", "checks")
    assert "mend-4 succeeded" in history.call("resume", "mend-4")


def test_what_a_finished_run_made_is_still_there(history: OldHistory) -> None:
    assert "price * quantity" in history.call("diff", "mend-1")
    assert history.call("apply", "mend-1")


@pytest.mark.parametrize(("run", "copy"), [("mend-1", "mend-4"), ("survey-1", "survey-2")])
def test_a_run_is_exported_and_imported(history: OldHistory, run: str, copy: str) -> None:
    before = history.call("show", run)
    history.call("export", run, "-o", str(history.root / "run.json"))
    assert copy in history.call("import-run", str(history.root / "run.json"))
    shown = history.call("show", copy).replace(copy, run)
    assert _without_workspace(shown) == _without_workspace(before)
    assert "workspace  none: it was imported\n" in shown


def _without_workspace(shown: str) -> list[str]:
    """What came in has no place here."""
    return [line for line in shown.splitlines() if not line.startswith("workspace")]


def test_what_was_trusted_is_still_trusted(history: OldHistory) -> None:
    told = history.call("run", "mend", "one more", "--script", "../play.yaml", code=3)
    assert "mend-4 needs you" in told


def test_no_machine_or_person_is_named_in_it(history: OldHistory) -> None:
    names = (b"/home/", b"/root/", b"/Users/", b"/usr/", b"site-packages")
    for path in history.root.rglob("*"):
        if path.is_file() and "worktrees" not in path.parts:
            assert not [name for name in names if name in path.read_bytes()], path
