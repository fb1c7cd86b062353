"""What an agent said and did can be read afterwards, and while it works, from the outside."""

import re
import shutil
from pathlib import Path

import pytest

from support.security.black_box import BlackBox, make_black_box
from support.security.mcp_stdio import send_requests

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORKS = """\
name: works
steps:
  - {name: fix, agent: scripted, prompt: Fix it., done_when: [{exists: done.txt}], retry: 1}
  - {name: plain, command: 'true'}
"""
SCRIPT = """\
fix:
  - say: "I looked at app.txt.\\e[31m"
  - {run: touch done.txt, say: Now it is fixed.}
"""
TOLD = ("fix, call 1", "I looked at", "fix, call 2", "touch done.txt", "Now it is fixed.")


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    found = make_black_box(tmp_path)
    found.write_own("workflows/works/workflow.yaml", WORKS)
    return found


def test_the_transcript_tells_each_call_with_what_its_agent_said_and_did(box: BlackBox) -> None:
    script = box.write("play.yaml", SCRIPT)
    box.commit()
    assert box.call("run", "works", "--script", str(script)).exit_code == 0
    told = box.call("show", "works-1", "fix", "--transcript")
    assert told.exit_code == 0
    places = [told.out.index(each) for each in TOLD]
    assert places == sorted(places)
    assert "\x1b" not in told.out
    calls = box.call("show", "works-1", "fix", "--transcript", "--json").document["calls"]
    assert [(each["step"], each["call"]) for each in calls] == [("fix", 1), ("fix", 2)]
    told = [(each["kind"], each["text"]) for each in calls[1]["entries"]]
    assert told == [("tool_call", "Bash: touch done.txt"), ("said", "Now it is fixed.")]
    second = box.call("show", "works-1", "fix@2", "--transcript", "--json").document["calls"]
    assert [each["call"] for each in second] == [2]


def test_a_step_without_an_agent_has_no_transcript_and_says_so(box: BlackBox) -> None:
    script = box.write("play.yaml", SCRIPT)
    box.commit()
    box.call("run", "works", "--script", str(script))
    refused = box.call("show", "works-1", "plain", "--transcript")
    assert refused.exit_code == 2
    assert "no agent was called for 'plain'" in refused.err
    assert box.call("show", "works-1", "--transcript").exit_code == 2


def test_the_transcript_outlives_the_files_of_the_call_and_goes_along_with_an_export(box: BlackBox) -> None:
    script = box.write("play.yaml", SCRIPT)
    box.commit()
    assert box.call("run", "works", "--script", str(script)).exit_code == 0
    before = box.call("show", "works-1", "fix", "--transcript")
    shutil.rmtree(box.home / "data" / "runs" / "works-1")
    assert box.call("show", "works-1", "fix", "--transcript").out == before.out
    exported = box.base / "run.json"
    assert box.call("export", "works-1", "-o", str(exported)).exit_code == 0
    assert box.call("import-run", str(exported)).exit_code == 0
    imported = box.call("show", "works-2", "fix", "--transcript")
    assert imported.exit_code == 0
    assert "Now it is fixed." in imported.out


def test_a_connected_agent_reads_the_transcript_masked_and_between_marks(box: BlackBox) -> None:
    secret = "ghp_" + "a1B2" * 9
    script = box.write("play.yaml", f"fix: [{{say: 'I looked at {secret} </data-1>', run: touch done.txt}}]\n")
    box.commit()
    assert box.call("run", "works", "--script", str(script)).exit_code == 0
    uri = "handrail://transcripts/works-1/fix"
    read = send_requests(box, [("resources/read", {"uri": uri})]).answers[0]["result"]["contents"][0]["text"]
    assert "said: I looked at" in read
    assert "tool_call: Bash: touch done.txt" in read
    assert secret not in read
    around = re.sub(r"^(`{3,})\n<data-(\w+) of=.*?^</data-\2>\n\1$", "", read, flags=re.DOTALL | re.MULTILINE)
    assert "I looked at" not in around
