"""The live view on terminals of all kinds: narrow, dumb, colourless, resized, closed; and on a pipe."""

import re
import subprocess

import pytest
from inline_snapshot import snapshot

from support.cli.live_room import environ, fix, run, told, waits_for, watch
from support.cli.running import HANDRAIL, until
from support.cli.team import Team

SGR = re.compile(rb"\x1b\[[0-9;]*m")


def test_a_usage_limit_says_when_it_goes_on_by_itself(team: Team) -> None:
    limit = {"fail": {"status": "quota", "retry_after": 3000}}
    team.add("lim", "name: lim\nsteps:\n  - {name: work, prompt: Do the work now.}\n", work=[limit, {"say": "done"}])
    with run(team, "lim", columns=160) as screen:
        screen.until("waits until")
        shown = re.sub(r"\b(at|until) \d\d:\d\d( on \w+ \d\d \w+)?", r"\1 HH:MM", screen.text())
        assert [" ".join(line.split()) for line in shown.splitlines()[-2:]] == snapshot(
            [
                "Scripted's usage limit is reached. Continues at HH:MM, even without this terminal; Ctrl-C pauses.",
                "… work usage limit, waits until HH:MM Ctrl-C pauses, nothing is lost",
            ]
        )
        screen.ctrl("c")
        assert screen.wait() == 130
        assert screen.lines()[-2:] == ["paused lim-1 at work", "next: handrail resume lim-1"]


def test_a_run_that_waits_goes_on_by_itself_when_its_terminal_is_closed(team: Team) -> None:
    limit = {"fail": {"status": "quota", "retry_after": 20}}
    team.add("lim", "name: lim\nsteps:\n  - {name: work, prompt: Do the work now.}\n", work=[limit, {"say": "done"}])
    with run(team, "lim", HANDRAIL_DRIVER_IDLE="1") as screen:
        screen.until("waits until")
        screen.hang_up()
        screen.process.wait(60)
        until(lambda: team.json("status", "lim-1")["runs"][0]["status"] in ("succeeded", "failed", "blocked"))
        assert team.json("status", "lim-1")["runs"][0]["status"] == "succeeded"


def test_no_color_means_no_colors(team: Team) -> None:
    fix(team).touch()
    with run(team, "fix", NO_COLOR="1") as screen:
        screen.until("\n> ")
        screen.type("a\n")
        assert screen.wait() == 0
        assert b"\x1b[" in screen.raw
        assert not SGR.search(screen.raw)


def test_a_dumb_terminal_gets_lines_without_any_escape_sequence(team: Team) -> None:
    fix(team).touch()
    with run(team, "fix", columns=200, TERM="dumb") as screen:
        screen.until("\n> ")
        screen.type("a\n")
        assert screen.wait() == 0
        assert b"\x1b" not in screen.raw
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
✓ worktree ready at WORKTREES/fix-1 on branch work/fix-1
▸ reproduce  scripted
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
▸ reproduce  scripted  try 2
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm  needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect   or later: handrail approve fix-1
> a
✓ confirm  approved by ann
✗ checks  0.0s  test: exit 1
▸ checks/fix  scripted
✓ checks/fix  0.0s
✓ checks  0.0s  ✗ → fixed → ✓
fix-1 succeeded · 0.0s · $0.17 of $6.00
next: handrail diff fix-1 --stat, then apply, merge or discard it
""")


def test_at_40_columns_no_line_is_wrapped(team: Team) -> None:
    gate = fix(team)
    with run(team, "fix", columns=40, rows=60) as screen:
        screen.until("▸ reproduce  try 2")
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000
  1 to 9 agent calls, at most $6.00, 90
    min · worktree WORKTREES/fix-1
✗ reproduce  0.0s  $0.05  not proven:…
▸ reproduce  try 2 of 2  0:00
""")
        gate.touch()
        screen.until("\n> ")
        screen.type("a\n")
        assert screen.wait() == 0
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000
  1 to 9 agent calls, at most $6.00, 90
    min · worktree WORKTREES/fix-1
