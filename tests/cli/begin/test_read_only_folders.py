"""Folders that may not be written, for a user whom their modes hold."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.running import ASKING, Runs
from support.cli.small_disk import without_powers

pytestmark = pytest.mark.system


@contextmanager
def _closed(folder: Path, mode: int = 0o500) -> Generator[None]:
    before = folder.stat().st_mode
    folder.chmod(mode)
    try:
        yield
    finally:
        folder.chmod(before)


def test_a_closed_data_folder_is_named_with_what_to_do(runs: Runs) -> None:
    runs.add("ask", ASKING)
    with _closed(runs.shop.home / "data"):
        ran = without_powers(runs, "run", "ask")
    assert (ran.code, ran.err) == snapshot(
        (
            3,
            """\
error: the log in HOME/data/handrail.db cannot be written: Permission denied
next: make the folder writable for your user, or set HANDRAIL_HOME to a folder that is
""",
        )
    )
    assert without_powers(runs, "run", "ask").code == 3
    assert runs.json("status")["runs"][0]["reason"] == "approval"


def test_a_data_folder_that_was_closed_meanwhile_loses_no_run(runs: Runs) -> None:
    runs.add("ask", ASKING)
    assert without_powers(runs, "run", "ask").code == 3
    with _closed(runs.shop.home / "data"):
        refused = without_powers(runs, "approve", "ask-1")
    assert (refused.code, refused.err) == snapshot(
        (
            3,
            """\
error: the log in HOME/data/handrail.db cannot be written: attempt to write a readonly database
next: make the folder writable for your user, or set HANDRAIL_HOME to a folder that is
""",
        )
    )
    assert without_powers(runs, "approve", "ask-1", "--json").json["status"] == "succeeded"


def test_a_folder_of_runs_that_is_closed_blocks_the_run_until_it_is_open(runs: Runs) -> None:
    runs.add("ask", ASKING)
    (runs.shop.home / "data" / "runs").mkdir(parents=True)
    with _closed(runs.shop.home / "data" / "runs"):
        ran = without_powers(runs, "run", "ask", "--json")
    assert (ran.code, ran.json["status"], ran.json["reason"]) == (3, "blocked", "fault")
    assert runs.masked(ran.json["error"]) == snapshot(
        "a process cannot be started in HOME/data/runs/ask-1/2/0.0: Permission denied"
    )
    resumed = without_powers(runs, "resume", "ask-1", "--json")
    assert (resumed.code, resumed.json["reason"]) == (3, "approval")


def test_a_closed_working_folder_is_the_scripts_own_affair(runs: Runs) -> None:
    runs.add("reads", "name: NAME\nsteps:\n  - {name: r, command: 'cat given', output: said}\n")
    runs.add("writes", "name: NAME\nsteps:\n  - {name: w, command: 'echo new > made; cat made', output: said}\n")
    work = runs.shop.root / "work"
    work.mkdir()
    (work / "given").write_text("here")
    with _closed(work):
        read = without_powers(runs, "run", "reads", "--in", "work", "--json")
        wrote = without_powers(runs, "run", "writes", "--in", "work", "--json")
    assert (read.code, read.json["outputs"]) == (0, {"said": "here"})
    assert (wrote.code, wrote.json["status"], wrote.json["error"]) == snapshot(
        (1, "failed", "step 'w' failed: command: exit 1")
    )
    resumed = without_powers(runs, "resume", "writes-1", "--json")
    assert (resumed.code, resumed.json["outputs"]) == (0, {"said": "new"})


def test_a_working_folder_that_cannot_be_entered_blocks_the_run(runs: Runs) -> None:
    runs.add("writes", "name: NAME\nsteps:\n  - {name: w, command: 'echo new > made; cat made', output: said}\n")
    work = runs.shop.root / "work"
    work.mkdir()
    with _closed(work, 0):
        ran = without_powers(runs, "run", "writes", "--in", "work", "--json")
    assert (ran.code, ran.json["status"], ran.json["reason"]) == (3, "blocked", "fault")
    assert runs.masked(ran.json["error"]) == "the working folder SHOP/work cannot be entered: Permission denied"
    assert without_powers(runs, "resume", "writes-1", "--json").json["outputs"] == {"said": "new"}
