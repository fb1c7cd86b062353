"""People see what they approve: an approval shows the values and the difference that its workflow names.

`HANDRAIL_UNDER_TEST=/path/to/handrail pytest tests/first_use` tries another installation.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.security.black_box import BlackBox, make_black_box
from support.security.screen import on_screen

pytestmark = pytest.mark.system  # takes long: many processes of its own

ASKS = """\
name: asks
steps:
  - {name: edit, command: 'printf "one\\nTWO\\n" > app.txt && echo new > new.txt'}
  - {name: note, command: 'echo later > later.txt'}
  - {name: look, type: approval, message: "It changed: ${steps.edit.diff}", show: [diff, steps.note.diff]}
  - {name: ship, command: 'touch MARK'}
"""
NAMES = """\
name: names
steps:
  - {name: edit, command: 'printf "one\\nTWO\\n" > app.txt'}
  - {name: save, type: commit, message: Save}
  - {name: still, command: 'true'}
  - name: tell
    when: "'+TWO' in steps.edit.diff and steps.still.diff == ''"
    command: >-
      printf "%s|%s|%s|%s" "${steps.edit.diff}" "${steps.edit.branch}" "${steps.edit.commit}" "${steps.save.commit}"
"""
LATE = """\
name: late
steps:
  - {name: look, type: approval, message: Go on?, timeout: 1s ON_FAIL}
  - {name: ship, command: 'touch MARK'}
"""


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    return make_black_box(tmp_path)


def write(box: BlackBox, name: str, text: str) -> None:
    box.write_own(f"workflows/{name}/workflow.yaml", text.replace("MARK", str(box.loot / "shipped")))


def test_an_approval_shows_what_the_run_changed(box: BlackBox) -> None:
    write(box, "asks", ASKS)
    assert box.call("run", "asks").exit_code == 3
    events = map(json.loads, box.call("logs", "asks-1", "--json").out.splitlines())
    recorded = next(each for each in events if each["kind"] == "approval_requested")
    assert "+TWO" in recorded["show"]["diff"]
    asked = box.call("inbox", "--json").document["inbox"][0]["approval"]
    assert "+TWO" in asked["show"]["diff"]
    assert all(f"+++ b/{name}" in asked["show"]["diff"] for name in ("app.txt", "new.txt", "later.txt"))
    assert "+later" in asked["show"]["steps.note.diff"]
    assert "+TWO" not in asked["show"]["steps.note.diff"]
    assert "+TWO" in asked["message"]
    shown = box.call("show", "asks-1")
    assert "+TWO" in shown.out
    assert "+later" in shown.out
    assert box.call("show", "asks-1", "--json").document["approval"] == asked


def test_steps_after_it_read_difference_branch_and_commit(box: BlackBox) -> None:
    write(box, "names", NAMES)
    start = box.git("rev-parse", "HEAD")
    assert box.call("run", "names").exit_code == 0
    told = box.call("show", "names-1", "tell", "--json").document["steps"][0]["stdout"]
    assert "+TWO" in told
    _, branch, commit, saved = told.split("|")
    assert branch == box.git("branch", "--list", "--format=%(refname:short)", "*names-1*")
    assert commit == start
    assert saved == box.git("rev-parse", branch)


def test_the_terminal_shows_the_difference_and_after_a_look_the_choices_again(box: BlackBox) -> None:
    write(box, "asks", ASKS)
    with on_screen(box, "run", "asks") as screen:
        screen.wait_for("+TWO")
        screen.wait_for("\n> ")
        screen.type("d\n")
        screen.wait_for("diff --git")
        screen.wait_for("re[j]ect")
        screen.wait_for("\n> ")
        screen.type("a\n")
        assert screen.end() == 0
        assert "index " not in screen.text
    assert box.traces() == ["shipped"]


def test_a_large_difference_is_cut_and_names_the_command_that_shows_the_rest(box: BlackBox) -> None:
    write(box, "asks", ASKS.replace("echo later", "seq 5000"))
    assert box.call("run", "asks").exit_code == 3
    shown = box.call("show", "asks-1", "--json").document["approval"]["show"]
    last = shown["steps.note.diff"].rstrip("\n").splitlines()[-1]
    assert last.startswith("... ")
    assert last.endswith(" more lines: handrail diff asks-1 note")
    assert len(shown["diff"]) < 100_000


@pytest.mark.parametrize(
    ("on_fail", "status", "traces"),
    [
        ("", "failed", []),
        (", on_fail: fail", "failed", []),
        (", on_fail: escalate", "blocked", []),
        (", on_fail: continue", "succeeded", ["shipped"]),
        (", on_fail: warn", "succeeded", ["shipped"]),
    ],
)
def test_what_follows_a_rejection_is_what_the_approval_says(
    box: BlackBox, on_fail: str, status: str, traces: list[str]
) -> None:
    write(box, "late", LATE.replace(", timeout: 1s ON_FAIL", on_fail))
    assert box.call("run", "late").exit_code == 3
    box.call("reject", "late-1", "-m", "no")
    assert box.call("status", "late-1", "--json").document["runs"][0]["status"] == status
    assert box.traces() == traces


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_an_answer_after_the_timeout_counts(box: BlackBox, decision: str) -> None:
    write(box, "late", LATE.replace(" ON_FAIL", ""))
    box.call("run", "late")
    wait_until(lambda: "nobody answered" in box.call("resume", "late-1").text)
    assert box.call(decision, "late-1").exit_code == 0
    assert box.traces() == (["shipped"] if decision == "approve" else [])


@pytest.mark.parametrize(("on_fail", "traces"), [("fail", []), ("continue", ["shipped"])])
def test_where_nobody_answers_in_time_the_approval_says_what_follows(
    box: BlackBox, on_fail: str, traces: list[str]
) -> None:
    write(box, "late", LATE.replace(" ON_FAIL", f", on_fail: {on_fail}"))
    box.call("run", "late")

    def is_over() -> bool:
        box.call("resume", "late-1")
        return box.call("status", "late-1", "--json").document["runs"][0]["status"] in ("failed", "succeeded")

    wait_until(is_over)
    assert box.traces() == traces


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look again until something is so, for a minute at most."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
