"""Runs in processes of their own: Ctrl-C, kill -9, two on one run, and terminals."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.running import ASKING, SLOW, Runs, until
from support.cli.screens import Screen

pytestmark = pytest.mark.system  # takes long


def started(runs: Runs, *args: str) -> "subprocess.Popen[str]":
    """Start the slow workflow and wait until its second step runs."""
    runs.add("slow", SLOW)
    process = runs.process("run", "slow", *args)
    until(lambda: runs.trace() == ["first", "wait"])
    return process


def ended(runs: Runs, process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, runs.masked(out), runs.masked(err)


def test_ctrl_c_pauses_ends_the_command_and_loses_nothing(runs: Runs) -> None:
    process = started(runs)
    process.send_signal(signal.SIGINT)
    assert ended(runs, process) == snapshot(
        (
            130,
            """\
run slow-1 · pinned 0000 · 0 agent calls
✓ first  0.0s
paused slow-1 at wait
next: handrail resume slow-1
""",
            "",
        )
    )
    assert runs.text("status") == snapshot("PAUSED  slow-1  wait  handrail resume slow-1\n")
    (runs.shop.root / "go").touch()
    assert runs.text("resume") == snapshot("""\
slow-1: first is done and not repeated
✓ wait  0.0s
✓ last  0.0s
slow-1 succeeded
""")
    assert runs.trace() == ["first", "wait", "wait", "last"]


def test_ctrl_c_in_json_is_still_one_document(runs: Runs) -> None:
    process = started(runs, "--json")
    process.send_signal(signal.SIGINT)
    code, out, _ = ended(runs, process)
    assert code == 130
    assert '"reason": "pause"' in out


def test_the_second_process_on_a_run_says_who_drives_it(runs: Runs) -> None:
    process = started(runs)
    try:
        assert runs.text("resume", "slow-1", code=1) == snapshot("""\
error: slow-1 is driven by handrail run (process PID)
next: handrail status slow-1
""")
        assert runs.text("status") == snapshot("RUNNING  slow-1  wait  in process PID  handrail logs slow-1\n")
        assert runs.text("resume", code=2).startswith("error: no run can be resumed")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_stop_reaches_the_process_that_drives(runs: Runs) -> None:
    process = started(runs)
    assert runs.text("stop", "slow-1") == "slow-1 stopped by ann\n"
    assert ended(runs, process) == snapshot(
        (
            1,
            """\
run slow-1 · pinned 0000 · 0 agent calls
✓ first  0.0s
slow-1 stopped by ann
""",
            "",
        )
    )
    assert runs.trace() == ["first", "wait"]


def test_after_kill_9_resume_adopts_the_command_that_still_runs(runs: Runs) -> None:
    runs.add("slow", SLOW.replace("test -e go || exec sleep 300", "until test -e go; do sleep 0.05; done"))
    process = runs.process("run", "slow")
    until(lambda: runs.trace() == ["first", "wait"])
    process.kill()
    process.communicate(timeout=60)
    assert runs.text("status") == snapshot(
        "PAUSED  slow-1  wait  interrupted: no process is running it  handrail resume slow-1\n"
    )
    (runs.shop.root / "go").touch()
    assert runs.json("resume")["status"] == "succeeded"
    assert runs.trace() == ["first", "wait", "last"]


def test_after_kill_9_stop_ends_the_command_that_still_runs(runs: Runs) -> None:
    runs.add("slow", SLOW.replace("exec sleep 300", "echo $$ > pid; exec sleep 300"))
    process = runs.process("run", "slow")
    until(lambda: (runs.shop.root / "pid").exists() and (runs.shop.root / "pid").read_text().strip() != "")
    process.kill()
    process.communicate(timeout=60)
    pid = int((runs.shop.root / "pid").read_text())
    assert runs.text("stop", "slow-1") == "slow-1 stopped by ann\n"
    until(lambda: not Path(f"/proc/{pid}").exists())


def on_terminal(runs: Runs, *args: str) -> Screen:
    """Run a command on a terminal."""
    return Screen(runs.shop.in_place(args), cwd=runs.shop.root, env={**runs.environ(), "NO_COLOR": "1"}, columns=200)


def test_on_a_terminal_an_approval_is_asked_in_place(runs: Runs) -> None:
    runs.add("ask", ASKING)
    with on_terminal(runs, "run", "ask") as screen:
        screen.until("\n> ")
        screen.type("r\n")
        screen.until("what should change: ")
        screen.type("shorter\n")
        screen.until(lambda text: text.count("needs you") == 2 and text.endswith("\n> "))
        screen.type("a\n")
        assert screen.wait() == 0
        assert runs.masked(screen.shown()) == snapshot("""\
run ask-1 · pinned 0000 · 0 agent calls
✓ draft  0.0s
? ok     needs you
    Is "draft" good?
  [a]pprove  [r]evise with a comment  re[j]ect   or later: handrail approve ask-1
> r
  what should change: shorter
✓ ok     sent back by ann: shorter
✓ draft  0.0s
? ok     needs you
    Is "draft" good?
  [a]pprove  re[j]ect   or later: handrail approve ask-1
