"""Many agents at once: none shares anything with another, the rest waits in order, and one of many claims counts."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from support.cli.running import until
from support.github.double import GitHubDouble
from support.issue_to_merge.host_room import HostRoom, open_room
from support.security.black_box import PROGRAM

pytestmark = pytest.mark.system  # takes long: many processes of its own

CAP = 3
WORKS = """\
name: NAME
input: {issue: issue}
steps:
  - {name: work, agent: scripted, prompt: "Do {{ issue.title }}"}
"""
TURN = """\
echo "in $RUN $PWD" >> "$TRACE"; while [ ! -e "$TRACE.go" ]; do sleep 0.05; done; echo "out $RUN $PWD" >> "$TRACE"
"""
MACHINES = 20


@pytest.fixture
def trace(room: HostRoom) -> Path:
    """Write what the agents do: say that they are there, and stay until they may go."""
    path = room.box.base / "trace"
    # The name of the worktree is that of its run.
    script = TURN.replace("$TRACE", str(path)).replace("$RUN", "${PWD##*/}").strip()
    (room.box.base / "play.yaml").write_text(f"work: {{run: '{script}', say: Done., repeat: true}}\n")
    room.add("works", WORKS)
    room.box.write_own("config.toml", f"[resources]\nmax_concurrent_instances = {CAP}\n")
    return path


def lines(trace: Path, word: str) -> list[str]:
    """List the runs, or with them the folders, that began or ended to work."""
    found = trace.read_text("utf-8").splitlines() if trace.exists() else []
    return [each.partition(" ")[2] for each in found if each.startswith(f"{word} ")]


def check_apart(room: HostRoom, runs: list[str]) -> None:
    """Check that no two runs share a worktree or a branch."""
    documents = [room.json("show", run) for run in runs]
    assert len({each["worktree"] for each in documents}) == len(runs)
    assert sorted(each["branch"] for each in documents) == sorted(f"work/{run}" for run in runs)


def test_ten_agents_on_ten_issues_take_turns_in_order(room: HostRoom, trace: Path) -> None:
    ann = room.github.person("ann", "write")
    for number in range(10):
        ann.open_issue(f"Issue {number}")
    script = str(room.box.base / "play.yaml")
    room.call("run", "works", "--ready", "-n", "10", "--agent", "scripted", "--script", script)
    runs = [f"work-{number}-a1" for number in range(1, 11)]
    until(lambda: len(lines(trace, "in")) == CAP)
    rows = room.json("status")["runs"]
    assert sorted(each["run"] for each in rows if each["status"] == "queued") == sorted(runs[CAP:])
    assert [each.split()[0] for each in lines(trace, "in")] == runs[:CAP]
    Path(f"{trace}.go").touch()
    until(lambda: len(lines(trace, "out")) == 10, 120)
    began = [each.split()[0] for each in lines(trace, "in")]
    assert Counter(began) == Counter(runs)
    for run in runs:
        room.reach(run, "succeeded")
    # Those that are admitted together begin in any order.
    assert all(abs(began.index(run) - runs.index(run)) < CAP for run in runs), began
    check_apart(room, runs)


@pytest.mark.system("tmux")
def test_five_agents_on_one_issue_share_no_session_either(room: HostRoom, trace: Path) -> None:
    number = room.github.person("ann", "write").open_issue("It crashes")
    script = str(room.box.base / "play.yaml")
    words = ("run", "works", "--issue", str(number), "--detach", "--tmux", "--agent", "scripted", "--script", script)
    started = [room.start(*words) for _ in range(5)]
    for each in started:
        said, _ = each.communicate(timeout=120)
        assert each.returncode == 0, said
    runs = [f"work-{number}-a{agent}" for agent in range(1, 6)]
    until(lambda: len(lines(trace, "in")) == CAP, 120)
    assert sorted(each["run"] for each in room.json("status")["runs"]) == runs
    assert sum(each["status"] == "queued" for each in room.json("status")["runs"]) == 5 - CAP
    Path(f"{trace}.go").touch()
    for run in runs:
        room.reach(run, "succeeded")
    check_apart(room, runs)
    assert Counter(each.split()[0] for each in lines(trace, "in")) == Counter(runs)
    assert len(room.progress(number)) == 5


@pytest.mark.parametrize("machines", [4, pytest.param(MACHINES, marks=pytest.mark.system)])
def test_of_many_machines_that_want_one_issue_at_once_one_gets_it(
    tmp_path: Path, github: GitHubDouble, machines: int
) -> None:
    with open_room(tmp_path, github) as room:
        room.add("works", "name: NAME\ninput: {issue: issue}\nsteps:\n  - {name: ok, type: approval}\n")
        github.person("ann", "write").open_issue("It crashes")
        started: list[subprocess.Popen[bytes]] = []
        for machine in range(machines):
            home = tmp_path / f"home-{machine}"
            (home / "workflows" / "works").mkdir(parents=True)
            text = (room.box.home / "workflows" / "works" / "workflow.yaml").read_text()
            (home / "workflows" / "works" / "workflow.yaml").write_text(text)
            words = [PROGRAM, "run", "works", "--issue", "1"]
            env = {**room.box.env, "HANDRAIL_HOME": str(home)}
            started.append(
                subprocess.Popen(
                    words, cwd=room.box.repository, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
            )
        outputs = [each.communicate(timeout=240)[0].decode() for each in started]
        codes = Counter(each.returncode for each in started)
        assert codes[3] == 1, (codes, outputs)
        refused = [text for text, each in zip(outputs, started, strict=True) if each.returncode != 3]
        assert all("is claimed by" in text for text in refused), refused
        claims = [each for each in github.comments(1) if "state=live" in each["body"]]
        assert len(claims) == 1
        assert len(room.progress(1)) == 1
