"""Whatever moment a driver is killed at around queueing, admission and release: the queue goes on, one by one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.model.history.run_lines import Filter
from handrail.runtime.admission import GATE, KEY, PLACE
from handrail.store.sqlite.log import open_log
from support.runtime import queue_crashing
from support.runtime.room import assert_sound

SPREAD = 1 if os.environ.get("HANDRAIL_SOAK") else 4
"""One of so many points is fatal."""


@pytest.mark.timeout(280)
def test_a_driver_that_dies_at_the_points_of_a_queue_lets_none_in_twice_and_loses_none(tmp_path: Path) -> None:
    words = [sys.executable, queue_crashing.__file__, "keyed", str(tmp_path), "0", str(SPREAD)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=270)
    assert done.returncode == 0, done.stderr
    points = (tmp_path / "killed").read_text("utf-8").splitlines()
    assert int(done.stdout) == len(points) >= 60 // SPREAD
    assert any(each.endswith(GATE) for each in points)
    assert any(f" {PLACE}" in each or f" {KEY}" in each for each in points)
    made = [f"keyed-{number}" for number in range(1, queue_crashing.RUNS + 1)]
    wanted = [f"{run} {word}" for run in made for word in ("in", "out")]
    assert (tmp_path / "work" / "trace").read_text("utf-8").splitlines() == wanted
    log = open_log(tmp_path / "data")
    try:
        assert_sound(log)
        assert not log.pending_streams()
        assert [row.document["status"] for row in log.summaries(Filter())] == ["succeeded"] * len(made)
        assert log.holder(GATE) is None
        assert not any(log.holder(f"{prefix}{run}") for prefix in (KEY, PLACE) for run in made)
    finally:
        log.close()
