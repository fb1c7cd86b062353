"""`handrail test` as people and CI systems call it."""

import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from running import HANDRAIL, until
from team import Team

from handrail.runtime.handlers.junit import read_junit

NOTES = """\
name: NAME
input:
  version: string
steps:
  - name: changes
    command: git log --format=%s
    output: changes
  - name: write
    prompt: Write NOTES.md for version {{ version }}. What changed is {{ changes }}.
    done_when:
      - changed: NOTES.md
    retry: 1
  - name: look
    type: approval
    message: Are the notes for ${version} good?
    revise: write
  - name: publish
    command: ./publish.sh "${version}"
"""
GOOD = """\
name: notes are written, looked at and published
input: {version: "1.2"}
turns:
  write: {files: {NOTES.md: "# 1.2\\n"}, say: Written.}
answers: {look: approve}
commands:
  publish: {stdout: published}
expect:
  path: [changes, write, look, publish]
  prompts: {write: [version 1.2, changed is Start]}
  files: {NOTES.md: "# 1.2\\n"}
"""


@pytest.fixture
def notes(team: Team) -> Team:
    team.runs.add("notes", NOTES)
    return team


def put(team: Team, text: str, name: str = "first") -> None:
    team.runs.shop.write(f".handrail/workflows/notes/tests/{name}.yaml", text)


def said(team: Team, *args: str, code: int = 0) -> str:
    text = team.text("test", *args, code=code)
    return text.replace(".handrail/workflows/notes/", "NOTES/")


def test_a_test_that_passes_is_one_line(notes: Team) -> None:
    put(notes, GOOD)
    assert said(notes) == snapshot("""\
notes   NOTES/workflow.yaml
  ✓ notes are written, looked at and published   0.0s   stood in for publish
1 passed in 0.0s
""")


def test_a_failure_shows_both_ways_the_place_and_what_to_look_at(notes: Team) -> None:
    put(notes, GOOD.replace("[changes, write, look, publish]", "[changes, write, publish]").replace("1.2\\n", "1.3\\n"))
    assert said(notes, code=1) == snapshot("""\
notes   NOTES/workflow.yaml
  ✗ notes are written, looked at and published   0.0s   stood in for publish
      NOTES/tests/first.yaml:9: the run took another path
          changes
          write
        + look
          publish
      walked:
        ✓ changes
        ✓ write
        ✓ look   approved
        ✓ publish
      next: handrail test NOTES/tests/first.yaml -k 'notes are written, looked at and published' --keep
0 passed, 1 failed in 0.0s
""")


def test_an_approval_that_nobody_answers_names_the_line_to_add(notes: Team) -> None:
    put(notes, GOOD.replace("answers: {look: approve}\n", ""))
    assert said(notes, code=1) == snapshot("""\
notes   NOTES/workflow.yaml
  ✗ notes are written, looked at and published   0.0s
      NOTES/tests/first.yaml:1: 'look' asks for approval, and the test has no answer
        happened  Are the notes for 1.2 good?
        add:
          answers:
            look: approve
      walked:
        ✓ changes
        ✓ write
        ? look
      next: handrail test NOTES/tests/first.yaml -k 'notes are written, looked at and published' --keep
0 passed, 1 failed in 0.0s
""")


def test_an_agent_without_a_turn_names_the_lines_to_add(notes: Team) -> None:
    put(notes, re.sub("turns:\n.*\n", "", GOOD))
    assert said(notes, code=1) == snapshot("""\
notes   NOTES/workflow.yaml
  ✗ notes are written, looked at and published   0.0s
      NOTES/tests/first.yaml:1: the agent of 'write' was called, and the test has no turn for it
        add:
          turns:
            write:
              - say: done
      walked:
        ✓ changes
        ? write   2 tries: step 'write' failed: the agent ended with api error: the test has no turns
      next: handrail test NOTES/tests/first.yaml -k 'notes are written, looked at and published' --keep
0 passed, 1 failed in 0.0s
""")


def test_a_test_file_that_cannot_be_used_is_refused_at_its_line(notes: Team) -> None:
    put(notes, GOOD.replace("turns:\n  write:", "turns:\n  wriet:").replace("version: ", "versoin: "))
    assert said(notes, code=4) == snapshot("""\
NOTES/tests/first.yaml:2:1: error: there is no input 'versoin', did you mean 'version'? [bad-value]
    2 | input: {versoin: "1.2"}
      | ^^^^^
      = inputs of this workflow: version
NOTES/tests/first.yaml:4:3: error: 'wriet' is no step of notes, did you mean 'write'? [unknown-step]
    4 |   wriet: {files: {NOTES.md: "# 1.2\\n"}, say: Written.}
      |   ^^^^^
      = its steps: changes, write, look, publish
error: a test file cannot be used
next: correct it; docs/testing-workflows.md has every key
""")


