"""What runs look like: status, inbox, the bare command, logs, show and why."""

import json

import pytest
from inline_snapshot import snapshot

from handrail.cli.command_table import RUNS
from support.cli.running import ASKING, Runs

MIXED = """\
name: NAME
input: {n: int = 2}
steps:
  - {name: a, command: 'echo out; echo err >&2', output: said}
  - {name: skip, command: 'true', when: 'n > 3 and said == "out"'}
  - name: rounds
    type: loop
    until: round >= 2
    max_iterations: 5
    steps:
      - {name: t, command: 'echo ${round}', output: last}
  - {name: bad, command: 'exit 4', retry: 1, on_fail: continue}
  - {name: ok, type: approval, message: Go on?}
"""
DONE = "name: NAME\nsteps:\n  - {name: a, command: 'true'}\n"
FAILS = "name: NAME\nsteps:\n  - {name: a, command: 'exit 1', on_fail: fail}\n"


def prepared(runs: Runs) -> None:
    for name, text, code in (("done", DONE, 0), ("fails", FAILS, 1), ("ask", ASKING, 3)):
        runs.add(name, text)
        runs.text("run", name, code=code)


def test_without_runs_everything_says_so(runs: Runs) -> None:
    assert runs.text("status") == "no runs yet; handrail run WORKFLOW starts one\n"
    assert runs.text("inbox") == "nothing needs you\n"
    assert runs.json("status") == {"runs": [], "cut": False, "older": None, "driver": None}
    assert runs.json("inbox") == {"inbox": [], "notices": []}
    assert runs.text("why", "x-1", code=2) == "error: there are no runs yet\nnext: handrail run WORKFLOW\n"
    assert runs.text().startswith("handrail demo ")
    assert not (runs.shop.home / "data").exists()


def test_the_overview_says_what_needs_me_and_what_ended_with_the_next_command(runs: Runs) -> None:
    prepared(runs)
    assert runs.text("status") == snapshot("""\
NEEDS YOU  ask-1    ok  Is "draft" good?                          handrail approve ask-1
ENDED      fails-1      failed: step 'a' failed: command: exit 1  handrail resume fails-1
ENDED      done-1       succeeded                                 handrail show done-1
""")
    assert runs.text() == runs.text("status")
    assert runs.text("inbox") == snapshot('NEEDS YOU  ask-1  ok  Is "draft" good?  handrail approve ask-1\n')
    assert runs.json("inbox") == snapshot(
        {
            "inbox": [
                {
                    "run": "ask-1",
                    "step": "ok",
                    "says": 'Is "draft" good?',
                    "next": "handrail approve ask-1",
                    "approval": {
                        "run": "ask-1",
                        "step": "ok",
                        "message": 'Is "draft" good?',
                        "show": {},
                        "answers": ["approve", "revise", "reject"],
                        "due": None,
                    },
                }
            ],
            "notices": [],
        }
    )


def test_status_in_json_is_every_run_without_its_steps(runs: Runs) -> None:
    prepared(runs)
    listed = runs.json("status")["runs"]
    assert [(each["run"], each["status"]) for each in listed] == snapshot(
        [("ask-1", "waiting"), ("fails-1", "failed"), ("done-1", "succeeded")]
    )
    assert list(listed[0]) == snapshot(
        [
            "run",
            "workflow",
            "hash",
            "status",
            "reason",
            "input",
            "current_step",
            "started_at",
            "completed_at",
            "error",
            "outputs",
            "cost",
            "unpriced",
            "workspace",
            "repository",
            "branch",
            "worktree",
            "parent",
            "root",
            "last_activity",
            "tmux_session",
            "pull_requests",
        ]
    )
    assert runs.json("status", "fails")["runs"] == [each for each in listed if each["run"] == "fails-1"]


def test_the_status_of_one_run_shows_its_steps(runs: Runs) -> None:
    prepared(runs)
    assert runs.text("status", "ask") == snapshot("""\
NEEDS YOU  ask-1  ok  Is "draft" good?  handrail approve ask-1
✓ draft  succeeded
? ok     needs you
""")


