"""Agents that a person looks at in a real tmux, while Handrail is killed, resumed and told to stop."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.sources.folders import user_folders
from handrail.testing.leaks import processes_within
from handrail.workspace.tmux import Sessions
from support.cli.running import HANDRAIL, until
from support.cli.screens import Screen
from support.cli.team import Team
from support.next_steps.follow import Shell, Typed, follow, in_process

WATCHED = """\
name: NAME
steps:
  - {name: work, prompt: Do the work now please., tmux: true}
"""
PLAIN = WATCHED.replace(", tmux: true", "")
FAN = """\
name: NAME
steps:
  - {name: items, type: script, command: "echo '[1, 2]'", returns: [int], output: items}
  - {name: build, type: parallel-agents, for_each: "${items}", prompt: "Take {{ item }} please, now."}
"""
WAITS: dict[str, Any] = {"run": ["echo ready", "until test -e go; do sleep 0.05; done"], "say": "All of it is done"}
SECRET = "sk-" + "ant-api03-" + "x9Kd" * 12


@pytest.fixture(autouse=True)
def sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder for tmux's sockets: a path that is as short as sockets need it."""
    with tempfile.TemporaryDirectory(prefix="hr-", dir="/tmp") as folder:
        monkeypatch.setenv("TMUX_TMPDIR", folder)
        yield


@contextmanager
def driven(team: Team, *args: str, **more: str) -> Generator["subprocess.Popen[str]"]:
    """A run that a process of its own drives; its agents go on at the latest when the test is over."""
    script = str(team.root.parent / "work.script.yaml")
    words = [HANDRAIL, "run", "work", "--agent", "scripted", "--script", script, *args]
    process = subprocess.Popen(
        words, cwd=team.root, env={**environ(team), **more}, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True
    )
    try:
        yield process
    finally:
        go(team)
        process.kill()
        process.communicate(timeout=60)
        until(lambda: nothing_is_left(team))


def environ(team: Team) -> dict[str, str]:
    return {**team.runs.environ(), "HOME": os.environ["HOME"], "TMUX_TMPDIR": os.environ["TMUX_TMPDIR"]}


def go(team: Team) -> None:
    """Let the agents go on."""
    for tree in user_folders(team.runs.environ()).data.glob("worktrees/*/work-1*/"):
        (tree / "go").touch()


def sessions(team: Team) -> Sessions:
    return Sessions(user_folders(team.runs.environ()).data)


def windows(team: Team, session: str = "work-1") -> int:
    return len(sessions(team).windows(session))


def attached(team: Team, *args: str) -> Screen:
    return Screen(
        ["attach", "work-1", *args], cwd=team.root, env={**environ(team), "TERM": "xterm-256color"}, columns=100
    )


def typed_on_a_screen(team: Team) -> Shell:
    """Type a line in a terminal, and wait until it ends."""

    def type_line(line: str) -> Typed:
        assert line == "handrail attach work-1"
        with attached(team) as screen:
            return Typed(line, screen.wait(), screen.text())

    return type_line


def leaves_at_once(team: Team) -> Shell:
    """Type a line in a terminal, and leave tmux as soon as an agent is seen."""

    def type_line(line: str) -> Typed:
        assert line == "handrail attach work-1"
        with attached(team) as screen:
            screen.until("· scripted")
            screen.ctrl("b")
            screen.type("d")
            return Typed(line, screen.wait(), screen.text())

    return type_line


def nothing_is_left(team: Team) -> bool:
    return not processes_within(team.root.parent)


@pytest.mark.system("tmux")
def test_an_agent_in_tmux_is_seen_adopted_after_kill_9_and_recorded_as_ever(team: Team) -> None:
    steering = f"printf '{SECRET} \\033[2J'; false"
    team.add("work", WATCHED, work=[{**WAITS, "run": [steering, *WAITS["run"]]}])
    with driven(team) as driver:
        until(lambda: windows(team) == 1)
        assert team.json("show", "work-1")["tmux_session"] == team.json("status", "work-1")["runs"][0]["tmux_session"]
        assert str(team.json("show", "work-1")["tmux_session"]).endswith("work-1")
        with attached(team) as screen:
            screen.until("work-1 work · scripted")
            seen = screen.until("Bash until test -e go")
            assert not [each for each in ('{"type"', "x9Kd") if each in seen]
            assert all(each in seen for each in ("[secret:", "␛[2J"))
            driver.kill()
            driver.communicate(timeout=60)
            go(team)
            assert "work-1 succeeded" in team.text("resume", "work-1", "--tmux")
            said = screen.until("the agent has ended; handrail status work-1 shows the state of the run")
            assert screen.wait() == 0
    follow(
        in_process(team.runs),
        said,
        "the agent has ended; handrail status {} shows the state of the run",
        shows="succeeded",
    )
    logged = [json.loads(line) for line in team.runs.call("logs", "work-1", "--json").output.splitlines()]
    (call,) = [event for event in logged if event["kind"] == "step_began"]
    (end,) = [event for event in logged if event["kind"] == "step_ended"]
    assert (call["spec"]["tmux"], end["status"], end["stdout"]) == (True, "succeeded", "All of it is done")


