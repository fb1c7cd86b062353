"""One damaged run among others, and rows that belong to no run: everything else goes on, and it is named."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from support.security.black_box import BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

ASKS = """
name: NAME
steps:
  - {name: a, command: 'echo changed > app.txt'}
  - {name: ok, type: approval}
  - {name: b, command: 'true'}
"""
NAMES = ("a", "b", "c")


@pytest.fixture
def three(box: BlackBox) -> BlackBox:
    """Three runs that wait for an approval."""
    for name in NAMES:
        box.write_own(f"workflows/{name}/workflow.yaml", ASKS.replace("NAME", name))
        assert box.call("run", name).exit_code == 3
    return box


def _change(box: BlackBox, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(box.home / "data" / "handrail.db")) as connection:
        assert connection.execute(statement, values).rowcount > 0
        connection.commit()


def _statuses(box: BlackBox) -> dict[str, str]:
    return {each["run"]: each["status"] for each in box.call("status", "--json").document["runs"]}


def _settle(box: BlackBox, wanted: Callable[[], bool]) -> None:
    for _ in range(200):
        if wanted():
            return
    raise AssertionError("the background driver did not go on")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET payload = x'7b' WHERE stream = 'b-1' AND seq = 3",
        "UPDATE streams SET document = '{' WHERE name = 'b-1'",
        "UPDATE streams SET document = json_set(document, '$.started_at', 'noon') WHERE name = 'b-1'",
    ],
)
def test_one_damaged_run_spoils_no_list_and_is_named(three: BlackBox, damage: str) -> None:
    _change(three, damage)
    for words in (("status",), ("status", "--json"), ("inbox",), ("clean", "--dry-run"), ("logs", "a-1")):
        shown = three.call(*words)
        assert shown.exit_code == 0, (words, shown.text)
    health = three.call("doctor", "--json").document
    assert [each["name"] for each in health["findings"]] == ["b-1"]
    assert three.call("approve", "a-1").exit_code == 0
    assert three.call("approve", "c-1").exit_code == 0
    assert three.call("doctor", "--repair").exit_code == 0
    assert three.call("doctor").exit_code == 0


@pytest.mark.parametrize(
    "stream", ["ghost-1", *(pytest.param(each, marks=pytest.mark.system) for each in ("issue:7", ""))]
)
def test_a_message_for_no_run_does_not_end_the_background_driver(three: BlackBox, stream: str) -> None:
    _change(three, "INSERT INTO inbox (stream, key, payload) VALUES (?, 'k', x'7b7d')", stream)
    assert three.call("approve", "a-1", "--detach").exit_code == 0
    _settle(three, lambda: _statuses(three)["a-1"] == "succeeded")
    said = (three.home / "data" / "driver.log").read_text("utf-8")
    assert "error" not in said, said
    found = [each["name"] for each in three.call("doctor", "--json").document["findings"]]
    assert found == ([stream] if stream == "ghost-1" else [])


def test_a_run_that_cannot_be_read_does_not_end_the_background_driver(three: BlackBox) -> None:
    _change(three, "UPDATE events SET payload = x'7b' WHERE stream = 'b-1' AND seq = 3")
    _change(three, "INSERT INTO inbox (stream, key, payload) VALUES ('b-1', 'k', x'7b7d')")
    assert three.call("approve", "a-1", "--detach").exit_code == 0
    _settle(three, lambda: _statuses(three)["a-1"] == "succeeded")
    said = (three.home / "data" / "driver.log").read_text("utf-8")
    assert "b-1" in said
    assert "error" not in said, said


@pytest.mark.parametrize(
    "word", ["maybe", *(pytest.param(each, marks=pytest.mark.system) for each in (7, None, "approve\x00"))]
)
def test_an_answer_that_no_reader_knows_is_never_recorded(three: BlackBox, word: object) -> None:
    """What a program leaves in the inbox goes through the same door as an answer."""
    with closing(sqlite3.connect(three.home / "data" / "handrail.db")) as connection:
        (seq,) = connection.execute("SELECT max(seq) FROM events WHERE stream = 'b-1'").fetchone()
    payload = json.dumps({"kind": "answer", "asked": seq, "decision": word, "by": "x"}).encode()
    _change(three, "INSERT INTO inbox (stream, key, payload) VALUES ('b-1', 'k', ?)", payload)
    three.call("resume", "b-1")
    assert three.call("logs", "b-1").exit_code == 0
    assert three.call("doctor", "--json").document["findings"] == []
    assert three.call("stop", "b-1").exit_code == 0
    assert _statuses(three)["b-1"] == "cancelled"


def test_a_damaged_run_can_be_stopped_and_discarded_without_losing_its_files(three: BlackBox) -> None:
    tree = Path(three.call("show", "b-1", "--json").document["workspace"])
    (tree / "precious.txt").write_text("do not lose me\n", "utf-8")
    with closing(sqlite3.connect(three.home / "data" / "handrail.db")) as connection:
        (seq,) = connection.execute("SELECT max(seq) FROM events WHERE stream = 'b-1'").fetchone()
    _change(three, "UPDATE events SET payload = x'7b' WHERE stream = 'b-1' AND seq = ?", seq)
    stopped = three.call("stop", "b-1")
    assert stopped.exit_code == 0, stopped.text
    assert (tree / "precious.txt").exists()
    discarded = three.call("discard", "b-1", "--json")
    assert discarded.exit_code == 0, discarded.text
    assert not tree.exists()
    ref = discarded.document["discarded"][0]["ref"]
    assert "precious.txt" in three.git("ls-tree", "-r", "--name-only", ref).splitlines()
    assert _statuses(three)["a-1"] == "waiting"
