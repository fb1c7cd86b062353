"""An issue that only this machine knows is closed with its pull request, which no code host does for it."""

import pytest

from support.issue_to_merge.host_room import HostRoom

pytestmark = pytest.mark.system  # takes long: many processes of its own

DELIVERS = """\
name: NAME
input: {issue: issue}
steps:
  - {name: work, command: "echo one > one.txt"}
  - {name: pr, type: pull-request, title: "Do ${issue.title}"}
"""


def create(room: HostRoom) -> str:
    room.add("delivers", DELIVERS)
    return room.json("issues", "create", "It crashes")["id"]


def test_a_local_issue_stays_claimed_until_its_pull_request_is_merged_and_is_closed_then(room: HostRoom) -> None:
    issue = create(room)
    room.call("run", "delivers", "--issue", issue)
    (pull,) = room.github.pulls()
    assert room.json("issues", "ready")["issues"] == [], "somebody works on it as long as the pull request is open"
    assert room.json("issues", "show", issue)["status"] == "in_progress"
    room.github.person("ann", "write").merge(pull["number"])
    assert "merged" in room.call("status", "--refresh").text
    assert room.json("issues", "show", issue)["status"] == "closed"


def test_a_local_issue_whose_pull_request_was_closed_can_be_worked_on_again(room: HostRoom) -> None:
    issue = create(room)
    room.call("run", "delivers", "--issue", issue)
    (pull,) = room.github.pulls()
    room.github.person("ann", "write").close(pull["number"])
    room.call("status", "--refresh")
    assert [each["id"] for each in room.json("issues", "ready")["issues"]] == [issue]


def test_a_local_issue_is_closed_with_its_run_where_no_pull_request_can_be_opened(room: HostRoom) -> None:
    room.box.git("remote", "remove", "origin")
    issue = create(room)
    room.call("run", "delivers", "--issue", issue)
    assert room.json("issues", "show", issue)["status"] == "closed"
