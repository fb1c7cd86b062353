"""`handrail test` as people call it."""

import re

from inline_snapshot import snapshot

from support.cli.notes_workflow import GOOD, NOTES, notes, put, said
from support.cli.team import Team

__all__ = ["notes"]


def test_a_test_that_passes_is_one_line(notes: Team) -> None:
    put(notes, GOOD)
    assert said(notes) == snapshot("""\
notes   NOTES/workflow.yaml
  ✓ notes are written, looked at and published   0.0s   replaced: publish
1 passed in 0.0s
""")


def test_a_failure_shows_both_ways_the_place_and_what_to_look_at(notes: Team) -> None:
    put(notes, GOOD.replace("[changes, write, look, publish]", "[changes, write, publish]").replace("1.2\\n", "1.3\\n"))
    assert said(notes, code=1) == snapshot("""\
notes   NOTES/workflow.yaml
  ✗ notes are written, looked at and published   0.0s   replaced: publish
      NOTES/tests/first.yaml:9: the run took a different path
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
      NOTES/tests/first.yaml:1: 'look' asks for approval, but the test has no answer
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
      NOTES/tests/first.yaml:1: the agent of 'write' was called, but the test has no turn for it
        add:
          turns:
            write:
              - say: done
      walked:
        ✓ changes
        ? write   2 tries: step 'write' failed: the agent reported an error: the test has no turns
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
NOTES/tests/first.yaml:4:3: error: notes has no step 'wriet', did you mean 'write'? [unknown-step]
    4 |   wriet: {files: {NOTES.md: "# 1.2\\n"}, say: Written.}
      |   ^^^^^
      = its steps: changes, write, look, publish
error: a test file cannot be used
next: fix it; docs/testing-workflows.md lists every key
""")


def test_an_invalid_workflow_is_refused_before_anything_is_played(notes: Team) -> None:
    put(notes, GOOD)
    notes.runs.shop.workflow("notes", NOTES.replace("prompt:", "promt:"))
    assert "did you mean 'prompt'?" in said(notes, "--trust", code=4)


def test_without_tests_it_says_what_to_write(notes: Team) -> None:
    told = said(notes, code=2)
    assert "error: notes has no tests\nnext: write NOTES/tests/first.yaml with `name: it ends well`" in told
    assert told.endswith("or have it written for you: handrail test --init notes\n")


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
    assert "already exists" in said(notes, "--init", "notes", code=2)
    assert said(notes, code=1) == snapshot("""\
notes   NOTES/workflow.yaml
  ✗ notes goes the usual way   0.0s
      NOTES/tests/first.yaml:5: the agent of 'write' was called 2 times, but the test has 1 turn for it
        happened  the previous call was not enough: not proven: changed: NOTES.md
        = add a turn to 'write', such as `- say: done`, or `- ...` at its end to repeat the last one
      walked:
        ✓ changes
        ? write   2 tries: step 'write' failed: the agent reported an error: the script has 1 turn for 'write…
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


def test_the_tests_of_the_library_pass(team: Team) -> None:
    found = team.json("test", "--library")
    failed = [each for each in found["scenarios"] if each["status"] != "passed"]
    assert failed == []
    assert {each["workflow"] for each in found["scenarios"]} == {
        "deps-nightly",
        "fix-bug",
        "implement-spec",
        "review-loop",
        "workflow-for-workflows",
    }