@pytest.mark.system("tmux")
def test_stop_ends_the_agent_its_window_and_the_server(team: Team) -> None:
    team.add("work", PLAIN, work=[WAITS])
    with driven(team, "--tmux") as driver:
        until(lambda: windows(team) == 1)
        assert "work-1 stopped by ann" in team.text("stop", "work-1")
        _, err = driver.communicate(timeout=60)
        said = follow(
            typed_on_a_screen(team),
            err,
            "each agent has a window in tmux: handrail attach {}",
            code=2,
            shows="no agent",
        )
        assert "handrail status work-1" in said.text
        until(lambda: nothing_is_left(team))
        assert windows(team) == 0


@pytest.mark.system("tmux")
def test_an_agent_of_the_background_driver_has_its_window_where_a_person_looks_for_it(team: Team) -> None:
    team.add("work", WATCHED, work=[WAITS])
    with driven(team, "--detach", HANDRAIL_DRIVER_IDLE="1") as started:
        assert "work-1 continues in process" in started.communicate(timeout=60)[1]
        until(lambda: windows(team) == 1)
        with attached(team) as screen:
            screen.until("work-1 work · scripted")
            assert windows(team) == 1
            go(team)
            screen.until("the agent has ended; handrail status work-1")
            assert screen.wait() == 0
        until(lambda: team.runs.json("status", "work-1")["runs"][0]["status"] == "succeeded")


@pytest.mark.system("tmux")
def test_any_agent_at_work_can_be_looked_at_and_goes_on_when_the_person_leaves(team: Team) -> None:
    team.add("work", FAN, default=[{**WAITS, "repeat": True}])
    processes = user_folders(team.runs.environ()).data / "runs"
    with driven(team) as driver:
        until(lambda: len(list(processes.glob("work-1.*/*/agent.0/process.json"))) == 2)
        with attached(team, "build[1]") as screen:
            screen.until("work-1 build[1]/build · scripted")
            screen.ctrl("b")
            screen.type("d")
            said = screen.until("work-1 continues; handrail attach work-1 shows it again")
            assert screen.wait() == 0
        follow(leaves_at_once(team), said, "{} continues; handrail attach {} shows it again", shows="work-1 continues")
        assert windows(team) == 2
        go(team)
        out, err = driver.communicate(timeout=60)
        assert "work-1 succeeded" in out, err


def test_a_run_that_asks_for_tmux_is_refused_where_there_is_none(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.add("work", WATCHED)
    team.add("plain", PLAIN)
    _only_git(team.root.parent / "bin", monkeypatch)
    refusal = snapshot("""\
error: tmux is not installed: there is no `tmux` on the PATH
next: install tmux (apt install tmux, brew install tmux)
""")
    assert team.run("work", code=1) == refusal
    assert team.run("plain", "--tmux", code=1) == refusal
    assert team.text("status") == "no runs yet; handrail run WORKFLOW starts one\n"


def _only_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(folder))


def test_a_window_needs_a_terminal(team: Team) -> None:
    team.add("work", PLAIN, work=[{"say": "done"}])
    team.run("work")
    assert team.text("attach", "work-1", code=2) == snapshot("""\
error: handrail attach needs a terminal
next: handrail logs work-1
""")


@pytest.mark.system("tmux")
def test_a_window_needs_an_agent_at_work(team: Team) -> None:
    team.add("work", PLAIN, work=[{"say": "done"}])
    team.run("work")
    with attached(team) as screen:
        assert screen.wait() in (1, 2)
        assert "no agent of work-1 is working" in screen.text()