def test_why_explains_each_step_with_the_values_that_decided(runs: Runs) -> None:
    runs.add("mixed", MIXED)
    runs.text("run", "mixed", code=3)
    assert runs.text("why", "mixed-1") == snapshot("""\
run began, pinned 0000
a           ran because the run began
a           succeeded
skip        skipped; n > 3 and said == 'out' is false (n = 2, said = "out")
rounds      ran because 'skip' was skipped
rounds      round 1 began
rounds@1/t  ran because round 1 of 'rounds' began
rounds@1/t  succeeded
rounds      round 1 done
rounds      round 2 began
rounds@2/t  ran because round 2 of 'rounds' began
rounds@2/t  succeeded
rounds      round 2 done
rounds      ended: its condition ended it; round >= 2 is true (round = 2)
bad         ran because 'rounds' ended
bad         failed: command: exit 4
bad         try 2, ran because 'bad' failed
bad         failed: command: exit 4
bad         failed, and the run continues without it
ok          asked because 'bad' failed and was passed over
""")
    assert runs.text("why", "mixed", "skip") == snapshot(
        "skip  skipped; n > 3 and said == 'out' is false (n = 2, said = \"out\")\n"
    )
    assert runs.json("why", "mixed", "skip")["reasons"][0]["why"] == snapshot(
        {"condition": "n > 3 and said == 'out'", "values": {"n": 2, "said": "out"}, "result": False}
    )
    assert runs.text("why", "mixed", "t").splitlines() == snapshot(
        [
            "rounds@1/t  ran because round 1 of 'rounds' began",
            "rounds@1/t  succeeded",
            "rounds@2/t  ran because round 2 of 'rounds' began",
            "rounds@2/t  succeeded",
        ]
    )
    assert runs.text("why", "mixed", "nope", code=2).startswith(
        "error: nothing was recorded for a step 'nope' of mixed-1\n"
    )


def test_show_gives_a_step_with_its_output_and_what_it_wrote(runs: Runs) -> None:
    runs.add("mixed", MIXED)
    runs.text("run", "mixed", code=3)
    assert runs.text("show", "mixed", "a") == snapshot("""\
a
  status     succeeded, try 1
  exit code  0
  began      TIME
  ended      TIME
  output     "out"
  stdout
    out
  stderr
    err
""")
    assert runs.text("show", "mixed") == snapshot("""\
mixed-1  mixed, pinned 0000
status     needs you (approval)
started    TIME
workspace  SHOP
input      n = 2
✓ a           succeeded
– skip        skipped
✓ rounds      succeeded
✓ rounds@1/t  succeeded
✓ rounds@2/t  succeeded
✗ bad         failed  try 2
? ok          needs you
output     last = "2"
output     said = "out"

? ok needs you: Go on?
  approve: handrail approve mixed-1
  reject: handrail reject mixed-1
""")
    shown = runs.json("show", "mixed", "bad")["steps"][0]
    assert (shown["attempts"], shown["exit_code"], shown["error"]) == (2, 4, "command: exit 4")
    assert [each["address"] for each in runs.json("show", "mixed", "t")["steps"]] == ["rounds@1/t", "rounds@2/t"]
    assert "has no step 'nope' yet" in runs.text("show", "mixed", "nope", code=2)


def test_what_a_command_wrote_cannot_move_the_terminal(runs: Runs) -> None:
    runs.add("evil", "name: NAME\nsteps:\n  - {name: a, command: 'printf \"\\033[2Jhi\"', output: o}\n")
    runs.text("run", "evil")
    for command in (("show", "evil", "a"), ("show", "evil"), ("logs", "evil"), ("why", "evil")):
        assert "\x1b" not in runs.text(*command)


def test_logs_are_one_event_per_line_with_all_fields(runs: Runs) -> None:
    runs.add("done", DONE)
    runs.text("run", "done")
    events = [json.loads(line) for line in runs.call("logs", "done", "--json").stdout.splitlines()]
    assert [(each["seq"], each["kind"]) for each in events] == snapshot(
        [(1, "run_started"), (2, "step_began"), (3, "step_ended"), (4, "run_ended")]
    )
    assert set(events[1]) == {"seq", "kind", "time", "address", "action", "attempt", "spec", "at"}
    assert runs.text("logs", "done").splitlines()[-1].split() == ["4", "TIME", "run_ended", 'status="succeeded"']


def test_a_run_is_found_by_a_unique_beginning_and_by_last(runs: Runs) -> None:
    prepared(runs)
    runs.text("run", "done")
    assert runs.json("show", "@last")["run"] == "done-2"
    assert runs.json("show", "f")["run"] == "fails-1"
    assert runs.text("show", "done", code=2) == snapshot("""\
error: 'done' matches 2 runs: done-1, done-2
next: type more of the id, such as done-1
""")
    assert runs.text("show", "nope", code=2) == snapshot("""\
error: there is no run 'nope'
next: handrail status
""")
    assert runs.text("show", "", code=2).startswith("error: there is no run ''")


NO_DOCUMENT = ("help", "completion", "attach", "mcp")
"""Commands that print a page, a script or a protocol, or hand the terminal over."""


@pytest.mark.parametrize("name", [name for name in RUNS if name not in NO_DOCUMENT])
def test_every_command_of_runs_has_help_with_an_example_and_json(runs: Runs, name: str) -> None:
    said = runs.text(name, "--help")
    assert "--json" in said
    assert f"Example: handrail {name}" in said


def test_run_ids_are_completed(runs: Runs) -> None:
    prepared(runs)
    assert runs.completed("handrail why fa") == "plain,fails-1\n"
