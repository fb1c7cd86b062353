"""The machine's clock is set while a run works and waits: every length stays what it is."""

import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from handrail.runtime.ports import MAX_SKEW
from support.security.black_box import PATIENCE, PROGRAM, Answer, BlackBox

WAIT = 6
EXACTLY = 2 * MAX_SKEW
"""Seconds by which a wait may be shorter: how exactly a set clock is measured, and that of `/proc/uptime`."""
MOST = 600
"""Seconds that nothing here takes, and far less than the clock is set by."""
WORKFLOW = """
name: slow
timeout: 55m
budget: {{minutes: 60}}
steps:
  - {{name: work, timeout: 50m, command: 'touch {loot}/began; until test -e {loot}/go; do sleep 0.1; done'}}
  - name: again
    command: |
      cut -d " " -f 1 /proc/uptime >> {loot}/tries
      until test -e {loot}/on; do sleep 0.1; done
      test $(wc -l < {loot}/tries) -gt 1
    retry: {{max: 2, backoff: {wait}s}}
"""


def _wait_for(path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} did not come"
        time.sleep(0.05)


def _fake_clock(box: BlackBox) -> dict[str, str]:
    """Variables under which a program goes by the clock that a file says, which may change while it runs."""
    says = {"FAKETIME_TIMESTAMP_FILE": str(box.base / "clock"), "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
    return {"LD_PRELOAD": _library(), **says}


@cache
def _library() -> str:
    """Find the library; the program refuses to start where a killed one of the same process id left its memory."""
    words = ["faketime", "-f", "+0", "printenv", "LD_PRELOAD"]
    tries = (subprocess.run(words, capture_output=True, text=True, check=False) for _ in range(10))
    return next(done.stdout.strip() for done in tries if done.returncode == 0)


def _set_clock(box: BlackBox, by: str) -> None:
    new = box.base / "clock.new"
    new.write_text(f"{by}\n", "ascii")
    new.rename(box.base / "clock")


@contextmanager
def _running(box: BlackBox, *words: str) -> Generator["subprocess.Popen[bytes]"]:
    env = {**box.env, **_fake_clock(box)}
    pipe = subprocess.PIPE
    started = subprocess.Popen([PROGRAM, *words], cwd=box.repository, env=env, stdout=pipe, stderr=subprocess.STDOUT)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def _call(box: BlackBox, *words: str) -> Answer:
    return replace(box, environ=_fake_clock(box)).call(*words)


def _assert_lengths(box: BlackBox) -> None:
    first, second = map(float, (box.loot / "tries").read_text("ascii").split())
    assert WAIT - EXACTLY <= second - first < MOST, _call(box, "logs", "slow-1", "--json").text
    cost = _call(box, "cost", "slow-1", "--json").document
    assert 0 <= cost["total"]["seconds"] < MOST, cost
    assert [WAIT - EXACTLY <= each["elapsed"] < MOST for each in cost["runs"]] == [True], cost
    for words in (("cost", "slow-1"), ("status", "slow-1"), ("show", "slow-1"), ("show", "slow-1", "work")):
        told = _call(box, *words)
        assert told.exit_code == 0, told.text
        assert "h00m" not in told.text, told.text


@pytest.mark.system("faketime")
@pytest.mark.parametrize(("first", "then"), [("+10d", "+20d"), ("-10d", "-20d"), ("+10d", "-10d")])
def test_a_clock_that_is_set_changes_no_wait_no_duration_no_timeout_and_no_budget(
    box: BlackBox, first: str, then: str
) -> None:
    box.write_own("workflows/slow/workflow.yaml", WORKFLOW.format(loot=box.loot, wait=WAIT))
    (box.loot / "on").touch()
    _set_clock(box, "+0d")
    with _running(box, "run", "slow") as running:
        _wait_for(box.loot / "began")
        _set_clock(box, first)
        (box.loot / "go").touch()
        _wait_for(box.loot / "tries")
        _set_clock(box, then)
        out, _ = running.communicate(timeout=PATIENCE)
    assert "slow-1 succeeded" in out.decode(), out.decode()
    assert "h00m" not in out.decode(), out.decode() + _call(box, "logs", "slow-1", "--json").text
    _assert_lengths(box)


@pytest.mark.system("faketime")
@pytest.mark.parametrize("by", ["+10d", "-10d"])
def test_a_run_that_was_killed_goes_on_by_a_clock_that_was_set_meanwhile(box: BlackBox, by: str) -> None:
    box.write_own("workflows/slow/workflow.yaml", WORKFLOW.format(loot=box.loot, wait=WAIT))
    _set_clock(box, "+0d")
    with _running(box, "run", "slow") as running:
        _wait_for(box.loot / "began")
        running.kill()
    _set_clock(box, by)
    with _running(box, "resume", "slow-1") as running:
        (box.loot / "go").touch()
        _wait_for(box.loot / "tries")
        running.kill()
    # Before it waits: a person who resumes a run that waits lets it go on at once.
    (box.loot / "on").touch()
    _set_clock(box, "+0d")
    assert "slow-1 succeeded" in _call(box, "resume", "slow-1").text
    _assert_lengths(box)