✗ reproduce  0.0s  $0.05  not proven:…
✓ reproduce  0.0s  $0.12  proof: cause…
? confirm    needs you
    Cause: session TTL is read in
    minutes, written in seconds
    (medium)
  [a]pprove  [r]evise with a comment
  [d]iff  re[j]ect
  or later: handrail approve fix-1
> a
✓ confirm    approved by ann
✗ checks     0.0s  test: exit 1 → fixi…
✓ checks/fix  0.0s
✓ checks     0.0s  ✗ → fixed → ✓
fix-1 succeeded · 0.0s · $0.17 of $6.00
next: handrail diff fix-1 --stat, then
  apply, merge or discard it
""")
        assert max(len(line) for line in screen.lines()) < 40


def test_what_is_typed_while_nobody_asks_leaves_no_trace_and_answers_nothing(team: Team) -> None:
    gate = fix(team)
    with run(team, "fix") as screen:
        screen.until("Bash until")
        screen.type("a\n\n")
        screen.until(lambda text: text.count("▸ reproduce") == 1 and "\na\n" not in text)
        gate.touch()
        screen.until("\n> ")
        screen.ctrl("d")
        assert screen.wait() == 130
        # A live line may stay where the terminal echoed a key just before it was drawn again: echo is never turned off,
        # so that a killed process leaves a terminal that can be used.
        assert sum("✓ reproduce" in line for line in screen.lines()) == 1


def test_the_live_line_follows_the_width_of_the_window(team: Team) -> None:
    gate = fix(team)
    with run(team, "fix", columns=120) as screen:
        screen.until("nothing is lost")
        screen.resize(60, 24)
        screen.until(lambda text: "nothing is lost" not in text)
        screen.resize(120, 24)
        screen.until("nothing is lost")
        gate.touch()
        screen.until("\n> ")
        assert sum("▸" in line for line in screen.lines()) == 0


def test_kill_9_leaves_a_usable_terminal_and_the_live_line_comes_back_on_resume(team: Team) -> None:
    gate = fix(team)
    with run(team, "fix") as screen:
        screen.until("Bash until")
        screen.kill()
        assert screen.cursor() == (0, True)
        assert b"\x1b[?25l" not in screen.raw
    with watch(team, "resume") as screen:
        screen.until("Bash until")
        assert told(team, screen) == snapshot("""\
fix-1: starts over
▸ reproduce  scripted  try 2 of 2  0:00  $0.05 of $6.00  Bash until test -e ~/…
""")
        gate.touch()
        screen.until("\n> ")
        screen.type("a\n")
        assert screen.wait() == 0


def test_a_pipe_gets_plain_lines_without_escape_codes(team: Team) -> None:
    fix(team).touch()
    script = str(team.root.parent / "fix.script.yaml")
    words = [HANDRAIL, "run", "fix", "--agent", "scripted", "--script", script]
    nowhere = subprocess.DEVNULL
    ran = subprocess.run(words, cwd=team.root, env=environ(team), stdin=nowhere, capture_output=True, check=False)
    assert ran.returncode == 3
    assert b"\x1b" not in ran.stdout + ran.stderr
    assert b"\r" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("columns", [30, 100])
def test_wide_characters_never_wrap(team: Team, columns: int) -> None:
    gate = team.root.parent / "go"
    text = "name: wide\nsteps:\n  - {name: work, prompt: Do the work now.}\n"
    team.add("wide", text, work=[{"call_tool": {"name": "漢字" * 60}, "run": f": {'漢' * 90}; {waits_for(gate)}"}])
    with run(team, "wide", columns=columns) as screen:
        screen.until("漢" if columns > 40 else "▸ work")
        gate.touch()
        assert screen.wait() == 0
        assert not any("▸" in line for line in screen.lines())
