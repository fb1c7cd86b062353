"""Agents' questions, answered in words and on a terminal, and what is told to agents."""

import os
import pty
import subprocess

from inline_snapshot import snapshot

from support.cli.running import HANDRAIL
from support.cli.team import Team
from support.cli.team_workflows import BUILDS, FAN

ASKING = """\
name: NAME
steps:
  - {name: work, prompt: 'Do the work now, and ask when in doubt.', output: said}
"""
ASKS = {"work": [{"ask": "Which one, a or b?"}, {"say": "as you like", "files": {"b.txt": "b\n"}}]}


def test_an_agents_question_is_answered_in_words(team: Team) -> None:
    team.add("asking", ASKING, **ASKS)
    assert team.run("asking", code=3) == snapshot("""\
run asking-1 · pinned 0000 · 1 agent call
✓ worktree ready at WORKTREES/asking-1 on branch work/asking-1
▸ work  scripted
? work  needs you: Which one, a or b?
asking-1 needs you: Which one, a or b?
next: handrail answer asking-1 "..."
""")
    assert team.text("inbox") == snapshot(
        'NEEDS YOU  asking-1  work  asks: Which one, a or b?  handrail answer asking-1 "..."\n'
    )
    assert team.json("show", "asking-1")["reason"] == "question"
    refused = team.text("approve", "asking-1", code=2)
    assert refused == snapshot("""\
error: asking-1 is not waiting for approval
next: handrail answer asking-1 "..."
""")
    assert team.text("answer", "asking-1", "  ", code=2).startswith("error: the answer is empty")
    assert team.text("answer", "asking-1", "take b") == snapshot("""\
✓ work  answered by ann: take b
▸ work  scripted
✓ work  0.0s
asking-1 succeeded
next: handrail diff asking-1 --stat, then apply, merge or discard it
""")
    assert "take b" in team.text("show", "asking-1", "work", "--prompt")
    assert team.text("answer", "asking-1", "again", code=2).startswith("error: asking-1 has not asked a question")


def test_the_question_of_an_item_is_answered_through_its_run(team: Team) -> None:
    ask = {"ask": "Which one?"}
    team.add("fan", FAN, **{**BUILDS, "build[b]/make": [ask, BUILDS["build[b]/make"][0]]})
    team.run("fan", code=3)
    assert "asks: Which one?" in team.text("inbox")
    said = team.text("answer", "fan-1", "this one")
    assert "build[b]/make  answered by ann: this one" in said
    assert "fan-1 succeeded" in said


def test_what_is_said_to_a_run_is_told_to_its_next_agent(team: Team) -> None:
    text = "name: NAME\nsteps:\n  - {name: ok, type: approval, message: Go on?}\n  - {name: work, prompt: Do it now.}\n"
    team.add("told", text, work=[{"say": "Done."}])
    team.run("told", code=3)
    assert team.text("tell", "told-1", "use tabs") == "told-1: the next agent gets the message once the run continues\n"
    assert team.json("tell", "told-1", "be brief")["step"] == ""
    assert "ann says: use tabs" in team.text("approve", "told-1")
    prompt = team.text("show", "told-1", "work", "--prompt")
    assert prompt.index("use tabs") < prompt.index("be brief")
    assert team.text("tell", "told-1", "too late", code=2).startswith("error: told-1 has already ended (succeeded)")


def test_the_log_tells_questions_items_and_work_trees_in_words(team: Team) -> None:
    team.add("asking", ASKING, **ASKS)
    team.run("asking", code=3)
    team.text("answer", "asking-1", "take b")
    told = [" ".join(line.split()[2:]) for line in team.text("logs", "asking-1").splitlines()]
    assert "workspace_ready worktree ready at WORKTREES/asking-1 on branch work/asking-1" in told
    assert "question_asked work asks: Which one, a or b?" in told
    assert "question_answered work answered by ann: take b" in told


def on_terminal(team: Team, name: str, typed: list[tuple[str, str]]) -> str:
    """Run a workflow on a terminal and type an answer after each text that appears."""
    script = str(team.root.parent / f"{name}.script.yaml")
    ours, theirs = pty.openpty()
    env = {**team.runs.environ(), "HOME": os.environ["HOME"], "GIT_CONFIG_NOSYSTEM": "1"}
    words = [HANDRAIL, "run", name, "--agent", "scripted", "--script", script]
    process = subprocess.Popen(words, cwd=team.root, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said, waiting = "", list(typed)
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:
            break
        if not data:
            break
        said += data.decode(errors="replace")
        if waiting and waiting[0][0] in said:
            os.write(ours, f"{waiting.pop(0)[1]}\n".encode())
    assert process.wait(60) == 0, said
    os.close(ours)
    return said


def test_a_question_is_answered_in_place_on_a_terminal(team: Team) -> None:
    team.add("asking", ASKING, **ASKS)
    said = on_terminal(team, "asking", [("your answer", "take b")])
    assert "Which one, a or b?" in said
    assert "asking-1 succeeded" in said


def test_the_diff_is_looked_at_before_an_approval_on_a_terminal(team: Team) -> None:
    text = ASKING + "  - {name: ok, type: approval, message: Good?}\n"
    team.add("looking", text, work=[{"files": {"b.txt": "new line\n"}}])
    said = on_terminal(team, "looking", [("[d]iff", "d"), ("+new line", "a")])
    assert "looking-1 succeeded" in said
