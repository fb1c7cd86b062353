"""What comes next: resume that asks which, going back inside items, mistyped names, and what the doctor advises."""

import os

import pytest
from inline_snapshot import snapshot

from support.cli.running import ASKING, Runs
from support.cli.team import Team
from support.cli.terminals import shown_on_terminal

PARENT = "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: ask}\n"
FAN = """\
name: NAME
steps:
  - name: build
    type: parallel-agents
    for_each: [auth, web]
    key: item
    steps:
      - {name: first, command: 'true'}
      - {name: test, command: 'test ${item} = web'}
"""


def test_resume_without_a_run_asks_which_on_a_terminal(runs: Runs) -> None:
    runs.add("flaky", "name: NAME\nsteps:\n  - {name: one, command: 'test -e go'}\n")
    for _ in range(2):
        runs.call("run", "flaky", "--in", ".")
    assert runs.text("resume", code=2) == snapshot("""\
error: 2 runs can be resumed: flaky-2, flaky-1
next: handrail resume flaky-2
""")
    runs.shop.write("go", "")
    shown = shown_on_terminal(runs, "resume", typed=b"2\n", NO_COLOR="1")
    assert shown.code == 0
    assert runs.masked(shown.text).splitlines()[:4] == snapshot(
        [
            "2",
            "  1  flaky-2  failed: step 'one' failed: command: exit 1",
            "  2  flaky-1  failed: step 'one' failed: command: exit 1",
            "Which one: flaky-1: starts over",
        ]
    )
    assert runs.json("status", "flaky-1")["runs"][0]["status"] == "succeeded"
    assert runs.json("resume")["run"] == "flaky-2"
    assert runs.text("resume", code=2) == snapshot("""\
error: no run can be resumed
next: handrail status
""")


def test_going_back_inside_an_item_names_the_run_and_the_command(team: Team) -> None:
    team.add("fan", FAN)
    team.run("fan", code=3)
    assert team.text("rewind", "fan", "build[auth]/test", code=2) == snapshot("""\
error: 'build[auth]/test' belongs to fan-1.4, which fan-1 started and whose result it has already used
next: handrail resume fan-1, which starts over what failed
""")
    assert team.text("rewind", "fan", "build[web]/test", code=2) == snapshot("""\
error: 'build[web]/test' belongs to fan-1.5, which fan-1 started and whose result it has already used
next: handrail rewind fan-1 build, which starts all of it over
""")
    assert team.text("rewind", "fan", "build[web]", code=2) == snapshot("""\
error: 'build[web]' belongs to fan-1.5, which fan-1 started and whose result it has already used
next: handrail rewind fan-1 build, which starts all of it over
""")
    told = team.text("fork", "fan", "build[web]/test", code=2)
    assert told == snapshot("""\
error: 'build[web]/test' belongs to fan-1.5, which fan-1 started
next: handrail fork fan-1.5 'build[web]/test'
""")
    command = told.splitlines()[-1].removeprefix("next: handrail ").replace("'", "").split()
    assert team.text(*command).startswith("fan-2 is a copy of fan-1.")


def test_going_back_inside_a_called_workflow_goes_on_with_the_run_around_it(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    told = runs.text("rewind", "parent", "kid/draft", code=2)
    assert told == snapshot("""\
error: 'kid/draft' belongs to parent-1.2, which parent-1 started
next: handrail rewind parent-1.2 draft
""")
    runs.call(*told.splitlines()[-1].removeprefix("next: handrail ").split())
    assert runs.json("approve", "parent")["status"] == "succeeded"


@pytest.mark.parametrize("command", ["show", "logs", "why", "diff", "fork", "rewind"])
def test_a_mistyped_step_gets_a_suggestion_everywhere(runs: Runs, command: str) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    assert "did you mean 'draft'?" in runs.text(command, "@last", "drafd", code=2)
    assert "did you mean 'ask-1'?" in runs.text(command, "akk-1", "draft", code=2)


def test_a_task_without_a_workflow_lists_the_workflows(runs: Runs) -> None:
    runs.add("ask", ASKING)
    text = runs.text("run", "the login times out", code=2)
    assert "'the login times out' is not a workflow" in text
    assert "ask" in text.partition("Known here:")[2]


def test_the_doctor_begins_with_the_tools_and_ends_with_what_comes_next(runs: Runs) -> None:
    first, *_, last = runs.text("doctor").splitlines()
    assert first.startswith("git ")
    assert last == "Next: handrail init, or handrail demo"
    runs.shop.write(".handrail/config.toml", "")
    assert runs.text("doctor").splitlines()[-1] == "Next: handrail list, then handrail run NAME"
    runs.add("ask", ASKING)
    assert runs.text("doctor").splitlines()[-1] == "Next: handrail run ask"


def test_a_tool_that_hangs_does_not_hold_the_doctor_up(runs: Runs) -> None:
    tools = runs.shop.home.parent / "tools"
    tools.mkdir()
    for name, body in (("claude", "exec sleep 300"), ("codex", "echo codex-cli 0.61.0")):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)
    found = runs.call("doctor", PATH=f"{tools}:{os.environ['PATH']}")
    assert "claude ✓   codex 0.61.0 ✓   gemini ✗ not installed" in found.output
    assert found.exit_code == 0
