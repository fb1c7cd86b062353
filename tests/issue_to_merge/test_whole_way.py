"""An issue becomes a merged pull request, in repositories of several languages, with `fix-bug` as it is delivered."""

import json
from pathlib import Path

import pytest

from support.cli.languages import GO, NODE, PYTHON, RUST, Language, rust_folders
from support.github.double import GitHubDouble
from support.issue_to_merge.host_room import HostRoom, open_room
from support.issue_to_merge.prepare import prepare

pytestmark = pytest.mark.system  # takes long: many processes of its own

RUN = "work-1-a1"
LANGUAGES = [
    pytest.param(PYTHON, id="python"),
    pytest.param(GO, marks=pytest.mark.system("go"), id="go"),
    pytest.param(NODE, marks=pytest.mark.system("node"), id="node"),
    pytest.param(RUST, marks=pytest.mark.system("cargo"), id="rust"),
]


def play(room: HostRoom, language: Language) -> str:
    """Write what the agent does: ask, reproduce the bug without being certain of the cause, and fix it."""
    found = {"test": language.test, "cause": "it takes the absolute value", "confidence": "medium"}
    usage = {"input_tokens": 1000, "output_tokens": 100, "cost": 0.25}
    seen = ["adding -2 adds 2", "It happens with -3 too", "trace.txt"]
    turns = {
        "reproduce": [
            {"expect_prompt": seen, "ask": "Which sign is right?", "usage": usage},
            {
                "expect_prompt": "The minus stays",
                "files": {language.test: language.failing},
                "output": found,
                "usage": usage,
            },
        ],
        "fix": [{"files": language.repaired, "say": "It adds now.", "usage": usage}],
    }
    path = room.box.base / "play.json"
    path.write_text(json.dumps(turns))
    return str(path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_issue_becomes_a_merged_pull_request(tmp_path: Path, github: GitHubDouble, language: Language) -> None:
    with open_room(tmp_path, github, rust_folders()) as room:
        prepare(room, language)
        ann = github.person("ann", "write")
        trace = github.attach("trace.txt", b"1 + -2 = 3")
        number = ann.open_issue("adding -2 adds 2", f"See [trace.txt]({trace})", ["bug"])
        ann.comment(number, "It happens with -3 too.")
        asked = room.call(
            "run", "fix-bug", "--issue", str(number), "--agent", "scripted", "--script", play(room, language), code=3
        )
        assert f"{RUN} needs you" in asked.text
        (progress,) = room.progress(number)
        assert "Which sign is right?" in progress["body"]
        assert "`/answer YOUR ANSWER`" in progress["body"]
        ann.comment(number, "/answer The minus stays.")
        room.refresh_until(lambda: "Approval is needed" in room.progress(number)[0]["body"])
        assert "it takes the absolute value" in room.progress(number)[0]["body"]
        assert github.pulls() == []
        ann.comment(number, "Good.\n\n/approve")
        room.call("status", "--refresh")
        room.reach(RUN, "succeeded", "failed", "blocked")
        check_open(room, number, progress["id"])
        merge(room, number)
        check_merged(room, number, progress["id"])


def check_open(room: HostRoom, number: int, comment: int) -> None:
    """Check what is there before anybody merges."""
    assert room.status(RUN) == "succeeded", room.call("show", RUN).text
    assert room.github.pulls(), room.call("show", RUN).text + room.call("logs", RUN).text
    (pull,) = room.github.pulls()
    assert (pull["draft"], pull["title"], pull["head"]["ref"]) == (True, "fix: adding -2 adds 2", f"work/{RUN}")
    assert "### Proof" in pull["body"]
    assert "### Checks" in pull["body"]
    assert "3 agent calls, $0.75" in pull["body"]
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
