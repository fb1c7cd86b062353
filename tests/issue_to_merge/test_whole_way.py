"""An issue becomes a merged pull request, in repositories of several languages, with `fix-bug` as it is delivered."""

import json
from pathlib import Path

import pytest

from support.cli.languages import GO, NODE, PYTHON, RUST, Language, rust_folders
from support.github.double import GitHubDouble
from support.issue_to_merge.ends import RUN, check_merged, check_open, merge
from support.issue_to_merge.host_room import HostRoom, open_room
from support.issue_to_merge.prepare import prepare

pytestmark = pytest.mark.system  # takes long: many processes of its own

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
        check_open(room, number, progress["id"], r"3 agent calls, \$0\.75")
        merge(room, number)
        check_merged(room, number, progress["id"])
