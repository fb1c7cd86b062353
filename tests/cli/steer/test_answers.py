"""Commands that move a run: approve, revise, reject, resume, rewind, fork, take, release, stop."""

from inline_snapshot import snapshot

from support.cli.running import ASKING, Runs

PARENT = (
    "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: ask}\n  - {name: after, command: 'echo after'}\n"
)
PLAIN_ASK = "name: NAME\nsteps:\n  - {name: ok, type: approval, message: Go?}\n"
FLAKY = """\
name: NAME
steps:
  - {name: one, command: 'echo one >> trace'}
  - {name: two, command: 'echo two >> trace; test -e go'}
  - {name: three, command: 'echo three >> trace'}
"""


def asked(runs: Runs, text: str = ASKING) -> None:
    runs.add("ask", text)
    runs.text("run", "ask", code=3)


def test_approve_goes_on_to_the_end(runs: Runs) -> None:
    asked(runs)
    assert runs.text("approve", "ask-1") == snapshot("""\
✓ ok  approved by ann
✓ ship  0.0s
ask-1 succeeded
""")
    assert runs.text("approve", "ask-1", code=2) == snapshot("""\
error: ask-1 is not waiting for approval
next: handrail status ask-1
""")


def test_revise_goes_back_with_the_comment_and_only_as_often_as_it_may(runs: Runs) -> None:
    asked(runs)
    assert runs.text("revise", "ask", "-m", "shorter $(x)", code=3) == snapshot("""\
✓ ok  sent back by ann: shorter $(x)
✓ draft  0.0s
? ok  needs you: Is "draft" good?
ask-1 needs you: Is "draft" good?
next: handrail approve ask-1, or revise, or reject
""")
    assert runs.text("revise", "ask", "-m", "again", code=2) == snapshot("""\
error: 'ok' has reached its maximum number of revisions
next: handrail approve ask-1, or handrail reject ask-1
""")
    assert runs.json("approve", "ask")["status"] == "succeeded"


def test_revise_where_there_is_nothing_to_go_back_to_leaves_the_question_open(runs: Runs) -> None:
    asked(runs, PLAIN_ASK)
    assert "'ok' has no step to go back to" in runs.text("revise", "ask", "-m", "x", code=2)
    assert runs.json("approve", "ask")["status"] == "succeeded"


def test_revise_needs_words(runs: Runs) -> None:
    asked(runs)
    assert "missing option '-m'" in runs.text("revise", "ask", code=2)


def test_reject_ends_the_run_with_the_reason(runs: Runs) -> None:
    asked(runs)
    assert runs.text("reject", "ask", "-m", "wrong idea") == snapshot("""\
✗ ok  rejected by ann: wrong idea
ask-1 failed: rejected at 'ok': wrong idea
next: handrail why ask-1, or handrail resume ask-1
""")
    assert runs.json("status", "ask")["runs"][0]["error"] == "rejected at 'ok': wrong idea"


def test_answer_says_that_nothing_asks_in_words(runs: Runs) -> None:
    asked(runs)
    assert runs.text("answer", "ask", "yes", code=2) == snapshot("""\
error: ask-1 is waiting for approval, not for a text answer
next: handrail approve ask-1, or revise -m TEXT, or reject
""")
    runs.text("approve", "ask")
    assert runs.text("answer", "ask", "yes", code=2) == snapshot("""\
error: ask-1 has not asked a question
next: handrail status ask-1
""")


