"""What a run asks a person is answered where it is watched, while the rest goes on."""

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.cli.live.question import LETTERS, Choice, choose
from support.cli.live_room import fix, run, told, waits_for, watch
from support.cli.team import Team

CHOICES: tuple[Choice, ...] = tuple(LETTERS)
WORDS = {word for choice, letter in LETTERS.items() for word in (choice, letter)}


@given(st.text(max_size=12) | st.sampled_from(CHOICES).flatmap(lambda word: st.just(word[:3]) | st.just(f"{word}e")))
def test_no_word_but_an_offered_one_decides(word: str) -> None:
    chosen = choose(f"{word}\n", CHOICES)
    assert (chosen is not None) == (" ".join(word.split()).lower() in WORDS)


@given(st.sampled_from(CHOICES), st.sets(st.sampled_from(CHOICES)))
def test_a_choice_counts_only_where_it_is_offered(choice: Choice, offered: set[Choice]) -> None:
    for typed in (choice, LETTERS[choice], f" {choice.upper()} "):
        assert choose(f"{typed}\n", offered) == (choice if choice in offered else None)


def test_an_approval_shows_the_difference_takes_a_revision_and_a_rejection(team: Team) -> None:
    fix(team).touch()
    with run(team, "fix", rows=60) as screen:
        screen.until("\n> ")
        screen.type("what?\n")
        screen.until("(reject)\n> ")
        screen.type("d\n")
        screen.until(lambda text: text.count("[a]pprove") == 2 and text.endswith("> "))
        screen.type("r\n")
        screen.until("what should change: ")
        screen.type("look again\n")
        screen.until(lambda text: text.count("[a]pprove") == 3 and text.endswith("> "))
        screen.type("j\n")
        screen.until("why (optional): ")
        screen.type("not that\n")
        assert screen.wait() == 1
        assert told(team, screen) == snapshot("""\
run fix-1 · pinned 0000 · 1 to 9 agent calls, at most $6.00, 90 min
  worktree WORKTREES/fix-1
✗ reproduce  0.0s  $0.05  not proven: cause.txt exists
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm    needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve fix-1
> what?
  type a (approve), r (revise), d (diff), j (reject)
> d
diff --git a/cause.txt b/cause.txt
new file mode 100644
--- /dev/null
+++ b/cause.txt
@@ -0,0 +1 @@
+minutes
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve fix-1
> r
  what should change: look again
✓ confirm    sent back by ann: look again
✓ reproduce  0.0s  $0.12  proof: cause.txt exists
? confirm    needs you
    Cause: session TTL is read in minutes, written in seconds (medium)
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve fix-1
> j
  why (optional): not that
✗ confirm    rejected by ann: not that
fix-1 failed: rejected at 'confirm': not that
  the work is safe on branch work/fix-1 (1 uncommitted file)
next: handrail why fix-1, or handrail resume fix-1
""")


def test_a_question_is_answered_in_place(team: Team) -> None:
    steps = "name: asking\nsteps:\n  - {name: work, prompt: Do the work now.}\n"
    team.add("asking", steps, work=[{"ask": "Formal or friendly?"}, {"say": "Friendly it is."}])
    with run(team, "asking") as screen:
        screen.until("\n> ")
        screen.type("\n")
        screen.until("the answer is empty\n> ")
        screen.type("friendly\n")
        assert screen.wait() == 0
        assert told(team, screen) == snapshot("""\
run asking-1 · pinned 0000 · 1 agent call
  worktree WORKTREES/asking-1
? work  needs you
    Formal or friendly?
  your answer, or later: handrail answer asking-1 "..."
>
  the answer is empty
> friendly
✓ work  answered by ann: friendly
✓ work  0.0s
asking-1 succeeded
next: handrail diff asking-1 --stat, then apply, merge or discard it
""")


def test_what_stands_in_a_line_at_ctrl_d_is_no_answer(team: Team) -> None:
    fix(team).touch()
    with run(team, "fix") as screen:
        screen.until("\n> ")
        screen.type("a\x04\x04")
        assert screen.wait() == 130
    assert team.json("status", "fix-1")["runs"][0]["reason"] == "approval"


def test_ctrl_d_leaves_a_question_for_later(team: Team) -> None:
    fix(team).touch()
    with run(team, "fix") as screen:
        screen.until("\n> ")
        screen.ctrl("d")
        assert screen.wait() == 130
        assert screen.lines()[-2:] == [">", "fix-1 is waiting for your answer: handrail approve fix-1"]
    with watch(team, "approve", "fix-1") as screen:
        assert screen.wait() == 0
        assert told(team, screen) == snapshot("""\
✓ confirm    approved by ann
✗ checks     0.0s  test: exit 1 → fixing, try 1 of 3
✓ checks/fix  0.0s
✓ checks     0.0s  ✗ → fixed → ✓
fix-1 succeeded · 0.0s · $0.17 of $6.00
next: handrail diff fix-1 --stat, then apply, merge or discard it
""")


