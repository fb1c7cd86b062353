"""Which pull request a run updates: that of its key or of its step, never one that a person closed."""

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
