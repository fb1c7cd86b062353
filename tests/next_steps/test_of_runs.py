"""The next steps that runs and the commands about them print, typed as printed."""

import pytest

from support.cli.running import ASKING, SLOW, Runs, until
from support.cli.team import Team
from support.next_steps.follow import follow, in_a_shell, in_process

pytestmark = pytest.mark.system  # takes long: many processes of its own

FLAKY = """\
name: NAME
steps:
  - {name: one, command: 'echo one >> trace'}
  - {name: two, command: 'test -e go'}
  - {name: three, command: 'echo three >> trace'}
"""
PLAIN = "name: NAME\nsteps:\n  - {name: one, command: 'echo one'}\n"
EDITS = "name: NAME\nsteps:\n  - {name: edit, command: 'echo changed > app.txt'}\n"
PARENT = "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: ask}\n"
EMPTY = "name: NAME\nsteps:\n  - {name: over, type: end}\n"
QUESTION = {"plan": [{"ask": "Which of the two?"}, {"say": "The second."}]}
ASKS = "name: NAME\nsteps:\n  - {name: plan, prompt: Make a plan., agent: scripted}\n"
NO_ANSWER = (
    "name: NAME\nsteps:\n  - {name: ok, type: approval, message: Go?, timeout: 1s}\n  - {name: x, command: 'echo x'}\n"
)
ITEMS = """\
name: NAME
steps:
  - name: build
    type: parallel-agents
    for_each: [{id: a}, {id: b}]
    as: part
    key: part.id
    steps:
      - {name: make, command: 'test "${part.id}" = a || test -e DONE'}
  - {name: after, command: 'echo after'}
"""


def asked(runs: Runs, text: str = ASKING) -> str:
    runs.add("ask", text)
    return runs.text("run", "ask", code=3)


def test_a_run_that_needs_an_approval_names_the_command_that_gives_it(runs: Runs) -> None:
    follow(in_a_shell(runs), asked(runs), "handrail approve {}, or revise, or reject", shows="ask-1 succeeded")


def test_status_names_the_approval_and_the_end(runs: Runs) -> None:
    asked(runs)
    follow(in_process(runs), runs.text("status"), "handrail approve {}", shows="ask-1 succeeded")
    follow(in_process(runs), runs.text("status"), "handrail show {}", shows="ship")


def test_show_names_each_answer(runs: Runs) -> None:
    asked(runs)
    follow(in_process(runs), runs.text("show", "ask-1"), "{}: handrail {} {}", shows="ask-1 succeeded")


def test_who_approves_what_was_approved_looks_at_the_status(runs: Runs) -> None:
    asked(runs)
    runs.text("approve", "ask-1")
    follow(in_process(runs), runs.text("approve", "ask-1", code=2), "handrail status {}", shows="succeeded")


def test_what_cannot_be_sent_back_any_more_is_approved_or_rejected(runs: Runs) -> None:
    asked(runs)
    runs.text("revise", "ask", "-m", "x", code=3)
    said = runs.text("revise", "ask", "-m", "x", code=2)
    runs.text("fork", "ask-1")
    runs.text("resume", "ask-2", code=3)
    follow(in_process(runs), said, "handrail approve {}, or handrail reject {}", shows="ask-1 succeeded")
    said = said.replace("ask-1", "ask-2")
    follow(in_process(runs), said, "handrail approve {}, or handrail reject {}", at=1, shows="rejected by ann")


def test_words_for_a_run_that_asks_for_approval_name_the_approval(runs: Runs) -> None:
    asked(runs)
    said = runs.text("answer", "ask-1", "yes", code=2)
    follow(in_process(runs), said, "handrail approve {}, or revise -m TEXT, or reject", shows="ask-1 succeeded")


def test_an_approval_that_nobody_gave_in_time_is_given_later(runs: Runs) -> None:
    asked(runs, NO_ANSWER)
    said = ""
    for _ in range(200):
        said = runs.call("resume", "ask-1").output
        if "in time" in said:
            break
    follow(in_process(runs), said, "handrail approve {}, or revise, or reject: you can still answer", shows="succeeded")


def test_a_question_is_answered_in_words(team: Team) -> None:
    team.add("asks", ASKS, **QUESTION)
    said = team.run("asks", code=3)
    words = {'"..."': '"the second one"'}
    follow(in_process(team.runs), said, 'handrail answer {} "..."', fill=words, shows="asks-1 succeeded")


def test_an_empty_answer_is_given_with_words(team: Team) -> None:
    team.add("asks", ASKS, **QUESTION)
    team.run("asks", code=3)
    empty = team.text("answer", "asks-1", " ", code=2)
    follow(in_process(team.runs), empty, 'handrail answer {} "what you want to say"', shows="asks-1 succeeded")


