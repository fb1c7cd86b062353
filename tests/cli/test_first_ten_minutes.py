"""The first ten minutes as one person has them: every screen, in a terminal of 80 and of 120 columns."""

import os
import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.fresh import Fresh
from support.cli.screens import Screen

CART = "def total(lines):\n    return sum(price for price, quantity in lines)\n"
MEND = """\
name: mend
input:
  issue: issue
budget: {usd: 6, minutes: 90}
steps:
  - name: reproduce
    prompt: "Prove this bug with a failing test: {{ issue.title }}"
    output: repro
    returns: {cause: string}
    done_when:
      - fails: sh test_quantity.sh
        exit: 1
  - name: confirm
    type: approval
    message: "Cause: ${repro.cause}"
    revise: reproduce
  - name: fix
    prompt: Make the test pass.
    done_when: [{passes: sh test_quantity.sh}]
  - name: checks
    checks: project
    fix: {prompt: Make the checks pass., max: 3}
  - name: publish
    command: |
      test -e ~/token || { echo 'the token lacks "contents: write"' >&2; exit 1; }
    on_fail: block
"""
PLAY = """\
reproduce:
  - run: until test -e ~/go; do sleep 0.02; done
    files: {test_quantity.sh: 'read line <cart.py; test "$line" = counts'}
    output: {cause: total never looks at the quantity}
    usage: {cost: 0.31}
fix:
  - delay: 300
  - files: {cart.py: "counts\\n"}
    usage: {cost: 0.22}
checks/fix:
  - files: {fixed: "yes\\n"}
    usage: {cost: 0.08}
"""


