"""A disk that is really full: the run says what to do, loses nothing, and ends as if nothing had been."""

import os
from collections.abc import Iterator

import pytest
from inline_snapshot import snapshot

from support.cli.running import Runs
from support.cli.small_disk import SmallDisk, run_process, small_disk, with_file_limit

SOAK = bool(os.environ.get("HANDRAIL_SOAK"))

STEPS = """\
name: NAME
steps:
  - {name: a, command: 'echo a >> trace; echo one', output: one}
  - {name: b, command: 'echo b >> trace; FILL echo two ${one}', output: two}
  - {name: c, command: 'echo c >> trace; seq 3000', output: three}
  - {name: d, command: 'echo d >> trace; echo ${two}', output: four}
"""
FILLING = 'test -e filled || { touch filled; cat /dev/zero > "$HOME_OF_RUNS/ballast"; };'
MANY = """\
name: NAME
steps:
  - name: rounds
    type: loop
    for: 12
    max_iterations: 12
    steps:
      - {name: r, command: 'echo r >> trace; seq 5000', output: said}
"""


@pytest.fixture
def disk(runs: Runs) -> Iterator[SmallDisk]:
    with small_disk(runs) as found:
        assert found is not None
        yield found


def _add(disk: SmallDisk, name: str, fill: str = "", *, once: bool = False) -> None:
    steps = STEPS.replace("output: two", "output: two, repeatable: false") if once else STEPS
    text = steps.replace("FILL", fill.replace("$HOME_OF_RUNS", str(disk.runs.shop.home)))
    disk.runs.shop.workflow(name, text)
    assert disk.call("trust", name, "--yes").code == 0


def _outputs(disk: SmallDisk) -> object:
    """What a run leaves that nothing disturbs."""
    _add(disk, "calm")
    found = disk.call("run", "calm", "--json").json["outputs"]
    (disk.runs.shop.root / "trace").unlink()
    return found


@pytest.mark.system("disk of a name space")
def test_a_disk_that_a_step_fills_blocks_the_run_and_a_resume_ends_it(disk: SmallDisk) -> None:
    expected = _outputs(disk)
    _add(disk, "full", FILLING)
    ran = disk.call("run", "full")
    assert (ran.code, ran.err) == snapshot(
        (
            3,
            """\
error: there is no disk space left for the output of the command in HOME/data/runs/full-1/4/0.0
next: free some disk space, then resume: the command is run again
""",
        )
    )
    assert disk.call("doctor").code == 0
    assert disk.call("status").out.splitlines()[0] == snapshot(
        "PAUSED  full-1  b  interrupted: no process is running it  handrail resume full-1"
    )
    again = disk.call("resume", "full-1")
    assert again.code == 3
    recorded = disk.call("logs", "full-1", "--json").out.splitlines()
    disk.free()
    resumed = disk.call("resume", "full-1", "--json")
    assert (resumed.code, resumed.json["status"], resumed.json["outputs"]) == (0, "succeeded", expected)
    assert disk.call("logs", "full-1", "--json").out.splitlines()[: len(recorded)] == recorded
    trace = disk.runs.trace()
    assert (trace[0], trace.count("a"), trace[-2:]) == ("a", 1, ["c", "d"])
    assert disk.call("doctor", "--json").json["healthy"] is True


@pytest.mark.system("disk of a name space")
def test_wherever_the_disk_gets_full_nothing_is_lost_and_a_resume_ends_the_run(disk: SmallDisk) -> None:
    expected = _outputs(disk)
    _add(disk, "full")
    blocked = 0
    for left in (0, 8, 32, 64, 96, 128, 192, 256, 384) if SOAK else (0, 96, 384):
        disk.fill(left << 10)
        ran = disk.call("run", "full", "--json")
        disk.free()
        newest = disk.call("status", "--json").json["runs"][0]
        if ran.code == 3 and newest["status"] in ("running", "blocked"):
            blocked += 1
            ran = disk.call("resume", newest["run"], "--json")
        elif ran.code == 3:
            # There was no room even for its beginning.
            ran = disk.call("run", "full", "--json")
        assert (ran.code, ran.json.get("outputs")) == (0, expected), (left, ran)
    assert blocked > 0
    assert disk.call("doctor", "--json").json["healthy"] is True


@pytest.mark.system("disk of a name space")
def test_what_must_not_run_twice_waits_for_a_person_when_its_output_found_no_room(disk: SmallDisk) -> None:
    _add(disk, "full", FILLING, once=True)
    assert disk.call("run", "full").code == 3
    disk.free()
    resumed = disk.call("resume", "full-1", "--json")
    assert (resumed.code, resumed.json["status"], resumed.json["reason"]) == (3, "blocked", "step")
    assert resumed.json["error"] == snapshot(
        "step 'b' ran out of disk space for its output, and it must not be run twice (`repeatable: false`)"
    )
    assert disk.runs.trace() == ["a", "b"]
    assert disk.call("resume", "full-1").code == 0
    assert disk.runs.trace() == ["a", "b", "b", "c", "d"]


@pytest.mark.system("disk of a name space")
def test_nothing_begins_on_a_full_disk(disk: SmallDisk) -> None:
    _add(disk, "full")
    disk.fill()
    ran = disk.call("run", "full")
    assert (ran.code, ran.err) == snapshot(
        (
            3,
            """\
error: there is no room left for the log in HOME/data/handrail.db
next: free up space on that disk, then resume; everything recorded so far is safe
""",
        )
    )
    assert disk.runs.trace() == []


@pytest.mark.system("disk of a name space")
def test_a_disk_that_became_read_only_is_named_and_the_answer_is_taken_afterwards(disk: SmallDisk) -> None:
    disk.runs.shop.workflow("ask", "name: NAME\nsteps:\n  - {name: ok, type: approval}\n")
    assert disk.call("trust", "ask", "--yes").code == 0
    assert disk.call("run", "ask").code == 3
    disk.mode("ro")
    refused = disk.call("approve", "ask-1")
    assert (refused.code, refused.err) == snapshot(
        (
            3,
            """\
error: the log in HOME/data/handrail.db cannot be written: Read-only file system
next: make the folder writable for your user, or set HANDRAIL_HOME to a folder that is
""",
        )
    )
    disk.mode("rw")
    assert disk.call("approve", "ask-1", "--json").json["status"] == "succeeded"


def test_files_that_may_not_grow_block_the_run_and_a_resume_ends_it(runs: Runs) -> None:
    runs.add("many", MANY)
    ran = with_file_limit(runs, 400_000, "run", "many")
    assert ran.code == 3
    assert "there is no room left for the log in HOME/data/handrail.db" in ran.out + ran.err
    assert "free up space on that disk, then resume; everything recorded so far is safe" in ran.out + ran.err
    before = run_process(runs, "logs", "many-1", "--json").out.splitlines()
    done = len([line for line in before if '"step_ended"' in line])
    assert 0 < done < 12
    resumed = run_process(runs, "resume", "many-1", "--json")
    assert (resumed.code, resumed.json["outputs"]["said"]) == (0, "\n".join(str(each) for each in range(1, 5001)))
    assert run_process(runs, "logs", "many-1", "--json").out.splitlines()[: len(before)] == before
    assert runs.json("doctor")["healthy"] is True