def test_a_failed_run_names_why_and_how_it_goes_on(runs: Runs) -> None:
    runs.add("flaky", FLAKY)
    said = runs.text("run", "flaky", code=1)
    follow(in_process(runs), said, "handrail why {}, or handrail resume {}", shows="exit 1")
    runs.shop.write("go", "")
    follow(in_process(runs), said, "handrail why {}, or handrail resume {}", at=1, shows="flaky-1 succeeded")
    assert runs.trace() == ["one", "three"]


def test_status_names_how_a_failed_run_goes_on(runs: Runs) -> None:
    runs.add("flaky", FLAKY)
    runs.text("run", "flaky", code=1)
    runs.shop.write("go", "")
    follow(in_process(runs), runs.text("status"), "handrail resume {}", shows="flaky-1 succeeded")


@pytest.mark.parametrize("command", ["resume", "take"])
def test_a_run_that_is_over_goes_back_to_its_last_step_or_is_copied(runs: Runs, command: str) -> None:
    runs.add("plain", PLAIN)
    runs.text("run", "plain")
    said = runs.text(command, "plain-1", code=2)
    follow(in_process(runs), said, "handrail rewind {}{}, or handrail fork {}{}", shows="plain-1 succeeded")
    follow(in_process(runs), said, "handrail rewind {}{}, or handrail fork {}{}", at=1, shows="plain-2 is a copy")


def test_a_run_that_began_no_step_or_was_stopped_is_copied(runs: Runs) -> None:
    runs.add("empty", EMPTY)
    runs.text("run", "empty")
    follow(in_process(runs), runs.text("resume", "empty-1", code=2), "handrail fork {}{}", shows="is a copy of empty-1")
    asked(runs)
    runs.call("stop", "ask-1")
    said = runs.text("resume", "ask-1", code=2)
    follow(in_process(runs), said, "handrail fork {}{}", shows="ask-2 is a copy of ask-1")
    said = runs.text("rewind", "ask-1", "draft", code=2)
    copied = follow(in_process(runs), said, "handrail fork {} {}", shows="ask-3 is a copy of ask-1")
    follow(in_process(runs), copied.text, "{} is a copy of {}   next: handrail resume {}", code=3, shows="ask-3 needs")


def test_what_was_discarded_is_brought_back(team: Team) -> None:
    team.add("edits", EDITS)
    team.run("edits")
    said = team.text("discard", "edits-1")
    done = follow(in_process(team.runs), said, "Get it back: handrail apply {}{}", shows="Applied 1 file")
    assert team.read("app.txt") == "changed\n"
    follow(
        in_process(team.runs),
        done.text,
        "Applied {} to your checkout as uncommitted changes. Undo: git stash, or handrail apply --undo",
        shows="Undid the changes of edits-1",
    )
    assert team.read("app.txt") == "one\ntwo\n"


def test_a_run_that_somebody_took_is_given_back(runs: Runs) -> None:
    asked(runs)
    taken = runs.text("take", "ask-1")
    again = runs.text("release", "ask-1", code=3)
    assert "needs you" in again
    taken = runs.text("take", "ask-1")
    follow(in_process(runs), taken, "to return it to Handrail: handrail release {}", code=3, shows="needs you")


def test_a_run_that_waits_in_two_places_is_named(runs: Runs) -> None:
    runs.add("flaky", FLAKY)
    runs.text("run", "flaky", code=1)
    runs.text("run", "flaky", code=1)
    runs.shop.write("go", "")
    said = runs.text("resume", code=2)
    follow(in_process(runs), said, "handrail resume {}", shows="succeeded")
    runs.text("resume")
    follow(in_process(runs), runs.text("resume", code=2), "handrail status", shows="flaky-2")


def test_a_run_that_is_not_there_leads_to_the_list(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    runs.text("run", "plain")
    follow(in_process(runs), runs.text("show", "nope-1", code=2), "handrail status", shows="plain-1")


def test_without_any_run_a_workflow_is_run(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    said = runs.text("show", "@last", code=2)
    follow(in_process(runs), said, "handrail run WORKFLOW", fill={"WORKFLOW": "plain"}, shows="succeeded")


def test_a_run_in_the_background_is_looked_at_and_stopped(team: Team) -> None:
    team.add("slow", SLOW)
    said = team.runs.call("run", "slow", "--detach").output
    follow(
        in_process(team.runs),
        said,
        "{} continues in process {}; handrail status {} shows its progress",
        shows="slow-1",
    )
    until(lambda: "wait" in team.text("show", "slow-1"))
    said = team.text("merge", "slow-1", code=2)
    follow(in_process(team.runs), said, "wait for it, or: handrail stop {}", shows="stopped by ann")


def test_without_a_terminal_attach_leads_to_the_log(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    runs.text("run", "plain")
    follow(in_process(runs), runs.text("attach", "plain-1", code=2), "handrail logs {}", shows="one")


def test_an_empty_message_is_said_with_words(runs: Runs) -> None:
    asked(runs)
    said = runs.text("tell", "ask-1", " ", code=2)
    follow(in_process(runs), said, 'handrail tell {} "what you want to say"', shows="ask-1")
