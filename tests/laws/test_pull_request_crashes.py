"""Wherever a driver is killed while it pushes and opens a pull request: afterwards there is one, and one push per head.

The points are before and after every commit of the log, every call of the code host and every call of git that talks to
the remote.
"""

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from handrail.model.pull_request_facts import PullRequestOpened
from handrail.workspace.delivery.remote_git import RemoteGit
from handrail.workspace.git.command import GitResult
from support.runtime.pull_request_room import PullRequestRoom, make_remote
from support.runtime.steps_room import StepsRoom, git

STEP = 1 if os.environ.get("HANDRAIL_SOAK") else 7
"""Only each so many-th point is fatal in a plain run."""
WORKFLOW = """\
name: hand-on
description: Change something and open a pull request.
steps:
  - {name: change, command: "echo new > new.txt"}
  - {name: pr, type: pull-request, title: Change it, draft: true}
  - {name: again, command: "echo more > more.txt"}
  - {name: update, type: commit, message: More}
  - {name: last, type: pull-request, title: Change it again, key: KEY}
"""


class Killed(SystemExit):
    """Ends a driver at once, wherever it is."""


class Points:
    """Counts the points that a driver passes, and kills it at one of them."""

    def __init__(self, fatal: int) -> None:
        self.passed = 0
        self.fatal = fatal
        self.names: list[str] = []

    def __call__(self, name: str) -> None:
        self.passed += 1
        if self.passed <= self.fatal:
            self.names.append(name)
        if self.passed >= self.fatal:
            # Whoever catches that is dead too.
            raise Killed(name)


def make_room(folder: Path, home: Path) -> PullRequestRoom:
    folder.mkdir()
    (home / ".gitconfig").unlink(missing_ok=True)
    steps = StepsRoom(folder)
    room = PullRequestRoom(steps, make_remote(folder, steps.repo, home))
    room.service.head_of = lambda _, branch: room.head(branch)
    git(room.remote, "config", "core.logAllRefUpdates", "true")
    return room


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def drive_until_killed(room: PullRequestRoom, points: Points, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Drive the run; tell whether it was killed on the way."""
    plain = RemoteGit.run

    def run(remote: RemoteGit, *words: str) -> GitResult:
        points(f"git {words[0]}.before")
        done = plain(remote, *words)
        points(f"git {words[0]}.after")
        return done

    room.steps.start(WORKFLOW, {})
    room.steps.reopen(points)
    room.service.on_point = points
    with monkeypatch.context() as patched:
        patched.setattr(RemoteGit, "run", run)
        with suppress(Killed):
            room.steps.drive()
        room.service.on_point = lambda _: None
        room.steps.abandon()
    return points.passed >= points.fatal


def count_pushes(room: PullRequestRoom, branch: str) -> Counter[str]:
    """Count how often each head was pushed."""
    rows = (room.remote / "logs" / "refs" / "heads" / branch).read_text().splitlines()
    return Counter(row.split()[1] for row in rows)


@pytest.mark.timeout(1200)
def test_a_driver_that_dies_at_any_point_opens_one_pull_request_and_pushes_each_head_once(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fatal, seen = 1, set[str]()
    while True:
        room, points = make_room(tmp_path / f"at-{fatal}", home), Points(fatal)
        killed = drive_until_killed(room, points, monkeypatch)
        room.steps.drive()
        state = room.steps.state("hand-on-1")
        assert state.status == "succeeded", (points.names[-1], state.message)
        assert [each.state.pull_request.status for each in room.opened] == ["open", "open"], points.names[-1]
        for number, branch in ((1, "work/hand-on-1"), (2, "work/KEY")):
            assert set(count_pushes(room, branch).values()) == {1}, (points.names[-1], branch)
            assert room.opened[number - 1].state.pull_request.head == branch
            assert room.record(number).commit == room.head(branch)
            assert [type(each) for each in room.facts(number)].count(PullRequestOpened) == 1
        room.steps.close()
        if not killed:
            break
        seen.add(points.names[-1])
        fatal += STEP
    assert len(points.names) > 40
    if STEP == 1:
        assert {"pr.open.before", "pr.open.after", "git push.before", "git push.after", "append.after"} <= seen
