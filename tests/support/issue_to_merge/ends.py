"""Checks what people and commands see on the way from an issue to its merged pull request."""

import re

from support.issue_to_merge.host_room import HostRoom

RUN = "work-1-a1"


def check_open(room: HostRoom, number: int, comment: int, cost: str) -> None:
    """Check what is there before anybody merges; the cost is a pattern."""
    assert room.status(RUN) == "succeeded", room.call("show", RUN).text
    assert room.github.pulls(), room.call("show", RUN).text + room.call("logs", RUN).text
    (pull,) = room.github.pulls()
    assert (pull["draft"], pull["title"], pull["head"]["ref"]) == (True, "fix: adding -2 adds 2", f"work/{RUN}")
    assert "### Proof" in pull["body"]
    assert "### Checks" in pull["body"]
    assert re.search(cost, pull["body"]), pull["body"]
    assert f"Closes #{number}" in pull["body"]
    assert room.github.read(f"/issues/{number}")["state"] == "open"
    room.refresh_until(lambda: "has finished" in room.progress(number)[0]["body"])
    (progress,) = room.progress(number)
    assert progress["id"] == comment
    assert pull["html_url"] in progress["body"]
    assert "It adds now." in progress["body"]


def merge(room: HostRoom, number: int) -> None:
    """Let a person make the draft ready and merge it."""
    (pull,) = room.github.pulls()
    room.call("pr", RUN, "--ready")
    (pull,) = room.github.pulls()
    assert (pull["number"], pull["draft"]) == (number + 1, False)
    room.github.person("ann").merge(pull["number"])


def check_merged(room: HostRoom, number: int, comment: int) -> None:
    """Check what the commands show afterwards."""
    assert room.github.read(f"/issues/{number}")["state"] == "closed"
    (pull,) = room.github.pulls()
    seen = room.call("status", "--refresh").text
    assert f"PR #{pull['number']}" in seen
    assert "merged" in room.call("status", RUN).text
    shown = room.call("show", RUN).text
    assert f"#{pull['number']} merged" in shown
    assert f"#{number}" in shown
    logs = room.call("logs", RUN).text
    assert 'by="github:ann"' in logs
    assert "merged" in logs
    document = room.json("show", RUN)
    assert document["issue"].endswith(f"#{number}")
    assert [each["status"] for each in document["pull_requests"]] == ["merged"]
    assert room.json("status", RUN)["runs"][0]["status"] == "succeeded"
    assert [each["id"] for each in room.progress(number)] == [comment]
    assert room.github.journal.count("POST */pulls") == 1
    assert len(room.moved_heads()) == 1
