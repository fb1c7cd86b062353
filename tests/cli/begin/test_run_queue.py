"""Runs that wait for their turn, as a person sees them: real processes of the command."""

import signal
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.cli.live.follow_run import HUNG_UP
from handrail.runtime.history import state_of
from handrail.store.sqlite.log import open_log
from support.cli.running import Runs, until

pytestmark = pytest.mark.system  # takes long: many processes of its own

HOLDS = """\
name: NAME
concurrency: {key: deps, if_running: HOW}
steps:
  - {name: wait, command: 'echo $HANDRAIL_RUN >> begun; while [ ! -e go ]; do sleep 0.02; done; echo x >> trace'}
"""
WIDE = """\
name: wide
steps:
  - name: work
    command: |
      echo in >> trace
      while [ ! -e go ]; do sleep 0.02; done
      sleep 0.05; echo out >> trace
"""


def add(runs: Runs, name: str, how: str) -> None:
    runs.add(name, HOLDS.replace("NAME", name).replace("HOW", how))


def status(runs: Runs, run: str) -> str:
    (found,) = [each for each in runs.json("status")["runs"] if each["run"] == run] or [{"status": ""}]
    return str(found["status"])


def code(process: "subprocess.Popen[str]") -> int:
    process.communicate(timeout=120)
    return process.returncode


def let_go(runs: Runs) -> None:
    (runs.shop.root / "go").touch()


def begun(runs: Runs) -> bool:
    return (runs.shop.root / "begun").exists()


def test_a_run_in_a_terminal_says_behind_which_one_it_waits_and_goes_on_by_itself(runs: Runs) -> None:
    add(runs, "deps", "queue")
    first = runs.process("run", "deps")
    until(lambda: begun(runs))
    second = runs.process("run", "deps")
    until(lambda: status(runs, "deps-2") == "queued")
    until(lambda: "queued behind" in runs.text("why", "deps-2"))
    lines = [" ".join(line.split()) for line in runs.text("status").splitlines()]
    assert [line for line in lines if line.startswith("WAITING")] == snapshot(
        ["WAITING deps-2 queued behind deps-1: same concurrency key 'deps' handrail why deps-2"]
    )
    assert "  deps-2 queued behind deps-1: same concurrency key 'deps'" in runs.text("doctor").splitlines()
    (document,) = [each for each in runs.json("status")["runs"] if each["run"] == "deps-2"]
    assert document["queue"] == snapshot(
        {"waits_for": "key", "behind": ["deps-1"], "words": "queued behind deps-1: same concurrency key 'deps'"}
    )
    let_go(runs)
    assert code(first) == 0
    out, _ = second.communicate(timeout=60)
    assert second.returncode == 0
    assert runs.masked(out) == snapshot("""\
run deps-2 · pinned 0000 · 0 agent calls
… queued behind deps-1: same concurrency key 'deps'
✓ its turn has come
✓ wait  0.0s
deps-2 succeeded
""")


def test_a_run_that_is_skipped_says_so_and_ends_well(runs: Runs) -> None:
    add(runs, "deps", "skip")
    first = runs.process("run", "deps")
    until(lambda: begun(runs))
    assert runs.text("run", "deps") == snapshot("""\
run deps-2 · pinned 0000 · 0 agent calls
deps-2 skipped: deps-1 has the same concurrency key 'deps' and is still running (if_running: skip)
""")
    assert status(runs, "deps-2") == "cancelled"
    let_go(runs)
    assert code(first) == 0
    assert runs.text("run", "deps").endswith("deps-3 succeeded\n")


def test_a_newer_run_stops_the_older_one(runs: Runs) -> None:
    add(runs, "deps", "stop_old")
    first = runs.process("run", "deps")
    until(lambda: begun(runs))
    second = runs.process("run", "deps")
    out, _ = first.communicate(timeout=60)
    assert first.returncode == 1
    assert "deps-1 stopped: deps-2 took over its concurrency key 'deps' (if_running: stop_old)" in out
    let_go(runs)
    assert code(second) == 0


def test_ctrl_c_pauses_a_run_in_the_queue(runs: Runs) -> None:
    add(runs, "deps", "queue")
    first = runs.process("run", "deps")
    until(lambda: begun(runs))
    second = runs.process("run", "deps")
    until(lambda: "queued behind" in runs.text("why", "deps-2") if status(runs, "deps-2") == "queued" else False)
    second.send_signal(signal.SIGINT)
    assert code(second) == 130
    assert status(runs, "deps-2") == "waiting"
    let_go(runs)
    assert code(first) == 0
    assert runs.text("resume", "deps-2").endswith("deps-2 succeeded\n")


def test_ten_runs_share_three_places(runs: Runs, tmp_path: Path) -> None:
    runs.add("wide", WIDE)
    (runs.shop.home / "config.toml").write_text("[resources]\nmax_concurrent_instances = 3\n")
    made = [runs.process("run", "wide") for _ in range(4)]
    for _ in range(6):
        assert runs.call("run", "wide", "--detach").exit_code == 0
    until(lambda: runs.trace().count("in") == 3)
    until(lambda: sum(each["status"] == "queued" for each in runs.json("status")["runs"]) == 7)
    assert runs.trace().count("in") == 3
    let_go(runs)
    for each in made:
        assert code(each) == 0
    until(lambda: all(each["status"] == "succeeded" for each in runs.json("status")["runs"]), 120)
    width = most = 0
    for line in runs.trace():
        width += 1 if line == "in" else -1
        most = max(most, width)
    assert (most, runs.trace().count("out")) == (3, 10)
    runs.end_driver()
    log = open_log(runs.shop.home / "data")
    assert {state_of(log, f"wide-{number}").status for number in range(1, 11)} == {"succeeded"}
    log.close()


def test_a_killed_run_leaves_its_place_to_the_next(runs: Runs) -> None:
    runs.add("wide", WIDE)
    (runs.shop.home / "config.toml").write_text("[resources]\nmax_concurrent_instances = 1\n")
    first = runs.process("run", "wide")
    until(lambda: runs.trace() == ["in"])
    second = runs.process("run", "wide")
    until(lambda: status(runs, "wide-2") == "queued")
    first.kill()
    code(first)
    until(lambda: runs.trace() == ["in", "in"])
    let_go(runs)
    assert code(second) == 0
    # Whoever waits in the queue starts a background driver for a run that has lost its own; it may be first.
    runs.call("resume", "wide-1")
    until(lambda: status(runs, "wide-1") == "succeeded")
    runs.end_driver()


def test_a_run_in_the_queue_waits_on_in_the_background_when_its_terminal_is_closed(runs: Runs) -> None:
    add(runs, "deps", "queue")
    first = runs.process("run", "deps")
    until(lambda: begun(runs))
    second = runs.process("run", "deps")
    until(lambda: "queued behind" in runs.text("why", "deps-2") if status(runs, "deps-2") == "queued" else False)
    second.send_signal(signal.SIGHUP)
    assert code(second) == HUNG_UP
    assert status(runs, "deps-2") == "queued"
    let_go(runs)
    assert code(first) == 0
    until(lambda: status(runs, "deps-2") == "succeeded", 120)
    assert runs.trace() == ["x", "x"]
    runs.end_driver()
