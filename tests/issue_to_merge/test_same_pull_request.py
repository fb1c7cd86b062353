"""Which pull request a run updates: that of its key or of its step, never one that a person closed."""

import re
import shlex
from pathlib import Path

import pytest

from support.issue_to_merge.host_room import HostRoom

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORKFLOW = """\
name: NAME
description: Change something and open a pull request.
input: {task: string}
steps:
  - name: change
    command: echo "$TASK" >> new.txt
    env: {TASK: "${task}"}
  - {name: pr, type: pull-request, title: "feat: ${task}", draft: true}
"""
KEYED = WORKFLOW.replace("draft: true", "draft: true, key: nightly")
BRANCH = "work/hand-on-1"


def test_a_second_run_with_the_same_key_updates_the_pull_request(room: HostRoom) -> None:
    room.add("nightly", KEYED)
    first = room.call("run", "nightly", "one").text
    second = room.call("run", "nightly", "two").text
    (pull,) = room.github.pulls()
    assert "opened draft pull request #1" in first
    assert "updated draft pull request #1" in second
    assert (pull["title"], pull["head"]["ref"]) == ("feat: two", "work/nightly")
    assert pull["head"]["sha"] == room.box.git("rev-parse", "work/nightly-2")
    assert room.github.journal.count("POST */pulls") == 1


def test_a_rewind_before_the_step_and_a_second_pass_update_the_same_pull_request(room: HostRoom) -> None:
    room.add("hand-on", WORKFLOW)
    room.call("run", "hand-on", "one")
    for _ in range(2):
        room.call("rewind", "hand-on-1", "change")
        room.call("resume", "hand-on-1", code=None)
        room.reach("hand-on-1", "succeeded")
    (pull,) = room.github.pulls()
    assert pull["head"]["sha"] == room.box.git("rev-parse", BRANCH)
    assert room.github.journal.count("POST */pulls") == 1
    heads = [new for _, new in room.moved_heads()]
    assert len(heads) == len(set(heads))


def test_a_pull_request_that_a_person_closed_stays_closed(room: HostRoom) -> None:
    room.add("nightly", KEYED)
    room.call("run", "nightly", "one")
    room.github.person("ann", "write").close(1)
    said = room.call("run", "nightly", "two", code=3).text
    assert "pull request #1 was closed by ann without being merged" in said
    (pull,) = room.github.pulls()
    assert pull["state"] == "closed"
    assert len(room.moved_heads()) == 1
    room.github.person("ann").reopen(1)
    room.call("resume", "nightly-2")
    (pull,) = room.github.pulls()
    assert (pull["state"], pull["head"]["sha"]) == ("open", room.box.git("rev-parse", "work/nightly-2"))


def test_a_branch_that_a_person_moved_is_built_upon(room: HostRoom) -> None:
    room.add("hand-on", WORKFLOW)
    room.call("run", "hand-on", "one")
    theirs = room.github.person("ann", "write").push(BRANCH, {"theirs.txt": "hers\n"}, start=BRANCH)
    room.call("rewind", "hand-on-1", "pr")
    room.call("resume", "hand-on-1", code=None)
    room.reach("hand-on-1", "succeeded")
    git = room.github.repository.git
    assert room.box.git("merge-base", "--is-ancestor", theirs, git.branches[BRANCH], cwd=git.path) == ""
    assert room.box.git("show", f"{BRANCH}:theirs.txt", cwd=git.path) == "hers"
    assert room.box.git("show", f"{BRANCH}:new.txt", cwd=git.path) == "one"
    assert len(room.github.pulls()) == 1


TWICE = """\
name: NAME
description: Change something, let somebody look at it, and change it again.
steps:
  - {name: change, command: "echo one > new.txt"}
  - {name: pr, type: pull-request, title: Change it, draft: true}
  - {name: ok, type: approval, message: Go on?}
  - {name: again, command: "echo two > new.txt"}
  - {name: next, type: pull-request, title: Change it, draft: true, key: KEY}
"""


def test_a_conflict_with_what_a_person_pushed_needs_you_and_is_resolved_as_the_message_says(room: HostRoom) -> None:
    room.add("hand-on", TWICE.replace("KEY", "shared"))
    ann = room.github.person("ann", "write")
    room.call("run", "hand-on", code=3)
    theirs = ann.push("work/shared", {"new.txt": "hers\n"})
    said = room.call("approve", "hand-on-1", code=3).text
    assert f"somebody pushed {theirs[:12]} to work/shared, and it conflicts with the run in new.txt" in said
    assert room.json("status", "hand-on-1")["runs"][0]["reason"] == "merge"
    assert "needs you" in room.call("status").text.lower()
    assert room.github.repository.git.branches["work/shared"] == theirs
    assert len(room.github.pulls()) == 1
    (merge,) = re.findall(r"resolve it: (.+), commit it, then: handrail resume hand-on-1$", said, re.MULTILINE)
    assert room.shell(merge).returncode == 1
    worktree = Path(shlex.split(merge)[2])
    (worktree / "new.txt").write_text("both\n")
    room.box.git("commit", "-qam", "Resolve it", cwd=worktree)
    room.call("resume", "hand-on-1")
    git = room.github.repository.git
    assert room.box.git("show", "work/shared:new.txt", cwd=git.path) == "both"
    assert room.box.git("merge-base", "--is-ancestor", theirs, git.branches["work/shared"], cwd=git.path) == ""
    assert [each["head"]["ref"] for each in room.github.pulls()] == [BRANCH, "work/shared"]
