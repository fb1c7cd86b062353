"""Whatever moment the driver of a flow with agents is killed at: it ends as if nothing had happened, no call twice.

The flow has calls of agents, a retry loop, a condition on a label, an approval and a gate with a fix. The points are
those of `test_crash_matrix.py`. A plain test run dies at a spread of them, with HANDRAIL_SOAK=1 at every one.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail.runtime.history import events_of, state_of
from handrail.store.sqlite.log import open_log
from handrail.testing.leaks import lasting_within
from support.runtime import flow_crashing
from support.runtime.room import assert_sound, steps_of

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))
SPREAD = 1 if SOAK else 9
"""One of so many points is fatal."""
RUN = f"{flow_crashing.AGENTS}-1"


def _lived(folder: Path, batches: int) -> tuple[int, dict[str, Any]]:
    """Let processes live and die in a folder, and give how many were killed and what came of it."""
    words = [sys.executable, flow_crashing.__file__, flow_crashing.AGENTS, str(folder), "0", str(batches)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=1500 if SOAK else 280)
    assert done.returncode == 0, done.stderr
    assert lasting_within(folder) == []
    log = open_log(folder / "data")
    try:
        assert_sound(log)
        assert not log.pending_streams()
        states = {run: state_of(log, run) for run in log.streams()}
        return int(done.stdout), {
            "kinds": {run: [f"{e.kind} {getattr(e, 'address', '')}" for _, e in events_of(log, run)] for run in states},
            "steps": {run: steps_of(state) for run, state in states.items()},
            "status": states[RUN].status,
            "result": states[RUN].names["flow"],
            "agent calls": states[RUN].spent.agent_calls,
            "trace": (folder / "work" / "trace").read_text("utf-8").split(),
        }
    finally:
        log.close()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    killed, ending = _lived(tmp_path_factory.mktemp("uninterrupted"), 0)
    assert killed == 0
    return ending


def test_the_uninterrupted_flow_calls_each_agent_once(uninterrupted: dict[str, Any]) -> None:
    assert uninterrupted["status"] == "succeeded"
    assert uninterrupted["trace"] == flow_crashing.TRACE
    assert uninterrupted["result"] == {"attempts": 2, "by": "person:me", "checked": True, "drawn": True}
    assert uninterrupted["agent calls"] == 4


def test_a_driver_that_dies_in_a_flow_with_agents_changes_nothing(
    uninterrupted: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed, ending = _lived(tmp_path, SPREAD)
    with capsys.disabled():
        sys.stdout.write(f" [{killed} points of a flow with agents, each of them fatal once] ")
    assert killed >= 100 // SPREAD
    assert ending == uninterrupted
