"""What a person sees first: the bare command, status and the inbox, wide and narrow."""

import re
import subprocess

import click
import pytest
from inline_snapshot import snapshot

from handrail.cli.render.runs import render_overview, status_words
from handrail.operations.views.overview import RunRow, Section, line_for_run
from handrail.operations.views.run_document import LoggedRuns
from handrail.operations.views.run_listing import list_runs
from handrail.sources.folders import user_folders
from handrail.store.sqlite.log import open_log
from handrail.store.sqlite.run_list import run_list
from support.cli.running import ASKING, HANDRAIL, SLOW, Runs, until
from support.cli.team import Team
from support.cli.terminals import shown_on_terminal

DONE = "name: NAME\nsteps:\n  - {name: a, command: 'true'}\n"
FAILS = "name: NAME\nsteps:\n  - {name: a, command: 'exit 1', on_fail: fail}\n"
FIXING = """\
name: NAME
steps:
  - {name: reproduce, prompt: Show it.}
  - {name: checks, type: gate, command: test -e mended, fix: {prompt: Mend it., max: 3}}
"""
BUDGET = """\
name: NAME
budget: {agent_calls: 1}
steps:
  - {name: first, prompt: Do it.}
  - {name: second, prompt: Do more.}
"""
LIMIT = """\
name: NAME
steps:
  - name: rounds
    type: loop
    until: "false"
    max_iterations: 2
    on_max: block
    steps:
      - {name: t, command: 'true'}
"""
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


def lines() -> list[RunRow]:
    """One line of each kind."""
    kinds: tuple[tuple[Section, str, str, str, str, str], ...] = (
        ("needs you", "fix-bug-3", "confirm", 'Is "session TTL is read in minutes" the cause?', "$0.31", "approve"),
        ("paused", "fix-bug-1", "checks, fix 1 of 3", "usage limit until 14:05", "$0.61", "resume"),
        ("waiting", "deps-2", "update, try 2 of 3", "until 17 Nov 09:00", "", "resume"),
        ("running", "review-1", "review, round 2 of 5", "in process 4711", "~$1.20", "logs"),
        ("ended", "fix-bug-2", "", "failed: step 'fix' failed: not proven", "$2.00", "resume"),
        ("ended", "greet-1", "", "succeeded", "", "show"),
    )
    return [
        RunRow(section, run, where.partition(",")[0], where, words, f"handrail {command} {run}", 0.0, cost)
        for section, run, where, words, cost, command in kinds
    ]


