"""What `handrail test` gives to programs: JSON, JUnit, and what is kept."""

import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from inline_snapshot import snapshot

from handrail.runtime.handlers.proofs.junit import read_junit
from support.cli.notes_workflow import GOOD, notes, put, said
from support.cli.running import HANDRAIL
from support.cli.team import Team

__all__ = ["notes"]


def test_json_is_one_document(notes: Team) -> None:
    put(notes, GOOD.replace("[changes, write, look, publish]", "[write]"))
    found: Any = notes.json("test", code=1)
    assert (found["ok"], found["passed"], found["failed"]) == (False, 0, 1)
    (scenario,) = found["scenarios"]
    assert scenario["problems"] == snapshot(
        [
            {
                "message": "the run took a different path",
                "file": ".handrail/workflows/notes/tests/first.yaml",
                "line": 9,
                "difference": ["+ changes", "  write", "+ look", "+ publish"],
            }
        ]
    )
    assert scenario["path"] == snapshot(
        [
            {"step": "changes", "status": "succeeded", "tries": 1},
            {"step": "write", "status": "succeeded", "tries": 1},
            {"step": "look", "status": "approve", "tries": 1},
            {"step": "publish", "status": "succeeded", "tries": 1},
        ]
    )
    assert scenario["replaced"] == ["publish"]


def test_junit_is_read_by_what_reads_junit(notes: Team, tmp_path: Path) -> None:
    put(notes, GOOD, "a")
    put(notes, GOOD.replace("notes are written", 'a <"wrong"> one').replace('["version `1.2`"', "[no \\x01"), "b")
    put(notes, f"{GOOD}skip: later\n".replace("notes are written", "later notes"), "c")
    report = tmp_path / "junit.xml"
    said(notes, "--junit", str(report), code=1)
    counted = read_junit(report.read_bytes())
    assert (counted.tests, counted.failures, counted.errors, counted.skipped) == (3, 1, 0, 1)
    suite = ET.fromstring(report.read_text()).find("testsuite")
    assert suite is not None
    assert [(case.get("classname"), case.get("name")) for case in suite.findall("testcase")] == snapshot(
        [
            ("notes", "notes are written, looked at and published"),
            ("notes", 'a <"wrong"> one, looked at and published'),
            ("notes", "later notes, looked at and published"),
        ]
    )
    printed = notes.runs.call("test", "--junit", "-").stdout
    assert read_junit(printed.encode()).tests == 3


def test_json_and_junit_do_not_both_get_stdout(notes: Team) -> None:
    put(notes, GOOD)
    assert notes.runs.call("test", "--json", "--junit", "-").exit_code == 2


def test_what_is_kept_can_be_looked_at_with_the_command_that_is_named(notes: Team) -> None:
    put(notes, GOOD.replace("{stdout: published}", "{exit: 3}"))
    found: Any = notes.json("test", "--keep", code=1)
    kept = Path(found["scenarios"][0]["kept"])
    env = {**notes.runs.environ(), "HANDRAIL_HOME": str(kept / "home")}
    why = [HANDRAIL, "why", "notes-1", "publish"]
    ran = subprocess.run(why, cwd=kept, env=env, capture_output=True, text=True, check=True)
    assert "exit 3" in ran.stdout
    shutil.rmtree(kept)
