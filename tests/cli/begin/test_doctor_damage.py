"""A damaged database through the command line: it is named, mended as far as it goes, and the runs go on."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.running import ASKING, Runs, until
from support.cli.shop import Shop

pytestmark = pytest.mark.system  # takes long: many processes of its own

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))

AGAIN = "name: NAME\nsteps:\n  - {name: a, command: 'exit 1', retry: {max: 2, backoff: 300s}}\n"
LOUD = ASKING.replace("echo draft'", "yes draft | head -c 9000'").replace('Is "${text}" good?', "Good?")


def _file(runs: Runs) -> Path:
    return runs.shop.home / "data" / "handrail.db"


def _query(runs: Runs, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(_file(runs))
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.commit()
        connection.close()


def _break(runs: Runs, page: int) -> None:
    """Overwrite a page, as a dying disk would."""
    size = int(str(_query(runs, "PRAGMA page_size")[0][0]))
    with _file(runs).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


def _copy(runs: Runs, home: Path) -> Runs:
    shutil.copytree(runs.shop.home, home)
    return Runs(Shop(runs.shop.root, home))


def _root_page(runs: Runs, table: str) -> int:
    return int(str(_query(runs, f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'")[0][0]))


def _listed(runs: Runs) -> dict[str, tuple[str, str | None]]:
    return {each["run"]: (each["status"], each["reason"]) for each in runs.json("status")["runs"]}


def _brought_to_its_end(runs: Runs, run: str) -> str:
    shown = runs.json("show", run)
    assert (shown["status"], shown["reason"]) == _listed(runs)[run]
    if shown["status"] == "running":
        shown = runs.json("resume", run, code=3)
    if shown["reason"] == "approval":
        given = runs.call("approve", run, "--json")
        # An answer that was given before the damage is still there and counts.
        shown = runs.json("resume", run) if "already been answered" in given.stdout else json.loads(given.stdout)
    return str(shown["status"])


def _asked(runs: Runs) -> None:
    """Three runs: one is over, two wait for an answer."""
    runs.add("ask", LOUD)
    for _ in range(3):
        runs.text("run", "ask", code=3)
    runs.text("approve", "ask-1")
    _query(runs, "PRAGMA wal_checkpoint(TRUNCATE)")


def test_whichever_page_breaks_what_is_listed_afterwards_can_be_shown_and_goes_on(runs: Runs, tmp_path: Path) -> None:
    _asked(runs)
    pages = int(str(_query(runs, "PRAGMA page_count")[0][0]))
    for page in range(1, pages + 1, 1 if SOAK else 3):
        broken = _copy(runs, tmp_path / f"home-{page}")
        _break(broken, page)
        found = broken.json("doctor", code=1)
        assert found["findings"], page
        mended = broken.call("doctor", "--repair", "--json")
        lost = {each["run"] for each in broken.json("status")["runs"]} ^ {"ask-1", "ask-2", "ask-3"}
        assert all(run in mended.stdout for run in lost), f"page {page}: {lost} vanished without a word"
        if mended.exit_code == 0:
            assert {_brought_to_its_end(broken, run) for run in _listed(broken)} <= {"succeeded"}, page
        else:
            assert "the plan of ask-2, ask-3 is gone" in mended.stdout, page
        shutil.rmtree(broken.shop.home)
    assert pages > 20


def test_a_lost_tail_is_cut_told_and_lived_again(runs: Runs) -> None:
    _asked(runs)
    tail = _query(runs, "SELECT max(pageno) FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'")
    _break(runs, int(str(tail[0][0])))
    assert runs.diagnosis(code=1) == snapshot(
        [
            "log   HOME/data/handrail.db ✗",
            "  database main: database disk image is malformed",
            "background driver   not running",
            "next: handrail doctor --repair",
        ]
    )
    assert runs.diagnosis("--repair") == snapshot(
        [
            "log   HOME/data/handrail.db ✓",
            "  truncated ask-1 to 4 events, 4 lost",
            "  lost ask-3: its beginning cannot be read, 4 lost",
            "  rebuilt the file: it contains 2 runs",
            "  the damaged file is kept as HOME/data/handrail.db.damaged-1",
            "background driver   not running",
            "next: handrail status",
        ]
    )
    assert runs.text("status") == snapshot("""\