@pytest.mark.parametrize("columns", [120, 80, 40])
def test_runs_stand_by_section_with_where_they_are_why_and_the_next_command(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    text = click.unstyle(render_overview(lines()))
    expected = {
        120: snapshot("""\
NEEDS YOU  fix-bug-3  confirm               Is "session TTL is read in minutes" the…  $0.31   handrail approve fix-bug-3
PAUSED     fix-bug-1  checks, fix 1 of 3    usage limit until 14:05                   $0.61   handrail resume fix-bug-1
WAITING    deps-2     update, try 2 of 3    until 17 Nov 09:00                                handrail resume deps-2
RUNNING    review-1   review, round 2 of 5  in process 4711                           ~$1.20  handrail logs review-1
ENDED      fix-bug-2                        failed: step 'fix' failed: not proven     $2.00   handrail resume fix-bug-2
ENDED      greet-1                          succeeded                                         handrail show greet-1\
"""),
        80: snapshot("""\
NEEDS YOU  fix-bug-3  confirm               Is "session TTL is read in…   $0.31
           handrail approve fix-bug-3
PAUSED     fix-bug-1  checks, fix 1 of 3    usage limit until 14:05       $0.61
           handrail resume fix-bug-1
WAITING    deps-2     update, try 2 of 3    until 17 Nov 09:00
           handrail resume deps-2
RUNNING    review-1   review, round 2 of 5  in process 4711               ~$1.20
           handrail logs review-1
ENDED      fix-bug-2                        failed: step 'fix' failed:…   $2.00
           handrail resume fix-bug-2
ENDED      greet-1                          succeeded      handrail show greet-1\
"""),
        40: snapshot("""\
NEEDS YOU  fix-bug-3  $0.31
  confirm
  Is "session TTL is read in minutes"
  the cause?
  handrail approve fix-bug-3
PAUSED  fix-bug-1  $0.61
  checks, fix 1 of 3
  usage limit until 14:05
  handrail resume fix-bug-1
WAITING  deps-2
  update, try 2 of 3
  until 17 Nov 09:00
  handrail resume deps-2
RUNNING  review-1  ~$1.20
  review, round 2 of 5
  in process 4711
  handrail logs review-1
ENDED  fix-bug-2  $2.00
  failed: step 'fix' failed: not proven
  handrail resume fix-bug-2
ENDED  greet-1
  succeeded
  handrail show greet-1\
"""),
    }
    assert text == expected[columns]
    assert max(len(line) for line in text.splitlines()) <= columns


@pytest.mark.parametrize("columns", [80, 140])
def test_the_repository_is_shown_where_runs_work_in_several(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    folders = ("/home/ann/shop", "/home/ann/web/site", "/home/ann/old/site", "")
    ended = [
        RunRow("ended", f"w-{number}", "", "", "succeeded", f"handrail show w-{number}", 0.0, repository=folder)
        for number, folder in enumerate(folders)
    ]
    assert render_overview(ended) == snapshot("""\
ENDED  w-0  shop      succeeded  handrail show w-0
ENDED  w-1  web/site  succeeded  handrail show w-1
ENDED  w-2  old/site  succeeded  handrail show w-2
ENDED  w-3            succeeded  handrail show w-3\
""")
    assert "shop" not in render_overview(ended[:1]), "one repository needs no column"


def test_before_the_first_run_the_bare_command_says_what_to_do(runs: Runs) -> None:
    assert runs.text(COLUMNS="80") == snapshot("""\
handrail demo          see how it works in 20 seconds, in a temporary
                       repository
handrail init          in your repository: detect agent, checks and branch
handrail run WORKFLOW  run a workflow; handrail list shows them all
""")
    assert runs.text(COLUMNS="40") == snapshot("""\
handrail demo     see how it works in
                  20 seconds, in a
                  temporary repository
handrail init     in your repository:
                  detect agent, checks
                  and branch
handrail run WORKFLOW
                  run a workflow;
                  handrail list shows
                  them all
""")
    assert not (runs.shop.home / "data").exists()


def prepared(runs: Runs) -> None:
    for name, text, code in (("done", DONE, 0), ("fails", FAILS, 1), ("ask", ASKING, 3)):
        runs.add(name, text)
        runs.text("run", name, code=code)


def test_the_screen_at_80_and_at_40_columns(runs: Runs) -> None:
    prepared(runs)
    assert runs.text(COLUMNS="80") == snapshot("""\
NEEDS YOU  ask-1    ok  Is "draft" good?                  handrail approve ask-1
ENDED      fails-1      failed: step 'a' failed: command: exit 1
           handrail resume fails-1
ENDED      done-1       succeeded                           handrail show done-1
""")
    assert runs.text("status", COLUMNS="40") == snapshot("""\
NEEDS YOU  ask-1
  ok
  Is "draft" good?
  handrail approve ask-1
ENDED  fails-1
  failed: step 'a' failed: command: exit
  1
  handrail resume fails-1
ENDED  done-1
  succeeded
  handrail show done-1
""")
    assert runs.text("inbox", COLUMNS="40") == snapshot("""\
NEEDS YOU  ask-1  ok  Is "draft" good?
           handrail approve ask-1
""")


def test_status_shows_all_that_ended_when_asked(runs: Runs) -> None:
    runs.add("done", DONE)
    for _ in range(12):
        runs.text("run", "done")
    assert runs.text("status").splitlines()[-1] == "and 2 more: handrail status --all"
    assert len(runs.text("status", "--all").splitlines()) == 12
    assert len(runs.json("status")["runs"]) == 12
    assert len(runs.json("status", "--all")["runs"]) == 12


def test_a_run_that_was_killed_is_paused_and_a_driven_one_is_running(runs: Runs) -> None:
    runs.add("slow", SLOW)
    process = runs.process("run", "slow", "--in", ".")
    until(lambda: runs.trace() == ["first", "wait"])
    until(lambda: "RUNNING" in runs.text("status"))
    assert runs.text("status") == snapshot("RUNNING  slow-1  wait  in process PID  handrail logs slow-1\n")
    assert runs.text("inbox") == "nothing needs you\n"
    process.kill()
    process.communicate()
    assert runs.text("status") == snapshot(
        "PAUSED  slow-1  wait  interrupted: no process is running it  handrail resume slow-1\n"
    )
    assert runs.text("stop", "slow").splitlines()[-1] == snapshot("slow-1 stopped by ann")


def test_a_fix_that_waits_for_a_usage_limit_says_which_it_is_and_until_when(team: Team) -> None:
    limited = {"reproduce": {"say": "Shown."}, "checks/fix": [{"fail": {"status": "quota", "retry_after": 7200}}]}
    team.add("mend", FIXING, **limited)
    team.runs.text("run", "mend", "--agent", "scripted", "--script", f"{team.root.parent}/mend.script.yaml", "--detach")
    until(lambda: "WAITING" in team.text("status"))
    words = team.text("status").splitlines()[0]
    said = r"WAITING  mend-1  checks, fix 1 of 3  usage limit until (\d\d \w+ )?\d\d:\d\d  handrail resume mend-1"
    assert re.fullmatch(said, words)


def test_the_inbox_names_the_step_that_is_blocked_and_not_the_last_that_began(team: Team) -> None:
    team.add("poor", BUDGET, default={"say": "ok", "repeat": True})
    team.add("endless", LIMIT)
    team.add("fan", FAN)
    team.run("poor", code=5)
    team.run("endless", code=3)
    team.run("fan", code=3)
    assert team.text("inbox") == snapshot("""\
NEEDS YOU  fan-1      build, 1 of 2 items done  step 'build': 1 of 2 items failed:…  handrail resume fan-1
NEEDS YOU  endless-1  rounds                    loop 'rounds' reached its limit of…  handrail resume endless-1
NEEDS YOU  poor-1     second                    the budget is used up: 1 agent cal…  handrail resume poor-1
""")


def test_a_run_that_waits_for_one_it_called_shows_the_step_there(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    assert runs.text("inbox") == snapshot(
        'NEEDS YOU  parent-1  kid/ok  Is "draft" good?  handrail approve parent-1.2\n'
    )
    assert runs.json("inbox")["inbox"][0]["step"] == "kid/ok"


def test_the_fast_list_says_what_the_whole_log_says(runs: Runs) -> None:
    prepared(runs)
    folder = user_folders(runs.environ()).data
    with run_list(folder) as fast:
        said = list_runs(fast).lines
    log = open_log(folder)
    assert said == list_runs(LoggedRuns(log)).lines
    assert [line_for_run(LoggedRuns(log), line.run) for line in said] == said
    log.close()


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        ("waiting", "approval", "needs you (approval)"),
        ("waiting", "pause", "paused"),
        ("waiting", "quota", "waiting (usage limit)"),
        ("blocked", "checks", "needs you (checks)"),
        ("running", None, "running"),
    ],
)
def test_no_raw_status_is_shown(status: str, reason: str | None, words: str) -> None:
    assert status_words({"status": status, "reason": reason}) == words


def test_nothing_but_text_goes_to_a_pipe(runs: Runs) -> None:
    prepared(runs)
    for words in ((), ("status",), ("inbox",), ("status", "ask"), ("doctor",), ("help", "runs")):
        done = subprocess.run(
            [HANDRAIL, *words], cwd=runs.shop.root, env=runs.environ(), capture_output=True, check=True
        )
        assert b"\x1b" not in done.stdout + done.stderr


def test_a_terminal_gets_colours_unless_it_wants_none(runs: Runs) -> None:
    prepared(runs)
    assert "\x1b[33m\x1b[1mNEEDS YOU\x1b[0m" in shown_on_terminal(runs, "status").text
    assert "\x1b" not in shown_on_terminal(runs, "status", NO_COLOR="1").text