def test_the_question_of_a_child_is_answered_through_its_parent(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    assert runs.text("inbox") == snapshot(
        'NEEDS YOU  parent-1  kid/ok  Is "draft" good?  handrail approve parent-1.2\n'
    )
    assert runs.json("approve", "parent")["status"] == "succeeded"


def test_resume_repeats_only_what_is_not_done(runs: Runs) -> None:
    runs.add("flaky", FLAKY.replace("test -e go", "test -e go"))
    runs.text("run", "flaky", code=1)
    (runs.shop.root / "go").touch()
    assert runs.text("resume") == snapshot("""\
flaky-1: one is done and not repeated
✓ two  0.0s
✓ three  0.0s
flaky-1 succeeded
""")
    assert runs.trace() == ["one", "two", "two", "three"]


def test_resume_prints_the_same_document_as_run(runs: Runs) -> None:
    runs.add("flaky", FLAKY)
    first = runs.json("run", "flaky", code=1)
    (runs.shop.root / "go").touch()
    again = runs.json("resume", "flaky")
    assert list(again) == list(first)
    assert (again["run"], again["status"], again["error"]) == ("flaky-1", "succeeded", None)


def test_resume_without_an_id_needs_exactly_one_candidate(runs: Runs) -> None:
    runs.add("flaky", FLAKY)
    runs.add("ask", PLAIN_ASK)
    runs.text("run", "ask", code=3)
    assert runs.text("resume", code=2) == snapshot("""\
error: no run can be resumed
next: handrail status
""")
    for _ in range(2):
        runs.text("run", "flaky", code=1)
    assert runs.text("resume", code=2) == snapshot("""\
error: 2 runs can be resumed: flaky-2, flaky-1
next: handrail resume flaky-2
""")


def test_a_run_that_is_over_is_not_resumed(runs: Runs) -> None:
    asked(runs, PLAIN_ASK)
    runs.text("approve", "ask")
    assert runs.text("resume", "ask", code=2) == snapshot("""\
error: ask-1 has already ended (succeeded)
next: handrail rewind ask-1 ok, or handrail fork ask-1 ok
""")


def test_rewind_goes_back_and_on_again(runs: Runs) -> None:
    runs.add("flaky", FLAKY)
    (runs.shop.root / "go").touch()
    runs.text("run", "flaky")
    assert runs.text("rewind", "flaky", "two") == snapshot("""\
flaky-1 goes back to before 'two' (event 4)
✓ two  0.0s
✓ three  0.0s
flaky-1 succeeded
""")
    assert runs.trace() == ["one", "two", "three", "two", "three"]
    assert runs.text("rewind", "flaky", "nope", code=2) == snapshot("""\
error: flaky-1 never started a step 'nope'
next: steps it started: one, two, three
""")


def test_fork_copies_and_leaves_the_original_alone(runs: Runs) -> None:
    asked(runs)
    assert runs.text("fork", "ask-1", "-n", "2") == snapshot("""\
ask-2 is a copy of ask-1   next: handrail resume ask-2
ask-3 is a copy of ask-1   next: handrail resume ask-3
""")
    assert runs.json("resume", "ask-2", code=3)["current_step"] == "ok"
    assert runs.json("approve", "ask-2")["status"] == "succeeded"
    assert runs.json("fork", "ask-1", "draft") == {"run": "ask-1", "copies": ["ask-4"]}
    assert [step["address"] for step in runs.json("show", "ask-4")["steps"]] == []
    assert runs.json("status", "ask-1")["runs"][0]["reason"] == "approval"


def test_stop_is_for_good_and_a_stopped_run_can_be_forked(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    assert runs.text("stop", "parent-1") == snapshot("parent-1 stopped by ann\n")
    assert runs.json("status", "parent-1.2")["runs"][0]["status"] == "cancelled"
    assert runs.text("stop", "parent-1", code=2) == snapshot("error: parent-1 has already ended (cancelled)\n")
    assert runs.text("rewind", "parent-1", "kid", code=2) == snapshot("""\
error: parent-1 was stopped for good
next: handrail fork parent-1 kid
""")
    assert runs.json("fork", "parent-1", "kid")["copies"] == ["parent-2"]


def test_a_run_is_stopped_with_a_reason(runs: Runs) -> None:
    asked(runs)
    assert runs.text("stop", "ask-1", "-m", "out of date") == snapshot("ask-1 stopped by ann: out of date\n")
    shown = runs.json("status", "ask-1")["runs"][0]
    assert shown["status"] == "cancelled"
    assert "stopped by ann: out of date" in runs.text("logs", "ask-1")


def test_a_taken_run_is_held_until_it_is_released(runs: Runs) -> None:
    asked(runs)
    assert runs.text("take", "ask") == snapshot("""\
ask-1 is handed over to a connected agent
tell the agent: call continue_workflow with intent "rehydrate" and continueToken "TOKEN"
to return it to Handrail: handrail release ask-1
""")
    assert runs.text("take", "ask").startswith("ask-1 is handed over to a connected agent\n"), "a person takes it over"
    assert runs.text("resume", "ask", code=2) == snapshot("""\
error: ask-1 is held by connected agent NAME
next: handrail approve ask-1
""")
    assert "handrail approve ask-1" in runs.text("status")
    assert runs.text("release", "ask", code=3) == snapshot("""\
Handrail is running ask-1 again
ask-1 needs you: Is "draft" good?
next: handrail approve ask-1, or revise, or reject
""")
    assert runs.text("release", "ask", code=2) == snapshot("""\
error: ask-1 is not held by anyone
next: handrail status ask-1
""")


def test_an_approval_of_a_taken_run_names_no_agent_that_is_not_started(runs: Runs) -> None:
    runs.add(
        "hand",
        "name: NAME\nsteps:\n  - {name: ok, type: approval, message: Go on?}\n"
        "  - {name: polish, prompt: Make it shine., agent: claude}\n",
    )
    runs.shop.write("play.yaml", "default: {say: done}\n")
    runs.call("run", "hand", "--script", "play.yaml")
    runs.text("take", "hand-1")
    said = runs.text("approve", "hand-1")
    assert "hand-1 continues with connected agent" in said
    assert "next: handrail release hand-1" in said
    assert "polish" not in said