> a
✓ ok     approved by ann
✓ ship   0.0s
ask-1 succeeded
""")


def test_ctrl_c_at_the_question_leaves_it_open(runs: Runs) -> None:
    runs.add("ask", ASKING)
    with on_terminal(runs, "run", "ask") as screen:
        screen.until("\n> ")
        screen.ctrl("c")
        assert screen.wait() == 130
        assert "ask-1 is waiting for your answer: handrail approve ask-1" in screen.text()
    assert runs.json("approve", "ask-1")["status"] == "succeeded"


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 3)])
def test_on_a_terminal_trust_is_asked_inline_once_for_workflow_and_checks(runs: Runs, answer: str, code: int) -> None:
    runs.shop.workflow("proj", "name: NAME\nsteps:\n  - {name: g, type: gate, checks: project}\n")
    runs.shop.write(".handrail/config.toml", '[checks]\ntest = "true"\n')
    with on_terminal(runs, "run", "proj") as screen:
        screen.until("Trust this content?")
        screen.type(answer)
        assert screen.wait() == code
        assert screen.text().count("Trust this content?") == 1
        assert "check test: true" in screen.text()


def test_a_detached_run_goes_on_in_the_background_driver_through_approval(runs: Runs) -> None:
    runs.add("ask", ASKING)
    assert runs.text("run", "ask", "--detach", HANDRAIL_DRIVER_IDLE="2") == snapshot("""\
run ask-1 · pinned 0000 · 0 agent calls
ask-1 continues in process PID; handrail status ask-1 shows its progress
""")
    until(lambda: runs.json("status", "ask")["runs"][0]["reason"] == "approval")
    said = runs.text("approve", "ask", "--detach", HANDRAIL_DRIVER_IDLE="2")
    assert said == "ask-1 continues in process PID; handrail status ask-1 shows its progress\n"
    until(lambda: runs.json("status", "ask")["runs"][0]["status"] == "succeeded")
    until(lambda: "background driver" not in runs.text("status"))


def test_a_run_that_the_background_driver_got_first_is_followed_to_its_end(runs: Runs) -> None:
    runs.add("slow", SLOW)
    (runs.shop.root / "go").touch()
    runs.text("run", "slow", "--detach", HANDRAIL_DRIVER_IDLE="2")
    for _ in range(3):
        assert runs.text("run", "slow").endswith(" succeeded\n")


def test_ctrl_c_pauses_children_too_and_resume_goes_on_with_them(runs: Runs) -> None:
    runs.add("slow", SLOW)
    runs.add("parent", "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: slow}\n")
    process = runs.process("run", "parent")
    until(lambda: runs.trace() == ["first", "wait"])
    process.send_signal(signal.SIGINT)
    code, out, _ = ended(runs, process)
    assert (code, out.splitlines()[-2:]) == (130, ["paused parent-1 at kid", "next: handrail resume parent-1"])
    assert [runs.json("status", run)["runs"][0]["reason"] for run in ("parent-1", "parent-1.2")] == ["pause", "pause"]
    (runs.shop.root / "go").touch()
    assert runs.json("resume")["status"] == "succeeded"
    assert runs.trace() == ["first", "wait", "wait", "last"]


def test_ctrl_c_while_a_retry_is_waited_for_pauses_and_resume_keeps_the_rest_of_the_wait(runs: Runs) -> None:
    runs.add("again", "name: NAME\nsteps:\n  - {name: a, command: 'exit 1', retry: {max: 2, backoff: 300s}}\n")
    process = runs.process("run", "again")
    until(lambda: [each["reason"] for each in runs.json("status")["runs"]] == ["timer"])
    process.send_signal(signal.SIGINT)
    assert ended(runs, process) == snapshot(
        (
            130,
            """\
run again-1 · pinned 0000 · 0 agent calls
✗ a  0.0s  command: exit 1
… a  try 2 follows at TIME
paused again-1 at a
next: handrail resume again-1
""",
            "",
        )
    )
    paused = re.sub(r"\d\d:\d\d", "00:00", runs.text("status"))
    assert paused == snapshot("PAUSED  again-1  a, try 2 of 3  until 00:00  handrail resume again-1\n")
    process = runs.process("resume", "again")
    until(lambda: [each["reason"] for each in runs.json("status")["runs"]] == ["timer"])
    process.send_signal(signal.SIGINT)
    assert ended(runs, process) == snapshot(
        (
            130,
            """\
paused again-1 at a
next: handrail resume again-1
""",
            "again-1: try 2 of a follows at TIME\n",
        )
    )


def test_many_processes_start_runs_of_one_workflow_at_once(runs: Runs) -> None:
    runs.add("slow", SLOW)
    (runs.shop.root / "go").touch()
    processes = [runs.process("run", "slow", "--json") for _ in range(4)]
    assert [ended(runs, each)[0] for each in processes] == [0, 0, 0, 0]
    assert sorted(each["run"] for each in runs.json("status")["runs"]) == ["slow-1", "slow-2", "slow-3", "slow-4"]
    assert sorted(runs.trace()) == sorted(["first", "wait", "last"] * 4)