PARALLEL = """\
name: par
steps:
  - {name: items, type: script, command: "echo '[\\"a\\", \\"b\\", \\"c\\"]'", returns: [string], output: items}
  - name: build
    type: parallel-agents
    for_each: ${items}
    key: item
    max_concurrent: 3
    steps:
      - {name: make, prompt: 'Make {{ item }} now.'}
      - {name: ok, type: approval, when: "item == 'a'", message: 'Is a good?'}
"""


def test_items_in_parallel_have_a_line_each_and_go_on_while_one_of_them_asks(team: Team) -> None:
    gates = {key: team.root.parent / f"go-{key}" for key in "abc"}
    script = {f"build[{key}]/make": [{"run": waits_for(gate), "usage": {"cost": 0.1}}] for key, gate in gates.items()}
    team.add("par", PARALLEL, **script)
    with run(team, "par") as screen:
        screen.until(lambda text: text.count("Bash until") == 3)
        # Which item is ready first is open.
        assert sorted(told(team, screen).splitlines()[-3:]) == snapshot(
            [
                "▸ build[a]/make  scripted  0:00  Bash until test -e ~/go-a; do sleep 0.02; done",
                "▸ build[b]/make  scripted  0:00  Bash until test -e ~/go-b; do sleep 0.02; done",
                "▸ build[c]/make  scripted  0:00  Bash until test -e ~/go-c; do sleep 0.02; done",
            ]
        )
        gates["a"].touch()
        screen.until("\n> ")
        assert told(team, screen) == snapshot("""\
run par-1 · pinned 0000 · an unknown number of agent calls
  worktree WORKTREES/par-1
✓ items  0.0s
▸ build  3 items, 3 at a time: a, b, c
✓ build[a]/make  0.0s  $0.10
? build[a]/ok  needs you
    Is a good?
  meanwhile build[b]/make, build[c]/make continue
  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect
  or later: handrail approve par-1.6
>
""")
        gates["b"].touch()
        gates["c"].touch()
        screen.type("a\n")
        assert screen.wait() == 0
        assert sorted(told(team, screen).splitlines()) == snapshot(
            [
                "    Is a good?",
                "  [a]pprove  [r]evise with a comment  [d]iff  re[j]ect",
                "  meanwhile build[b]/make, build[c]/make continue",
                "  or later: handrail approve par-1.6",
                "  worktree WORKTREES/par-1",
                "> a",
                "? build[a]/ok  needs you",
                "next: handrail diff par-1 --stat, then apply, merge or discard it",
                "par-1 succeeded · 0.0s · $0.30",
                "run par-1 · pinned 0000 · an unknown number of agent calls",
                "– build[b]/ok  skipped: item == 'a' is false (item = \"b\")",
                "– build[c]/ok  skipped: item == 'a' is false (item = \"c\")",
                "▸ build  3 items, 3 at a time: a, b, c",
                "✓ build  0.0s  3 of 3 items succeeded",
                "✓ build[a]  0.0s  $0.10  on branch work/par-1-a",
                "✓ build[a]/make  0.0s  $0.10",
                "✓ build[a]/ok  approved by ann",
                "✓ build[b]  0.0s  $0.10  on branch work/par-1-b",
                "✓ build[b]/make  0.0s  $0.10",
                "✓ build[c]  0.0s  $0.10  on branch work/par-1-c",
                "✓ build[c]/make  0.0s  $0.10",
                "✓ items  0.0s",
            ]
        )


def test_a_budget_that_asks_is_raised_in_place_or_the_run_stops(team: Team) -> None:
    steps = "  - {name: one, prompt: Do the work now.}\n  - {name: two, prompt: Do the rest now.}\n"
    text = f"name: dear\nbudget: {{usd: 1, at_limit: ask}}\nsteps:\n{steps}"
    team.add("dear", text, default={"say": "done", "usage": {"cost": 1.0}})
    with run(team, "dear") as screen:
        screen.until("\n> ")
        screen.type("g\n")
        assert screen.wait() == 0
        assert told(team, screen) == snapshot("""\
run dear-1 · pinned 0000 · 2 agent calls, at most $1.00
  worktree WORKTREES/dear-1
✓ one  0.0s  $1.00
? dear-1  needs you
    the budget is used up: $1.00 of $1.00
  [g]o on with the same amount once more  [s]top for good
  or later: handrail resume dear-1
> g
✓ two  0.0s  $1.00
dear-1 succeeded · 0.0s · $2.00 of $2.00
next: handrail diff dear-1 --stat, then apply, merge or discard it
""")
    with run(team, "dear") as screen:
        screen.until("\n> ")
        screen.type("s\n")
        assert screen.wait() == 1
        assert screen.lines()[-1].startswith("dear-2 stopped by ann")