def test_an_invalid_workflow_is_refused_before_anything_is_played(notes: Team) -> None:
    put(notes, GOOD)
    notes.runs.shop.workflow("notes", NOTES.replace("prompt:", "promt:"))
    assert "did you mean 'prompt'?" in said(notes, "--trust", code=4)


def test_without_tests_it_says_what_to_write(notes: Team) -> None:
    told = said(notes, code=2)
    assert "error: notes has no tests\nnext: write NOTES/tests/first.yaml with `name: it ends well`" in told
    assert told.endswith("or let it be written: handrail test --init notes\n")


def test_a_first_test_is_drafted_and_passes_as_far_as_it_can_know(notes: Team) -> None:
    assert said(notes, "--init", "notes") == snapshot("""\
wrote NOTES/tests/first.yaml
next: handrail test notes
""")
    assert notes.read(".handrail/workflows/notes/tests/first.yaml") == snapshot("""\
name: notes goes the usual way
input:
  version: "text"
turns:
  write:
    say: done
answers:
  look: approve
expect:
  status: succeeded
""")
    assert "exists already" in said(notes, "--init", "notes", code=2)
    assert said(notes, code=1) == snapshot("""\
notes   NOTES/workflow.yaml
  ✗ notes goes the usual way   0.0s
      NOTES/tests/first.yaml:5: the agent of 'write' was called 2 times, and the test has 1 turn for it
        happened  the call before did not suffice: not proven: changed: NOTES.md
        = add a turn to 'write', such as `- say: done`, or `- ...` at its end to repeat the last one
      walked:
        ✓ changes
        ? write   2 tries: step 'write' failed: the agent ended with api error: the script has 1 turn for 'wr…
      next: handrail test NOTES/tests/first.yaml -k 'notes goes the usual way' --keep
0 passed, 1 failed in 0.0s
""")


def test_a_word_chooses_scenarios_and_one_that_is_nowhere_is_a_wrong_call(notes: Team) -> None:
    put(notes, GOOD)
    put(notes, GOOD.replace("notes are written", "other notes"), "other")
    assert "1 passed" in said(notes, "-k", "OTHER")
    assert "no scenario has 'nothing'" in said(notes, "-k", "nothing", code=2)


def test_a_test_file_can_be_named_itself(notes: Team) -> None:
    put(notes, GOOD)
    put(notes, GOOD.replace("notes are written", "other notes"), "other")
    assert "1 passed" in said(notes, ".handrail/workflows/notes/tests/other.yaml")


def test_the_tests_of_a_single_file_lie_in_a_folder_beside_it(notes: Team) -> None:
    notes.runs.shop.write(".handrail/workflows/one.yaml", "name: one\nsteps:\n  - {name: hello, command: echo hello}\n")
    notes.runs.shop.write(".handrail/workflows/one.tests/first.yaml", "name: it says hello\nexpect: {path: [hello]}\n")
    assert "1 passed" in said(notes, "one", "--trust")
    assert "1 passed" in said(notes, ".handrail/workflows/one.tests/first.yaml", "--trust")


def test_x_ends_at_the_first_failure(notes: Team) -> None:
    put(notes, GOOD.replace("answers: {look: approve}\n", ""), "a")
    put(notes, GOOD.replace("notes are written", "other notes"), "b")
    assert "0 passed, 1 failed" in said(notes, "-x", code=1)


def test_what_is_left_out_says_why(notes: Team) -> None:
    put(notes, f"{GOOD}skip: not before the new publisher\n")
    assert said(notes) == snapshot("""\
notes   NOTES/workflow.yaml
  – notes are written, looked at and published   skipped: not before the new publisher
0 passed, 1 skipped in 0.0s
""")


def test_json_is_one_document(notes: Team) -> None:
    put(notes, GOOD.replace("[changes, write, look, publish]", "[write]"))
    found: Any = notes.json("test", code=1)
    assert (found["ok"], found["passed"], found["failed"]) == (False, 0, 1)
    (scenario,) = found["scenarios"]
    assert scenario["problems"] == snapshot(
        [
            {
                "message": "the run took another path",
                "file": ".handrail/workflows/notes/tests/first.yaml",
                "line": 9,
                "difference": ["+ changes", "  write", "+ look", "+ publish"],
            }
        ]
    )
    assert scenario["path"] == snapshot(
        [
            {"step": "changes", "status": "succeeded", "tries": 1},
            {"step": "write", "status": "succeeded", "tries": 1},
            {"step": "look", "status": "approve", "tries": 1},
            {"step": "publish", "status": "succeeded", "tries": 1},
        ]
    )
    assert scenario["replaced"] == ["publish"]


