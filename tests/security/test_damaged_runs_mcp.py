"""One damaged run, or rows of streams that are no run: connected agents go on with every other run."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from support.laws.damage import HARMLESS, SQL, STRANGERS
from support.pull.room import advancing, definition, step
from support.security.black_box import BlackBox
from support.security.mcp_stdio import Json, call_tools

pytestmark = pytest.mark.system  # takes long: many processes of its own

GOOD = "good-1"
NAMES = {f"flow-{number}": what for number, what in enumerate(sorted(SQL))}
"""By workflow, what is damaged in its run: runs of one workflow would share its plan."""
WAITS = "name: waits\nsteps:\n  - {name: ok, type: approval}\n  - {name: done, command: 'true'}\n"
ROWS = {
    **STRANGERS,
    **{
        f"{what} of {stream}": statement.replace("NAME", stream)
        for stream in ("issue:7", "pr:7", "schedule:nightly", "hook:1")
        for what, statement in {
            "line": "INSERT OR REPLACE INTO streams (name, seq, hash, status, listed, document) VALUES"
            " ('NAME', 1, 'x', 'running', 1, '{\"kind\":\"x\"}')",
            "event": "INSERT INTO events (stream, seq, kind, version, payload, hash) VALUES"
            " ('NAME', 1, 'seen', 1, x'7b7d', 'x')",
            "timer": "INSERT INTO timers (stream, key, due) VALUES ('NAME', 'retry', 1.0)",
            "message": "INSERT OR REPLACE INTO inbox (stream, key, payload) VALUES ('NAME', 'k', x'7b7d')",
        }.items()
    },
}


@pytest.fixture
def tokens(box: BlackBox) -> dict[str, str]:
    """Runs that an agent walks, with the tokens of their first steps, and one that waits for a person."""
    box.write_own("workflows/waits/workflow.yaml", WAITS)
    assert box.call("run", "waits").exit_code == 3
    for name in ("good", *NAMES):
        flow = definition(step("step-1"), step("step-2"), name=name, description=f"Says {name}.")
        box.write_own(f"workflows/{name}.json", json.dumps(flow))
    start: Json = {"workspacePath": str(box.repository), "goal": "Make it better."}
    said = _talk(box, [("start_workflow", {"workflowId": name, **start}) for name in ("good", *NAMES)])
    return {each["runId"]: each["continueToken"] for each in said}


def _talk(box: BlackBox, calls: list[tuple[str, Json]]) -> list[dict[str, Any]]:
    """Call tools in one server; gives what each answered, with whether it failed."""
    talk = call_tools(box, calls)
    assert "Traceback" not in talk.err, talk.err
    results = [answer["result"] for answer in talk.answers]
    return [{**each["structuredContent"], "failed": bool(each.get("isError"))} for each in results]


def _change(box: BlackBox, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(box.home / "data" / "handrail.db")) as connection:
        assert connection.execute(statement, values).rowcount > 0
        connection.commit()


def _assert_others_go_on(box: BlackBox, tokens: dict[str, str]) -> None:
    here: Json = {"workspacePath": str(box.repository)}
    listed, found, advanced, started = _talk(
        box,
        [
            ("list_workflows", here),
            ("resume_session", {"query": "good", **here}),
            ("continue_workflow", advancing(tokens[GOOD])),
            ("start_workflow", {"workflowId": "good", "goal": "Another one.", **here}),
        ],
    )
    assert "good" in [each["workflowId"] for each in listed["workflows"]]
    assert GOOD in [each["runId"] for each in found.get("candidates", [])]
    assert (advanced["runId"], advanced["pending"]["address"]) == (GOOD, "step-2")
    assert (started["runId"], started["pending"]["address"]) == ("good-2", "step-1")


def _assert_the_driver_goes_on(box: BlackBox) -> None:
    assert box.call("approve", "waits-1", "--detach").exit_code == 0
    for _ in range(200):
        if box.call("show", "waits-1", "--json").document["status"] == "succeeded":
            break
    else:
        raise AssertionError((box.home / "data" / "driver.log").read_text("utf-8"))
    assert "error" not in (box.home / "data" / "driver.log").read_text("utf-8")


def test_damaged_runs_say_so_and_every_other_run_goes_on(box: BlackBox, tokens: dict[str, str]) -> None:
    for name, what in NAMES.items():
        _change(box, SQL[what], f"{name}-1")
    _assert_others_go_on(box, tokens)
    found = _talk(box, [("resume_session", {"runId": f"{name}-1"}) for name in NAMES])
    said = _talk(box, [("continue_workflow", advancing(tokens[f"{name}-1"])) for name in NAMES])
    for what, answer in (*zip(NAMES.values(), said, strict=True), *zip(NAMES.values(), found, strict=True)):
        if answer["failed"]:
            assert re.fullmatch(r"[A-Z][A-Z_]+", answer["code"]), (what, answer)
            assert answer["code"] != "INTERNAL", (what, answer)
            assert answer["details"]["suggestedFix"], (what, answer)
    failed = {what for what, answer in zip(NAMES.values(), said, strict=True) if answer["failed"]}
    assert failed == set(SQL) - HARMLESS
    _assert_the_driver_goes_on(box)


def test_streams_that_are_no_run_are_no_concern_of_agents(box: BlackBox, tokens: dict[str, str]) -> None:
    for statement in ROWS.values():
        _change(box, statement)
    _assert_others_go_on(box, tokens)
    streams = ("issue:7", "pr:7", "schedule:nightly", "hook:1", "ghost-1")
    for answer in _talk(box, [("resume_session", {"runId": stream}) for stream in streams]):
        assert not {each["runId"] for each in answer.get("candidates", [])} & set(streams), answer
    _assert_the_driver_goes_on(box)
