"""A run as a person watches it: the real command line in a pseudo-terminal."""

from inline_snapshot import snapshot

from support.cli.live_room import fix, run, told, watch
from support.cli.team import Team


def test_a_run_with_a_fix_and_an_approval_at_120_columns(team: Team) -> None:
    gate = fix(team)
    with run(team, "fix", columns=120) as screen:
        screen.until("Bash until")
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
▸ reproduce  scripted  try 2 of 2  0:00  $0.05 of $6.00  Bash until test -e ~/go; do s…  Ctrl-C pauses, nothing is lost
""")
        gate.touch()
        screen.until("\n> ")
        screen.type("a\n")
        assert screen.wait() == 0
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm    needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect   or later: handrail approve fix-1
> a
✓ confirm    approved by ann
✗ checks     0.0s  test: exit 1 → fixing, try 1 of 3
✓ checks/fix  0.0s
✓ checks     0.0s  ✗ → fixed → ✓
fix-1 succeeded · 0.0s · $0.17 of $6.00
next: handrail diff fix-1 --stat, then apply, merge or discard it
""")


def test_a_run_with_a_fix_and_an_approval_at_80_columns(team: Team) -> None:
    gate = fix(team)
    team.write("app.txt", "changed\n")
    with run(team, "fix") as screen:
        screen.until("Bash until")
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
1 uncommitted file is not part of this run (--with-changes includes them)
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
▸ reproduce  scripted  try 2 of 2  0:00  $0.05 of $6.00  Bash until test -e ~/…
""")
        gate.touch()
        screen.until("\n> ")
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
1 uncommitted file is not part of this run (--with-changes includes them)
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm    needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve fix-1
>
""")
        screen.type("a\n")
        assert screen.wait() == 0
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
1 uncommitted file is not part of this run (--with-changes includes them)
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm    needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve fix-1
> a
✓ confirm    approved by ann
✗ checks     0.0s  test: exit 1 → fixing, try 1 of 3
✓ checks/fix  0.0s
✓ checks     0.0s  ✗ → fixed → ✓
fix-1 succeeded · 0.0s · $0.17 of $6.00
next: handrail diff fix-1 --stat, then apply, merge or discard it
""")


def test_ctrl_c_pauses_and_resume_goes_on(team: Team) -> None:
    gate = fix(team)
    with run(team, "fix") as screen:
        screen.until("Bash until")
        screen.ctrl("c")
        assert screen.wait() == 130
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
paused fix-1 at reproduce
next: handrail resume fix-1
""")
        assert screen.cursor() == (0, True)
    gate.touch()
    with watch(team, "resume") as screen:
        screen.until("\n> ")
        screen.ctrl("c")
        assert screen.wait() == 130
        assert told(team, screen) == snapshot("""\
fix-1: starts over
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm    needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve fix-1
> ^C
fix-1 is waiting for your answer: handrail approve fix-1
""")


def test_a_run_that_needs_somebody_says_where_the_work_is_safe(team: Team) -> None:
    steps = "  - {name: work, prompt: Do the work now.}\n  - {name: check, command: 'exit 1'}\n"
    team.add("bad", f"name: bad\nsteps:\n{steps}", work=[{"files": {"a.txt": "1", "b.txt": "2"}}])
    with run(team, "bad") as screen:
        assert screen.wait() == 1
        assert told(team, screen) == snapshot("""\
run bad-1 · pinned 0000 · 1 agent call
  worktree WORKTREES/bad-1
✓ work   0.0s
✗ check  0.0s  command: exit 1
bad-1 failed: step 'check' failed: command: exit 1
  the work is safe on branch work/bad-1 (2 uncommitted files)
next: handrail why bad-1, or handrail resume bad-1
""")
