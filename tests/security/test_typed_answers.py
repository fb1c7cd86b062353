"""What is typed at a terminal decides only where it is one of the answers that were offered."""

import pytest

from support.security.black_box import BlackBox
from support.security.screen import on_screen

DEPLOY = "name: deploy\nsteps:\n  - {name: ok, type: approval, message: Ship it?}\n  - {name: ship, command: MARK}\n"
DEAR = """\
name: dear
budget: {usd: 1, at_limit: ask}
steps:
  - {name: one, agent: scripted, prompt: Do the work now.}
  - {name: two, agent: scripted, prompt: Do the rest now.}
"""
SCRIPT = "default: {say: done, usage: {cost: 1.0}}\n"
NEARLY = ("abort", "again", "approved", "any", "anything but that", "jj", "reject!", "rejected", "dif", "", "y", "yes")


def test_no_other_word_decides_an_approval(box: BlackBox) -> None:
    box.write_own("workflows/deploy/workflow.yaml", DEPLOY.replace("MARK", box.mark("shipped")))
    with on_screen(box, "run", "deploy") as screen:
        screen.wait_for("Ship it?")
        for word in NEARLY:
            screen.wait_for("\n> ")
            screen.type(f"{word}\n")
        screen.wait_for("\n> ")
        screen.type("\x04")
        assert screen.end() == 130
    assert box.traces() == []
    document = box.call("status", "deploy-1", "--json").document["runs"][0]
    assert (document["status"], document["reason"]) == ("waiting", "approval")


@pytest.mark.parametrize(("word", "traces"), [("a", ["shipped"]), ("Approve", ["shipped"])])
def test_the_offered_letter_and_the_whole_word_decide(box: BlackBox, word: str, traces: list[str]) -> None:
    box.write_own("workflows/deploy/workflow.yaml", DEPLOY.replace("MARK", box.mark("shipped")))
    with on_screen(box, "run", "deploy") as screen:
        screen.wait_for("Ship it?")
        screen.wait_for("\n> ")
        screen.type(f"{word}\n")
        assert screen.end() == 0
    assert box.traces() == traces


def test_no_other_word_raises_a_budget_or_stops_the_run(box: BlackBox) -> None:
    box.write_own("workflows/dear/workflow.yaml", DEAR)
    script = box.write("play.yaml", SCRIPT)
    box.commit()
    with on_screen(box, "run", "dear", "--script", str(script)) as screen:
        screen.wait_for("[g]o on")
        for word in ("give up", "get out", "gone", "status", "show me", "s?", ""):
            screen.wait_for("\n> ")
            screen.type(f"{word}\n")
        screen.wait_for("\n> ")
        screen.type("\x04")
        assert screen.end() == 130
    document = box.call("status", "dear-1", "--json").document["runs"][0]
    assert (document["status"], document["reason"], document["cost"]) == ("blocked", "budget", 1.0)


@pytest.mark.parametrize("typed", ["yep\nyn\nyessir\n\n", "\x04", "\n", "trust\nno\n"])
def test_no_other_word_trusts(box: BlackBox, typed: str) -> None:
    box.write(
        ".handrail/workflows/own/workflow.yaml", f"name: own\nsteps:\n  - {{name: one, command: {box.mark('ran')}}}\n"
    )
    box.commit()
    with on_screen(box, "run", "own") as screen:
        screen.wait_for("Trust this content?")
        screen.type(typed)
        assert screen.end() != 0
    assert box.traces() == []


@pytest.mark.parametrize("typed", ["yep\n\x04", "\x04"])
def test_no_other_word_lets_init_write(box: BlackBox, typed: str) -> None:
    with on_screen(box, "init", "--no-try") as screen:
        screen.wait_for("Write this?")
        screen.type(typed)
        assert screen.end() == 130
    assert not (box.repository / ".handrail").exists()


def test_an_empty_line_resumes_nothing(box: BlackBox) -> None:
    box.write_own(
        "workflows/fails/workflow.yaml", f"name: fails\nsteps:\n  - {{name: one, command: {box.mark('ran')}; false}}\n"
    )
    for _ in range(2):
        box.call("run", "fails")
    for trace in box.loot.iterdir():
        trace.unlink()
    with on_screen(box, "resume") as screen:
        screen.wait_for("Which one")
        screen.type("\n\x04")
        screen.end()
    assert box.traces() == []