def test_junit_is_read_by_what_reads_junit(notes: Team, tmp_path: Path) -> None:
    put(notes, GOOD, "a")
    put(notes, GOOD.replace("notes are written", 'a <"wrong"> one').replace("[version 1.2", "[no \\x01"), "b")
    put(notes, f"{GOOD}skip: later\n".replace("notes are written", "later notes"), "c")
    report = tmp_path / "junit.xml"
    said(notes, "--junit", str(report), code=1)
    counted = read_junit(report.read_bytes())
    assert (counted.tests, counted.failures, counted.errors, counted.skipped) == (3, 1, 0, 1)
    suite = ET.fromstring(report.read_text()).find("testsuite")
    assert suite is not None
    assert [(case.get("classname"), case.get("name")) for case in suite.findall("testcase")] == snapshot(
        [
            ("notes", "notes are written, looked at and published"),
            ("notes", 'a <"wrong"> one, looked at and published'),
            ("notes", "later notes, looked at and published"),
        ]
    )
    printed = notes.runs.call("test", "--junit", "-").stdout
    assert read_junit(printed.encode()).tests == 3


def test_json_and_junit_do_not_both_get_stdout(notes: Team) -> None:
    put(notes, GOOD)
    assert notes.runs.call("test", "--json", "--junit", "-").exit_code == 2


def test_what_is_kept_can_be_looked_at_with_the_command_that_is_named(notes: Team) -> None:
    put(notes, GOOD.replace("{stdout: published}", "{exit: 3}"))
    found: Any = notes.json("test", "--keep", code=1)
    kept = Path(found["scenarios"][0]["kept"])
    env = {**notes.runs.environ(), "HANDRAIL_HOME": str(kept / "home")}
    why = [HANDRAIL, "why", "notes-1", "publish"]
    ran = subprocess.run(why, cwd=kept, env=env, capture_output=True, text=True, check=True)
    assert "exit 3" in ran.stdout
    shutil.rmtree(kept)


def test_nothing_of_the_users_is_touched(notes: Team) -> None:
    put(notes, GOOD)
    notes.git("add", "-A")
    notes.git("commit", "-qm", "Tests")
    before = (notes.git("status", "--porcelain"), notes.git("worktree", "list"), notes.git("for-each-ref"))
    said(notes)
    assert (notes.git("status", "--porcelain"), notes.git("worktree", "list"), notes.git("for-each-ref")) == before
    assert notes.json("status")["runs"] == []


def test_a_workflow_without_trust_is_not_tested_unless_it_is_asked_for(notes: Team) -> None:
    put(notes, GOOD)
    notes.runs.shop.workflow("notes", NOTES + "    timeout: 5m\n")
    assert said(notes, code=3) == snapshot("""\
error: the workflow NOTES/workflow.yaml needs your trust before it runs: it has changed since you trusted it
next: read it, then: handrail trust NOTES/workflow.yaml, or test it as it is now: handrail test --trust
""")
    assert "1 passed" in said(notes, "--trust")
    assert "needs your trust" in notes.text("run", "notes", "--input", "version=1", code=3)


def test_changing_a_test_changes_neither_trust_nor_the_pinned_version(notes: Team) -> None:
    pinned = notes.json("compile", "notes")
    put(notes, GOOD)
    assert notes.json("compile", "notes") == pinned
    assert notes.json("trust", "notes", "--show")["state"] == "trusted"


def test_ctrl_c_ends_what_the_scenarios_started(notes: Team, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    put(notes, GOOD.replace("{files:", f"{{run: 'echo $$ > {mark}; exec sleep 300', files:"))
    process = subprocess.Popen(
        [HANDRAIL, "test"], cwd=notes.root, env=notes.runs.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: mark.exists() and mark.read_text().strip() != "")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (130, "stopped")
    until(lambda: not Path(f"/proc/{mark.read_text().strip()}").exists())


def test_the_tests_of_the_library_pass(team: Team) -> None:
    found = team.json("test", "--library")
    failed = [each for each in found["scenarios"] if each["status"] != "passed"]
    assert failed == []
    assert {each["workflow"] for each in found["scenarios"]} == {
        "deps-nightly",
        "fix-bug",
        "implement-spec",
        "review-loop",
    }
