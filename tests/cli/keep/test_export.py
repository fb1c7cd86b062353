"""Runs as files, and the health of what is recorded."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from support.cli.running import ASKING, Runs
from support.cli.shop import Shop

PARENT = (
    "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: ask}\n  - {name: after, command: 'echo after'}\n"
)


def exported(runs: Runs) -> Path:
    runs.add("ask", ASKING)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    file = runs.shop.root / "parent.json"
    assert runs.text("export", "parent-1", "-o", str(file)) == "parent-1: 6 events\n"
    return file


def test_an_exported_run_comes_in_elsewhere_and_is_held(runs: Runs, tmp_path: Path) -> None:
    file = exported(runs)
    other = Runs(Shop(runs.shop.root, tmp_path / "other"))
    assert other.text("import-run", str(file)) == snapshot("""\
parent-1: 6 events
next: handrail release parent-1
""")
    assert other.json("status", "parent-1.2")["runs"][0]["reason"] == "approval"
    assert "is held by ann" in other.text("resume", "parent", code=2)
    other.text("release", "parent-1", "--yes", code=3)
    other.add("ask", ASKING)
    assert other.json("approve", "parent-1")["status"] == "succeeded"
    assert runs.json("status", "parent-1")["runs"][0]["status"] == "waiting"


def test_a_run_whose_id_is_taken_comes_in_under_a_new_one(runs: Runs) -> None:
    file = exported(runs)
    assert runs.json("import-run", str(file)) == snapshot(
        {"run": "parent-2", "original": "parent-1", "events": 6, "held": True}
    )
    assert runs.json("show", "parent-2.2")["steps"] == runs.json("show", "parent-1.2")["steps"]
    assert runs.json("doctor")["findings"] == []


def test_a_finished_run_comes_in_as_it_was(runs: Runs, tmp_path: Path) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    runs.text("rewind", "ask", "draft", code=3)
    before = runs.json("approve", "ask")
    file = runs.shop.write("ask.json", runs.call("export", "ask", "--json").stdout)
    other = Runs(Shop(runs.shop.root, tmp_path / "other"))
    assert other.json("import-run", str(file))["held"] is False
    shown = other.json("show", "ask-1")
    assert shown["last_activity"] > before["last_activity"], "that it came in was the last thing that happened"
    beside: dict[str, object] = {"workspace": "", "last_activity": "", "tmux_session": None, "pull_requests": []}
    assert {**shown, "last_activity": ""} == {**before, **beside}


def _edit(bundle: dict[str, Any]) -> None:
    event = bundle["streams"][0]["events"][1]
    event["payload"] = event["payload"].replace("kid", "kit")


def _cut(bundle: dict[str, Any]) -> None:
    bundle["streams"][1]["events"].pop()


def _drop_blob(bundle: dict[str, Any]) -> None:
    bundle["blobs"].popitem()


def _change_blob(bundle: dict[str, Any]) -> None:
    digest = next(iter(bundle["blobs"]))
    bundle["blobs"][digest] = "AAAA"


def _newer(bundle: dict[str, Any]) -> None:
    bundle["version"] = 2


def _stranger(bundle: dict[str, Any]) -> None:
    bundle["run"] = "other-1"


def _no_events(bundle: dict[str, Any]) -> None:
    bundle["streams"][0]["events"] = 7


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_edit, "event 2 of parent-1 is damaged"),
        (_cut, "the end of parent-1.2 is missing, after event 3"),
        (_drop_blob, "is missing"),
        (_change_blob, "is damaged"),
        (_newer, "its version is 2, but this version of Handrail reads 1"),
        (_stranger, "it does not contain the history of 'other-1'"),
        (_no_events, "event 1 of parent-1 cannot be read"),
    ],
)
def test_a_corrupted_bundle_is_refused_by_name_and_nothing_comes_in(
    runs: Runs, damage: Callable[[dict[str, Any]], None], said: str
) -> None:
    file = exported(runs)
    bundle = json.loads(file.read_bytes())
    damage(bundle)
    file.write_text(json.dumps(bundle))
    refused = runs.text("import-run", str(file), code=2)
    assert refused.startswith("error: the file is not a valid export: ")
    assert said in refused
    assert len(runs.json("status")["runs"]) == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"format": "x"}', "[" * 100_000, '{"format": "handrail-run"}']
)
def test_a_file_that_is_no_bundle_is_refused(runs: Runs, text: str) -> None:
    file = runs.shop.write("x.json", text)
    assert runs.text("import-run", str(file), code=2).startswith("error: the file is not a valid export: ")


def test_doctor_says_what_is_there_and_that_nothing_is_damaged(runs: Runs) -> None:
    found = runs.json("doctor")
    names = ["git", "claude", "codex", "gemini", "opencode", "gh", "tmux", "bwrap", "python", "sqlite"]
    assert [each["name"] for each in found["tools"]] == names
    assert found["healthy"] is True
    exported(runs)
    assert runs.diagnosis()[0] == "log   HOME/data/handrail.db ✓"


def test_doctor_repairs_a_history_that_was_edited(runs: Runs) -> None:
    exported(runs)
    database = sqlite3.connect(runs.shop.home / "data" / "handrail.db")
    database.execute("UPDATE events SET payload = x'7b7d' WHERE seq = 2 AND stream LIKE '%.2'")
    database.commit()
    database.close()
    assert runs.diagnosis(code=1) == snapshot(
        [
            "log   HOME/data/handrail.db ✗",
            "  stream parent-1.2: damaged after event 1 of 4, 1 events intact",
            "background driver   not running",
            "next: handrail doctor --repair",
        ]
    )
    assert runs.text("show", "parent-1.2", code=3).startswith("error: ")
    assert runs.json("status")["runs"][0]["status"] == "blocked"
    assert runs.diagnosis("--repair") == snapshot(
        [
            "log   HOME/data/handrail.db ✓",
            "  truncated parent-1.2 to 1 events, 3 set aside",
            "background driver   not running",
            "next: handrail status",
        ]
    )
    assert runs.json("doctor")["healthy"] is True
