"""Many agents at once: none shares anything with another, the rest waits in order, and one of many claims counts."""

import subprocess
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handrail.workspace.tmux import Sessions
from support.github.double import GitHubDouble
from support.issue_to_merge.host_room import HostRoom, open_room
from support.issue_to_merge.waiting_agents import WaitingAgents
from support.security.black_box import PROGRAM

pytestmark = pytest.mark.system  # takes long: many processes of its own

CAP = 3
MACHINES = 20


def check_apart(room: HostRoom, runs: list[str]) -> None:
    """Check that no two runs share a worktree or a branch."""
    documents = [room.json("show", run) for run in runs]
    assert len({each["worktree"] for each in documents}) == len(runs)
    assert sorted(each["branch"] for each in documents) == sorted(f"work/{run}" for run in runs)


def queued(room: HostRoom) -> set[str]:
    """Name the runs that wait for their turn."""
    return {each["run"] for each in room.json("status")["runs"] if each["status"] == "queued"}


def check_turns(agents: WaitingAgents, runs: list[str]) -> None:
    """Let the agents end one after the other: each time the run that was started first begins, and no other."""
    came = agents.wait_for(CAP)
    assert sorted(came) == sorted(runs[:CAP])
    for leaving, coming in zip(runs, runs[CAP:], strict=False):
        assert queued(agents.room) == set(runs[runs.index(coming) :])
        agents.let_go(leaving)
        came = agents.wait_for(len(came) + 1)
        assert came[CAP:] == runs[CAP : len(came)]
    for run in runs[-CAP:]:
        agents.let_go(run)
    for run in runs:
        agents.room.reach(run, "succeeded")
    assert Counter(agents.came()) == Counter(agents.left()) == Counter(runs)


@pytest.fixture
def watched(tmp_path: Path, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch) -> Generator[HostRoom]:
    """A room with sockets of tmux of its own, in a folder whose path is as short as sockets need it."""
    with TemporaryDirectory(prefix="hr-", dir="/tmp") as sockets:
        monkeypatch.setenv("TMUX_TMPDIR", sockets)
        with open_room(tmp_path, github, {"TMUX_TMPDIR": sockets}) as opened:
            yield opened


def check_sessions(room: HostRoom, working: set[str]) -> None:
    """Check that each run at work has a session of its own, with one window, which shows its own agent."""
    sessions = Sessions(room.box.home / "data")
    assert sessions.list_sessions() == working
    shown = {run: sessions.windows(run) for run in working}
    assert {len(windows) for windows in shown.values()} == {1}
    assert all(f"/runs/{run}/" in windows[0].call for run, windows in shown.items()), shown
    assert {room.json("show", run)["tmux_session"] for run in working} == working


@pytest.mark.system("tmux")
def test_ten_agents_on_ten_issues_take_turns_in_order(watched: HostRoom) -> None:
    room, agents = watched, WaitingAgents(watched, CAP)
    ann = room.github.person("ann", "write")
    for number in range(10):
        ann.open_issue(f"Issue {number}")
    room.call("run", "works", "--ready", "-n", "10", "--tmux", *agents.words)
    runs = [f"work-{number}-a1" for number in range(1, 11)]
    agents.wait_for(CAP)
    check_sessions(room, set(runs[:CAP]))
    check_turns(agents, runs)
    check_apart(room, runs)


def test_the_parts_of_an_issue_have_runs_of_their_own_which_are_admitted_in_order(room: HostRoom) -> None:
    agents = WaitingAgents(room, CAP)
    whole = room.json("issues", "create", "Rebuild it")["id"]
    parts = [room.json("issues", "create", f"Part {n}", "--parent", whole)["id"] for n in range(3 * CAP)]
    for part in parts:
        room.call("run", "works", "--issue", part, "--detach", *agents.words)
    runs = [f"work-{whole}.{number}-a1" for number in range(1, len(parts) + 1)]
    agents.wait_for(CAP)
    # All at once: several places become free at the same time.
    for run in runs:
        agents.let_go(run)
    for run in runs:
        room.reach(run, "succeeded")
    assert agents.order_of("run_admitted", runs) == runs
    check_apart(room, runs)
    sessions = {each["session"] for run in runs for each in room.json("show", run, "work")["steps"]}
    assert len(sessions - {None}) == len(runs)


@pytest.mark.system("tmux")
@pytest.mark.parametrize("tracker", ["github", "local"])
def test_five_agents_on_one_issue_share_neither_worktree_nor_branch_nor_session(
    watched: HostRoom, tracker: str
) -> None:
    room, agents = watched, WaitingAgents(watched, CAP)
    ann = room.github.person("ann", "write")
    issue = (
        str(ann.open_issue("It crashes")) if tracker == "github" else room.json("issues", "create", "It crashes")["id"]
    )
    started = [room.start("run", "works", "--issue", issue, "--detach", "--tmux", *agents.words) for _ in range(5)]
    for each in started:
        text, _ = each.communicate(timeout=120)
        assert each.returncode == 0, text
    runs = agents.order_of("run_started", [f"work-{issue}-a{agent}" for agent in range(1, 6)])
    agents.wait_for(CAP)
    check_sessions(room, set(runs[:CAP]))
    check_turns(agents, runs)
    check_apart(room, runs)
    comments = room.progress(1) if tracker == "github" else room.json("issues", "show", issue)["comments"]
    texts = [each["body" if tracker == "github" else "text"] for each in comments]
    assert [sum(f"run `{run}`" in text for text in texts) for run in runs] == [1] * 5


def test_of_twenty_machines_that_want_one_issue_at_once_one_gets_it(tmp_path: Path, github: GitHubDouble) -> None:
    with open_room(tmp_path, github) as room:
        text = "name: works\ninput: {issue: issue}\nsteps:\n  - {name: ok, type: approval}\n"
        github.person("ann", "write").open_issue("It crashes")
        started: list[subprocess.Popen[bytes]] = []
        for machine in range(MACHINES):
            home = tmp_path / f"home-{machine}"
            (home / "workflows" / "works").mkdir(parents=True)
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
