"""What is left to a person is prepared: the command that is given does the rest when a person types it."""

import os
import subprocess
from pathlib import Path

import pytest

from support.cli.team import Team
from support.next_steps.follow import follow, in_process
from support.workspace.git_room import git

WORKFLOW = """\
name: NAME
description: Change something and hand it on.
input:
  task: string
steps:
  - name: change
    command: echo new > new.txt
  - name: file
    type: create-issues
    from: "${[{'title': \\"It's one\\", 'body': 'text', 'depends_on': ['x']}, 'two']}"
    labels: [follow-up]
  - name: pr
    type: pull-request
    title: "fix: ${task}"
    body: |
      One line.
      Another one with $HOME and `ls`.
    draft: true
    labels: [a, b]
    reviewers: ann
    output: request
  - name: after
    command: echo "${request.command}"
"""
GH = """\
#!/bin/sh
for word in "$@"; do printf '<%s>' "$word"; done >> "$GH_CALLS"
while [ $# -gt 0 ]; do if [ "$1" = --body-file ]; then cat "$2" >> "$GH_CALLS"; fi; shift; done
echo >> "$GH_CALLS"
"""


@pytest.fixture
def remote(team: Team, tmp_path: Path) -> Path:
    folder = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(folder))
    team.git("remote", "add", "origin", str(folder))
    team.add("hand-on", WORKFLOW)
    return folder


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """GitHub's command line, which writes down how it was called."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GH_CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def shell(command: str) -> None:
    subprocess.run(["sh", "-c", command], check=True, capture_output=True)


def test_a_run_says_beforehand_what_it_leaves_to_a_person(team: Team, remote: Path) -> None:
    said = team.text("run", "hand-on", "it is broken")
    assert (
        "step 'pr' opens no pull request: the remote is not on GitHub; it leaves the branch, with the command "
        "that pushes it" in said
    )
    assert "step 'file' creates issues in the tracker of the repository's code host if" in said
    assert git(remote, "for-each-ref") == ""


def test_without_a_code_host_the_command_that_is_printed_pushes_the_branch(team: Team, remote: Path) -> None:
    said = team.text("run", "hand-on", "it's $(broken)")
    assert "push it, then open a pull request into main: git -C" in said
    shell(team.json("show", "hand-on-1")["outputs"]["request"]["command"])
    assert git(remote, "log", "-1", "--format=%s", "work/hand-on-1") == "fix: it's $(broken)"
    assert git(remote, "show", "work/hand-on-1:new.txt") == "new"


def test_without_a_remote_the_work_is_merged(team: Team) -> None:
    team.add("hand-on", WORKFLOW)
    said = team.text("run", "hand-on", "broken")
    assert "step 'pr' opens no pull request: there is no remote to push to" in said
    assert "there is no remote to push it to; to merge it into main: handrail merge hand-on-1" in said
    team.text("merge", "hand-on-1")
    assert team.read("new.txt") == "new\n"


def test_issues_are_created_in_the_local_tracker(team: Team) -> None:
    team.add("hand-on", WORKFLOW)
    said = team.text("run", "hand-on", "broken")
    assert "step 'file' creates issues in the local tracker: " in said
    follow(in_process(team.runs), said, "in the local tracker: handrail issues list", shows="It's one")
    found = team.json("issues", "list")["issues"]
    assert {(each["title"], *each["labels"]) for each in found} == {("It's one", "follow-up"), ("two", "follow-up")}
    assert all(each["id"].startswith("repo-") for each in found)
    one = next(each["id"] for each in found if each["title"] == "It's one")
    assert team.json("issues", "show", one)["description"] == "text\ndepends_on: x"
    assert "created issue local#repo-" in team.text("logs", "hand-on-1")
    assert "created 2 issues: local#repo-" in said
