"""The demo as a person without anything calls it: on a pipe, without a home, without a git identity."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handrail.cli.demo.record import TimelineBar
from handrail.cli.demo.timeline import render_timeline
from handrail.testing.leaks import processes_within
from support.cli.running import HANDRAIL, until

PARTS = ["project", "run", "kill", "resume", "approve", "merge", "graph", "timeline", "cost", "proof"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with git and Python, and nothing else."""

    root: Path

    @property
    def temporary(self) -> Path:
        return self.root / "odd name's folder"

    def environ(self, **more: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "TMPDIR": str(self.temporary), "NO_COLOR": "1", **more}

    def start(self, *words: str, **more: str) -> "subprocess.Popen[str]":
        self.temporary.mkdir(exist_ok=True)
        return subprocess.Popen(
            [HANDRAIL, "demo", *words],
            cwd="/",
            env=self.environ(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str, **more: str) -> tuple[int, str, str]:
        with self.start(*words, **more) as child:
            out, err = child.communicate()
        return child.returncode, out, err

    def left(self) -> list[str]:
        """What is left of a demo; processes that were just ended get the time to vanish."""
        until(lambda: not processes_within(self.temporary))
        return sorted(str(path) for path in self.temporary.iterdir())


@dataclass(frozen=True, slots=True)
class Kept:
    """A demo that was kept: what it showed, its document, and its folder."""

    machine: Machine
    text: str
    document: dict[str, Any]

    @property
    def folder(self) -> Path:
        return Path(self.document["kept"])

    def handrail(self, *words: str) -> str:
        environ = self.machine.environ(HANDRAIL_HOME=str(self.folder / "handrail"), HOME=str(self.folder / "home"))
        return subprocess.run(
            [HANDRAIL, *words], cwd=self.folder / "shop", env=environ, capture_output=True, text=True, check=True
        ).stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    machine = Machine(tmp_path_factory.mktemp("kept"))
    code, out, err = machine.call("--keep", "--json")
    assert code == 0, err + out
    yield Kept(machine, err, json.loads(out))
    assert processes_within(machine.temporary) == []
    shutil.rmtree(machine.temporary)


def test_every_part_is_shown_in_order(kept: Kept) -> None:
    shown = [
        *("1. ", "$ python3 -m unittest", "FAILED (failures=2)"),
        *("2. ", "$ handrail run demo", "▸ build[total]", "✗ build[receipt]/test ", "▸ build[receipt]/test/fix"),
        *("3. ", f"$ kill -9 {kept.document['killed']['pid']}", "$ handrail\n", "demo-1", "interrupted"),
        *("4. ", "$ handrail resume", "split, build[total] are done and not repeated"),
        *("✓ build[receipt]/test ", "✗ → fixed → ✓", "✓ build ", "2 of 2 items succeeded", "✓ combine"),
        *("✓ review ", "review ended after", "? ship ", "declined: rename total (callers would break)"),
        *("5. ", "$ handrail approve demo-1", "approved by you", "demo-1 succeeded"),
        *("6. ", "$ handrail merge demo-1", "Merged work/demo-1 into main", "$ git switch -q main", "  OK\n"),
        *("7. ", "$ git log --graph", "main", "Merge receipt", "Merge total", "A shop that adds up wrong"),
        *("8. ", "split", "kill -9", "resume", "ship", "9. ", "$ handrail cost demo-1", "$0.23"),
        *("10. ", "✓ Done", "✓ Nothing ran twice", "✓ Nothing was lost", "✓ The review ended", "✓ Your checkout"),
        *("$ export HANDRAIL_HOME=", "Next: cd your-repo && handrail init"),
    ]
    at = 0
    for words in shown:
        found = kept.text.find(words, at)
        assert found >= 0, f"{words!r} is missing after:\n{kept.text[:at]}"
        at = found


def test_the_document_names_the_parts_and_what_is_proven(kept: Kept) -> None:
    found = kept.document
    assert [(each["name"], each["ok"]) for each in found["parts"]] == [(name, True) for name in PARTS]
    assert all(each["seconds"] >= 0 for each in found["parts"])
    assert {name: found[name] for name in ("repeated", "lost", "unfinished", "tests_pass", "untouched", "cost")} == {
        "repeated": 0,
        "lost": 0,
        "unfinished": 0,
        "tests_pass": True,
        "untouched": True,
        "cost": 0.23,
    }
    assert found["declined"] == [{"file": "total.py", "message": "rename total", "reason": "callers would break"}]


def test_the_process_is_really_killed_and_the_agent_at_work_started_once(kept: Kept) -> None:
    assert kept.document["killed"]["signal"] == signal.SIGKILL
    assert (kept.folder / "home" / "witness").read_text() == "started\n"


def test_no_line_is_longer_than_80_columns_but_for_paths_and_nothing_is_coloured(kept: Kept) -> None:
    assert [line for line in kept.text.splitlines() if len(line) > 80 and kept.folder.name not in line] == []
    assert "\x1b" not in kept.text


def test_the_kept_repository_passes_its_tests_on_main(kept: Kept) -> None:
    tests = [sys.executable, "-m", "unittest", "-q"]
    done = subprocess.run(tests, cwd=kept.folder / "shop", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (kept.folder / "shop" / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_the_kept_run_can_be_looked_at(kept: Kept) -> None:
    run = json.loads(kept.handrail("status", "demo-1", "--json"))["runs"][0]
    assert (run["status"], run["cost"]) == ("succeeded", 0.23)
    assert "rename total" in kept.handrail("show", "demo-1", "review")


def test_nothing_is_left_where_the_terminal_is_dumb_and_the_home_cannot_be_written(machine: Machine) -> None:
    home = machine.root / "home"
    home.mkdir(mode=0o500)
    code, out, err = machine.call(TERM="dumb", HOME=str(home), LANG="C")
    assert (code, err) == (0, ""), out + err
    assert out.endswith("nothing of it is left on this machine.\nNext: cd your-repo && handrail init\n")
    assert "\x1b" not in out
    assert machine.left() == []
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "after", "code"),
    [
        (signal.SIGINT, "▸ build", 130),
        (signal.SIGTERM, "$ kill -9", 128 + signal.SIGTERM),
        (signal.SIGHUP, "$ handrail resume", 128 + signal.SIGHUP),
    ],
    ids=["Ctrl-C while agents work", "TERM after the kill", "HUP while it goes on"],
)
def test_a_demo_that_is_ended_leaves_nothing(machine: Machine, number: signal.Signals, after: str, code: int) -> None:
    with machine.start() as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.strip().startswith(after):
                break
        child.send_signal(number)
        rest, _ = child.communicate()
    assert child.returncode == code, rest
    assert "Next:" not in rest
    assert machine.left() == []


def test_a_reader_that_goes_away_ends_the_demo(machine: Machine) -> None:
    with machine.start() as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == ""
    assert child.returncode == 1
    assert machine.left() == []


def test_a_machine_without_git_is_told_so(machine: Machine) -> None:
    code, out, err = machine.call(PATH=str(machine.root))
    assert (code, out) == (1, "")
    assert err == "error: git is not installed, and the demo needs it\nnext: install git, then try again\n"
    assert machine.left() == []


def test_the_timeline_puts_every_step_where_it_lies_in_time() -> None:
    began = time.time()
    steps = (
        TimelineBar("split", "scripted", began, began + 3, cost="$0.02"),
        TimelineBar("build[receipt]/test/fix-and-more", "scripted", began + 3, began + 12, cost="$0.31"),
        TimelineBar("tests", "handrail", began + 12, began + 12, ok=False),
    )
    lines = render_timeline(steps, [(began + 6, "kill -9")])
    assert lines == [
        "✓  0.0s  split                   ━━━━━━                   scripted  3.0s $0.02",
        "✓  3.0s  build[receipt]/test/fi…       ━━━━━━━━━━━━━━━━━━ scripted  9.0s $0.31",
        "   6.0s  kill -9                             ╳",
        "✗   12s  tests                                          ━ handrail  0.0s      ",
    ]
    assert not any(re.search(r".{79}", line) for line in lines)
