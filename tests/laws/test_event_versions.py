"""Events of an older version are read by every operation as if they were new, and stay as they were written."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from handrail.ports.hash_chain import START, link
from handrail.ports.log import NewEvent, StoredEvent
from handrail.store.sqlite.log import open_log
from support.cli.running import Runs
from support.cli.shop import Shop
from support.laws.old_history import old_history
from support.laws.older_events import NEWER, OLDER, reading_older_events, store_as_older, store_last_as_newer

RUNS = ("mend-1", "mend-2", "mend-3", "survey-1")
VIEWS = ("show", "why", "cost", "logs")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Generator[Runs]:
    """The runs of an older Handrail, with the command line in this process."""
    with old_history() as history:
        for name, value in history.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(history.root / "shop")
        found = Runs(Shop(history.root / "shop", history.root / "handrail"))
        yield found
        found.end_driver()


def database(runs: Runs) -> Path:
    return runs.shop.home / "data" / "handrail.db"


def stored(runs: Runs, run: str) -> tuple[StoredEvent, ...]:
    log = open_log(runs.shop.home / "data")
    try:
        return log.read(run)
    finally:
        log.close()


def views(runs: Runs) -> dict[tuple[str, ...], str]:
    """Everything that can be seen of the runs."""
    calls = [("status", "--json"), *((view, run) for view in VIEWS for run in RUNS)]
    return {call: runs.text(*call) for call in calls}


def test_every_view_shows_the_same_of_older_events(runs: Runs) -> None:
    before = views(runs)
    store_as_older(database(runs))
    with reading_older_events():
        assert views(runs) == before
        assert runs.json("doctor")["healthy"]


def test_older_runs_go_on_to_their_end_with_new_events(runs: Runs) -> None:
    store_as_older(database(runs))
    before = {run: stored(runs, run) for run in ("mend-2", "mend-3")}
    with reading_older_events():
        assert "mend-2 succeeded" in runs.text("approve", "mend-2")
        assert "mend-3 succeeded" in runs.text("resume", "mend-3")
        assert "mend-1 succeeded" in runs.text("rewind", "mend-1", "fix")
    for run, events in before.items():
        after = stored(runs, run)
        assert after[: len(events)] == events
        assert {each.version for each in events} == {OLDER}
        assert {each.version for each in after[len(events) :]} == {NEWER - 1}


def test_an_exported_run_keeps_the_stored_versions_and_bytes(runs: Runs, tmp_path: Path) -> None:
    store_as_older(database(runs))
    with reading_older_events():
        before = runs.json("show", "mend-1")
        bundle: dict[str, Any] = json.loads(runs.call("export", "mend-1", "--json").stdout)
        file = tmp_path / "mend.json"
        file.write_text(json.dumps(bundle))
        other = Runs(Shop(runs.shop.root, tmp_path / "other"))
        assert other.json("import-run", str(file))["run"] == "mend-1"
    exported = [(each["version"], each["payload"], each["hash"]) for each in bundle["streams"][0]["events"]]
    assert exported == [(OLDER, each.payload.decode(), each.hash) for each in stored(runs, "mend-1")]
    # What comes in is written anew, so that it needs no lifter here.
    elsewhere = {"workspace": "", "repository": None, "branch": None, "worktree": None}
    after = other.json("show", "mend-1")
    assert after == {**before, **elsewhere, "last_activity": after["last_activity"]}


def test_an_event_of_a_newer_handrail_is_named_with_what_to_do(runs: Runs) -> None:
    store_last_as_newer(database(runs), "mend-2")
    said = (
        f"error: event 5 of mend-2 (approval_requested) has version {NEWER},"
        f" but this version of Handrail reads versions up to {NEWER - 1}\n"
        "next: install the newest Handrail: pip install --upgrade handrail\n"
    )
    before = stored(runs, "mend-2")
    for call in (*((view, "mend-2") for view in VIEWS), ("approve", "mend-2")):
        assert runs.text(*call, code=3) == said
    assert stored(runs, "mend-2") == before
    listed = {each["run"]: each["error"] for each in runs.json("status")["runs"]}
    assert "has version" in listed["mend-2"]
    assert listed["mend-1"] is None
    assert "mend-3 succeeded" in runs.text("resume", "mend-3"), "the other runs go on"


def test_a_file_of_a_newer_handrail_is_refused_with_what_to_do(runs: Runs, tmp_path: Path) -> None:
    bundle: dict[str, Any] = json.loads(runs.call("export", "mend-3", "--json").stdout)
    event, stream = bundle["streams"][0]["events"][0], bundle["streams"][0]
    event["version"] = NEWER
    event["hash"] = stream["head"] = link(
        "mend-3", START, NewEvent(event["kind"], NEWER, event["payload"].encode())
    ).hash
    file = tmp_path / "mend.json"
    file.write_text(json.dumps(bundle))
    assert runs.text("import-run", str(file), code=3) == (
        f"error: event 1 of mend-3 (run_forked) has version {NEWER},"
        f" but this version of Handrail reads versions up to {NEWER - 1}\n"
        "next: install the newest Handrail: pip install --upgrade handrail\n"
    )