NEEDS YOU  ask-2  ok  Good?  handrail approve ask-2
NEEDS YOU  ask-1  ok  Good?  handrail approve ask-1
""")
    assert runs.json("doctor")["healthy"] is True


def test_a_history_that_was_cut_is_listed_as_it_is_now_without_a_resume(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    runs.text("approve", "ask-1")
    _query(runs, "UPDATE events SET payload = x'7b7d' WHERE seq = 3")
    assert "  truncated ask-1 to 2 events, 6 set aside" in runs.text("doctor", "--repair").splitlines()
    assert runs.text("status") == snapshot(
        "PAUSED  ask-1  draft  interrupted: no process is running it  handrail resume ask-1\n"
    )
    assert runs.text("resume", code=3).splitlines()[-2:] == snapshot(
        ['ask-1 needs you: Is "draft" good?', "next: handrail approve ask-1, or revise, or reject"]
    )
    assert runs.json("approve", "ask-1")["status"] == "succeeded"


def test_a_history_whose_beginning_is_lost_is_listed_no_more(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    _query(runs, "UPDATE events SET payload = x'7b7d' WHERE seq = 1")
    lost = "  lost ask-1: its beginning cannot be read, 4 set aside"
    assert lost in runs.text("doctor", "--repair").splitlines()
    assert runs.json("status")["runs"] == []


def test_a_list_that_nobody_can_read_is_named_and_made_again(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    before = runs.text("status")
    _query(runs, "UPDATE streams SET document = replace(document, 'ask', CAST(x'ff' AS TEXT))")
    said = runs.text("status")
    assert "ask-1  its entry in the run list cannot be read" in said
    assert said.endswith("handrail doctor ask-1 --repair\n")
    assert [each["name"] for each in runs.json("doctor", code=1)["findings"]] == ["ask-1"]
    runs.text("doctor", "ask-1", "--repair")
    assert runs.text("status") == before


@pytest.mark.parametrize("table", ["streams", "timers"])
def test_lists_and_timers_that_were_lost_are_made_again(runs: Runs, table: str) -> None:
    runs.add("again", AGAIN)
    process = runs.process("run", "again")
    until(lambda: [each["reason"] for each in runs.json("status")["runs"]] == ["timer"])
    process.kill()
    process.communicate(timeout=60)
    _query(runs, "PRAGMA wal_checkpoint(TRUNCATE)")
    before = _query(runs, "SELECT * FROM timers"), _query(runs, "SELECT name, document FROM streams")
    _break(runs, _root_page(runs, table))
    runs.text("doctor", "--repair")
    assert (_query(runs, "SELECT * FROM timers"), _query(runs, "SELECT name, document FROM streams")) == before


def test_a_plan_that_was_lost_is_named_and_comes_back_with_its_workflow(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    _query(runs, "DELETE FROM blobs")
    found = runs.json("doctor", code=1)["findings"]
    assert [each["problem"] for each in found] == snapshot(
        ["the plan of ask-1 is missing; start the same workflow again, unchanged, to restore it"]
    )
    assert runs.text("approve", "ask-1", code=3).splitlines()[-1] == snapshot(
        "next: start the same workflow again, unchanged: that stores its plan again; then resume"
    )
    runs.text("run", "ask", code=3)
    assert runs.json("doctor")["healthy"] is True
    runs.json("resume", "ask-1", code=3)
    assert runs.json("approve", "ask-1")["status"] == "succeeded"


def test_doctor_says_whether_a_background_driver_is_running(runs: Runs) -> None:
    runs.add("ask", ASKING)
    assert runs.json("doctor")["driver"] is None
    assert runs.text("doctor").splitlines()[-2] == "background driver   not running"
    runs.text("run", "ask", "--detach", HANDRAIL_DRIVER_IDLE="600")
    running, holds = runs.text("doctor").splitlines()[-3:-1]
    assert running == "background driver   running, process PID, since TIME"
    said = "its own environment: no login variable; holds those of ask-1 (no login variable)"
    assert holds.strip() == said
    driver = runs.json("doctor")["driver"]
    assert driver.keys() == {"pid", "since", "takes_environments", "logins", "environments"}
    assert (driver["takes_environments"], driver["logins"]) == (True, [])
    assert driver["environments"] == [{"run": "ask-1", "logins": []}]