class Person:
    """Somebody at a terminal of a given width."""

    def __init__(self, fresh: Fresh, columns: int) -> None:
        self.fresh, self.columns = fresh, columns
        self.home = Path(os.environ["HOME"])

    def types(self, *words: str) -> Screen:
        """Call a command."""
        env = {name: os.environ[name] for name in ("HOME", "PATH", "GIT_CONFIG_NOSYSTEM")}
        env |= {"HANDRAIL_HOME": str(self.home / ".handrail"), "USER": "ann", "LOGNAME": "ann"}
        return Screen(words, cwd=self.fresh.root, env=env, columns=self.columns)

    def sees(self, *words: str, code: int = 0) -> str:
        """Call a command that asks nothing; give the screen when it is over."""
        with self.types(*words) as screen:
            assert screen.wait() == code, screen.text()
            return self.masked(screen)

    def masked(self, screen: Screen) -> str:
        """Give the screen without what differs from machine to machine."""
        shown = screen.shown(TMP=str(self.fresh.root.parent))
        return re.sub(r"\d+(\.\d)? s\b", "0 s", re.sub(r"(git|python|sqlite) \d[\d.]+", r"\1 1.0", shown))


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.system)])
def test_init_run_approve_pause_resume_fail_mend_and_apply(fresh: Fresh, columns: int) -> None:
    ann = Person(fresh, columns)
    fresh.commit(**{"cart.py": CART, "Makefile": "test:\n\t@test ! -e broken || test -e fixed\n"})
    assert (
        ann.sees("doctor").partition("log ")[0]
        == snapshot(
            {
                80: """\
git 1.0 ✓   claude ✗ not installed   codex ✗ not installed
gemini ✗ not installed   opencode ✗ not installed   gh – optional
tmux – optional   bwrap – optional   python 1.0 ✓   sqlite 1.0 ✓
  github    no token (next: gh auth login, or set GH_TOKEN)
""",
                120: """\
git 1.0 ✓   claude ✗ not installed   codex ✗ not installed   gemini ✗ not installed   opencode ✗ not installed
gh – optional   tmux – optional   bwrap – optional   python 1.0 ✓   sqlite 1.0 ✓
  github    no token (next: gh auth login, or set GH_TOKEN)
""",
            }
        )[columns]
    )
    with ann.types("init") as screen:
        screen.until("[Y/n/e] ")
        screen.type("\n")
        assert screen.wait() == 0
        assert (
            ann.masked(screen)
            == snapshot(
                {
                    80: """\
Repository  shop, default branch main
Agent       none found: install claude, codex, gemini or opencode, then run
            handrail init again
Checks      test: make test
One test    make test FILE="$FILE"
Sources     **, !**/{test,tests,spec,specs,__tests__,testdata}/**,
            !**/*{test,spec,Test,Spec}*
Worktrees   nothing to set up, nothing to copy
Note        make test FILE="$FILE" runs all tests; if a single file can be run,
            configure it in [checks.test_one]
Trying it   worktree 0 s, make test 0 s ✓ green on main
Write this? [Y/n/e]
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        install an agent and log in, then: handrail run fix-bug "what is
            broken"
""",
                    120: """\
Repository  shop, default branch main
Agent       none found: install claude, codex, gemini or opencode, then run handrail init again
Checks      test: make test
One test    make test FILE="$FILE"
Sources     **, !**/{test,tests,spec,specs,__tests__,testdata}/**, !**/*{test,spec,Test,Spec}*
Worktrees   nothing to set up, nothing to copy
Note        make test FILE="$FILE" runs all tests; if a single file can be run, configure it in [checks.test_one]
Trying it   worktree 0 s, make test 0 s ✓ green on main
Write this? [Y/n/e]
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/   (trusted: you wrote them)
Next        install an agent and log in, then: handrail run fix-bug "what is broken"
""",
                }
            )[columns]
        )
    fresh.commit(**{".handrail/workflows/mend/workflow.yaml": MEND, "broken": "yes\n"})
    fresh.shop.write("notes.txt", "mine\n")
    play = fresh.root.parent / "play.yaml"
    play.write_text(PLAY, "utf-8")
    with ann.types("run", "mend", "two of one kind cost as much as one", "--script", str(play)) as screen:
        screen.until("Trust this content?")
        screen.type("y\n")
        screen.until("Bash until")
        (ann.home / "go").touch()
        screen.until("\n> ")
        screen.type("a\n")
        screen.until("▸ fix")
        screen.ctrl("c")
        assert screen.wait() == 130
        assert (
            ann.masked(screen).partition("[y/N]: y\n")[2]
            == snapshot(
                {
                    80: """\
run mend-1 · pinned 0000 · 2 to 8 agent calls, at most $6.00, 90 min
  worktree WORKTREES/mend-1
1 uncommitted file is not part of this run (--with-changes includes them)
✓ reproduce  0.0s  $0.31  proof: sh test_quantity.sh exits 1
? confirm    needs you
    Cause: total never looks at the quantity
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve mend-1
> a
✓ confirm    approved by ann
paused mend-1 at fix
next: handrail resume mend-1
""",
                    120: """\
run mend-1 · pinned 0000 · 2 to 8 agent calls, at most $6.00, 90 min
  worktree WORKTREES/mend-1
1 uncommitted file is not part of this run (--with-changes includes them)
✓ reproduce  0.0s  $0.31  proof: sh test_quantity.sh exits 1
? confirm    needs you
    Cause: total never looks at the quantity
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect   or later: handrail approve mend-1
> a
✓ confirm    approved by ann
paused mend-1 at fix
next: handrail resume mend-1
""",
                }
            )[columns]
        )
    assert (
        ann.sees()
        == snapshot(
            {
                80: "PAUSED  mend-1  fix  $0.31  handrail resume mend-1\n",
                120: "PAUSED  mend-1  fix  $0.31  handrail resume mend-1\n",
            }
        )[columns]
    )
    assert (
        ann.sees("resume", code=3)
        == snapshot(
            {
                80: """\
mend-1: reproduce, confirm are done and not repeated
✓ fix        0.0s  $0.22  proof: sh test_quantity.sh passes
✗ checks     0.0s  test: exit 2 → fixing, try 1 of 3
✓ checks/fix  0.0s  $0.08
✓ checks     0.0s  ✗ → fixed → ✓
✗ publish    0.0s  command: exit 1 · the token lacks "contents: write"
mend-1 needs you: step 'publish' failed: command: exit 1
  fix what failed, then resume the run: the step starts over
  the work is safe on branch work/mend-1 (3 uncommitted files)
next: handrail resume mend-1
""",
                120: """\
mend-1: reproduce, confirm are done and not repeated
✓ fix        0.0s  $0.22  proof: sh test_quantity.sh passes
✗ checks     0.0s  test: exit 2 → fixing, try 1 of 3
✓ checks/fix  0.0s  $0.08
✓ checks     0.0s  ✗ → fixed → ✓
✗ publish    0.0s  command: exit 1 · the token lacks "contents: write"
mend-1 needs you: step 'publish' failed: command: exit 1
  fix what failed, then resume the run: the step starts over
  the work is safe on branch work/mend-1 (3 uncommitted files)
next: handrail resume mend-1
""",
            }
        )[columns]
    )
    (ann.home / "token").touch()
    assert (
        ann.sees("resume", "@last")
        == snapshot(
            {
                80: """\
mend-1: reproduce, confirm, fix, checks are done and not repeated
✓ publish    0.0s
mend-1 succeeded · 0.0s · $0.61 of $6.00
next: handrail diff mend-1 --stat, then apply, merge or discard it
""",
                120: """\
mend-1: reproduce, confirm, fix, checks are done and not repeated
✓ publish    0.0s
mend-1 succeeded · 0.0s · $0.61 of $6.00
next: handrail diff mend-1 --stat, then apply, merge or discard it
""",
            }
        )[columns]
    )
    assert (
        ann.sees("diff", "mend-1", "--stat")
        == snapshot(
            {
                80: """\
 cart.py          | 3 +--
 fixed            | 1 +
 test_quantity.sh | 1 +
 3 files changed, 3 insertions(+), 2 deletions(-)
""",
                120: """\
 cart.py          | 3 +--
 fixed            | 1 +
 test_quantity.sh | 1 +
 3 files changed, 3 insertions(+), 2 deletions(-)
""",
            }
        )[columns]
    )
    assert (
        ann.sees("apply", "mend-1")
        == snapshot(
            {
                80: """\
Applied 3 files to your checkout as uncommitted changes. Undo: git stash, or han
drail apply --undo
""",
                120: """\
Applied 3 files to your checkout as uncommitted changes. Undo: git stash, or handrail apply --undo
""",
            }
        )[columns]
    )
    assert (
        ann.sees("why", "mend-1", "checks")
        == snapshot(
            {
                80: """\
checks      checks begin, because 'fix' succeeded
checks      ran because 'fix' succeeded
checks      failed: test: exit 2
checks/fix  ran because 'checks' failed, by scripted (--agent)
checks/fix  succeeded
checks      try 2, ran because 'checks/fix' succeeded
checks      succeeded
checks      checks passed
""",
                120: """\
checks      checks begin, because 'fix' succeeded
checks      ran because 'fix' succeeded
checks      failed: test: exit 2
checks/fix  ran because 'checks' failed, by scripted (--agent)
checks/fix  succeeded
checks      try 2, ran because 'checks/fix' succeeded
checks      succeeded
checks      checks passed
""",
            }
        )[columns]
    )
    assert (
        ann.sees("status")
        == snapshot(
            {
                80: "ENDED  mend-1  succeeded  $0.61  handrail show mend-1\n",
                120: "ENDED  mend-1  succeeded  $0.61  handrail show mend-1\n",
            }
        )[columns]
    )
    changed = [" M cart.py", "?? fixed", "?? notes.txt", "?? test_quantity.sh"]
    assert fresh.git("status", "--short").splitlines() == changed
