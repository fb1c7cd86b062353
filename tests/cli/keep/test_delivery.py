"""What becomes of a run's changes: apply, merge, discard, clean, and copies side by side."""

from pathlib import Path

from inline_snapshot import snapshot

from support.cli.team import Team, squeezed
from support.cli.team_workflows import BUILDS, FAN, PLAYS, TWO

ASKS = """\
name: NAME
steps:
  - {name: work, prompt: Change the program now.}
  - {name: ok, type: approval, message: Good?}
"""
CHANGES = {"work": [{"files": {"app.txt": "one\n2\n"}}]}


def done(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")


def test_apply_brings_uncommitted_changes_and_undo_takes_them_back(team: Team) -> None:
    done(team)
    assert team.text("apply", "two-1") == snapshot("""\
Applied 2 files to your checkout as uncommitted changes. Undo: git stash, or handrail apply --undo
""")
    assert team.git("status", "--short") == " M app.txt\n?? first.txt"
    assert (team.read("app.txt"), team.read("first.txt")) == ("one\n2\n", "first\n")
    assert team.text("apply", "two-1").startswith("Nothing to apply: your checkout already has the changes of two-1")
    assert team.text("apply", "--undo") == snapshot("""\
Undid the changes of two-1: 2 files restored in your checkout.
""")
    assert team.git("status", "--short") == ""
    assert team.text("apply", "--undo", code=2) == snapshot("""\
error: no run was applied to SHOP
next: handrail apply RUN
""")


def test_apply_in_json_names_the_files(team: Team) -> None:
    done(team)
    found = team.json("apply", "two-1")
    assert (found["run"], found["files"], found["undone"]) == ("two-1", ["app.txt", "first.txt"], False)
    assert team.json("apply", "two-1", "--undo")["undone"] is True


def test_apply_leaves_files_alone_that_the_user_is_editing(team: Team) -> None:
    done(team)
    team.write("app.txt", "mine\n")
    assert "files with your own uncommitted edits are in the way: app.txt" in team.text("apply", "two-1", code=1)
    assert (team.read("app.txt"), (team.root / "first.txt").exists()) == ("mine\n", False)


def test_apply_says_that_a_run_is_not_over(team: Team) -> None:
    team.add("asks", ASKS, **CHANGES)
    team.run("asks", code=3)
    assert "asks-1 has not ended: these are its changes so far" in team.text("apply", "asks-1")
    assert "which run?" in team.text("apply", code=2)


def test_merge_moves_the_base_when_nobody_has_it_checked_out(team: Team) -> None:
    done(team)
    team.git("switch", "-qc", "elsewhere")
    assert team.text("merge", "two-1") == "Merged work/two-1 into main, which is now at HASH\n"
    assert team.git("show", "main:first.txt") == "first"
    assert team.git("status", "--short") == ""
    assert team.text("merge", "two-1") == "main already contains everything of work/two-1\n"
    assert team.json("merge", "two-1")["already"] is True


def test_merge_moves_a_clean_checkout_of_the_base_forward(team: Team) -> None:
    done(team)
    assert team.text("merge", "two-1") == "Merged work/two-1 into main, which is now at HASH\n"
    assert (team.read("first.txt"), team.git("status", "--short")) == ("first\n", "")


def test_merge_leaves_a_checkout_that_is_not_clean_and_says_the_command(team: Team) -> None:
    done(team)
    team.write("app.txt", "mine\n")
    before = team.git("rev-parse", "main")
    said = team.text("merge", "two-1", code=1)
    assert said == snapshot("""\
error: main is checked out in SHOP, and it has uncommitted changes: app.txt
next: commit or stash your changes there, then: git -C SHOP merge work/two-1
""")
    assert (team.git("rev-parse", "main"), team.read("app.txt")) == (before, "mine\n")
    team.git("stash", "-q")
    team.git("merge", "-q", "work/two-1")
    assert team.read("first.txt") == "first\n"


def test_merge_names_the_files_that_do_not_fit(team: Team) -> None:
    done(team)
    team.write("app.txt", "one\nzwei\n")
    team.git("commit", "-qam", "Moved on")
    team.git("switch", "-qc", "elsewhere")
    said = team.text("merge", "two-1", code=1)
    assert "work/two-1 conflicts with main in app.txt" in said
    assert "git switch main && git merge work/two-1" in said


def test_discard_keeps_everything_under_a_ref_and_says_how_to_get_it_back(team: Team) -> None:
    done(team)
    tree = Path(team.json("show", "two-1")["workspace"])
    assert team.text("discard", "two-1") == snapshot("""\
Discarded the worktree of two-1 and its branch work/two-1. Kept under refs/handrail/two-1
  Get it back: handrail apply two-1, or its commits: git branch work/two-1 HASH
""")
    assert not tree.exists()
    assert team.git("branch", "--list", "work/*") == ""
    assert team.git("rev-parse", "--verify", "refs/handrail/two-1")
    team.text("apply", "two-1")
    assert team.read("first.txt") == "first\n"


def test_discard_stops_a_run_that_waits_and_removes_the_trees_of_its_items(team: Team) -> None:
    team.add("asks", ASKS, **CHANGES)
    team.run("asks", code=3)
    assert "asks-1 was stopped for good" in team.text("discard", "asks-1")
    assert team.json("show", "asks-1")["status"] == "cancelled"
    team.add("fan", FAN, **BUILDS)
    team.run("fan")
    gone = team.json("discard", "fan-1")["discarded"]
    assert sorted(each["branch"] for each in gone) == ["work/fan-1", "work/fan-1-a", "work/fan-1-b"]
    assert all(team.git("rev-parse", "--verify", each["ref"]) for each in gone)
    assert team.git("worktree", "list").count("\n") == 0
    assert team.git("branch", "--list", "work/*") == ""


def test_clean_removes_what_arrived_and_says_why_the_rest_stays(team: Team) -> None:
    team.add("fan", FAN, **BUILDS)
    team.run("fan")
    planned = team.json("clean", "--dry-run")
    assert [each["run"].startswith("fan-1.") for each in planned["removed"]] == [True, True]
    # Worktrees of items that succeeded are already gone; their branches are not.
    assert team.git("worktree", "list").count("\n") == 1
    said = team.text("clean")
    assert "removed  worktree WORKTREES/fan-1." in said
    assert "of fan-1: work/fan-1 has commits that main does not have" in said
    team.git("merge", "-q", "work/fan-1")
    assert [each["run"] for each in team.json("clean")["removed"]] == ["fan-1"]
    assert team.git("worktree", "list").count("\n") == 0
    assert team.git("branch", "--list", "work/*") == ""
    assert team.json("clean")["removed"] == []


def test_clean_leaves_the_tree_of_a_run_that_is_not_over(team: Team) -> None:
    assert team.text("clean") == "nothing to clean up\n"
    team.add("asks", ASKS)
    team.run("asks", code=3)
    assert "of asks-1: the run has not ended" in team.text("clean")
    assert team.json("clean")["removed"] == []


def test_copies_are_compared_side_by_side(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")
    made = team.json("fork", "two-1", "second", "-n", "3")["copies"]
    assert made == ["two-2", "two-3", "two-4"]
    for run in made[:2]:
        team.text("resume", run)
    assert squeezed(team.text("compare", "two-1", "two-2", "two-3", "two-4")) == snapshot(
        [
            "two-1 two-2 two-3 two-4",
            "workflow two, pinned 0000 two, pinned 0000 two, pinned 0000 two, pinned 0000",
            "copy of – two-1, event 7 two-1, event 7 two-1, event 7",
            "outcome succeeded succeeded succeeded running",
            "steps 2 succeeded 2 succeeded 2 succeeded 1 succeeded",
            "cost – – – –",
            "tokens 0 0 0 0",
            "agent calls 3 3 3 2",
            "time at work 0.0s 0.0s 0.0s 0.0s",
            "files 2 changed, +2 -1 2 changed, +2 -1 2 changed, +2 -1 unknown",
        ]
    )
    sides = team.json("compare", "two-1", "two-2")["runs"]
    assert [each["files"] for each in sides] == [sides[0]["files"]] * 2
    assert sides[1]["forked_from"]["run"] == "two-1"
    assert "a comparison needs at least two runs" in team.text("compare", "two-1", "two-1", code=2)


def test_changes_that_were_taken_along_are_not_the_runs_own(team: Team) -> None:
    team.add("asks", ASKS, **CHANGES)
    team.write("app.txt", "one\ntwo\nmine\n")
    team.write("notes.txt", "mine\n")
    team.run("asks", "--with-changes", code=3)
    assert [each["path"] for each in team.json("diff", "asks-1")["files"]] == ["app.txt"]
    assert team.json("apply", "asks-1")["files"] == ["app.txt"]
    assert (team.read("app.txt"), team.read("notes.txt")) == ("one\n2\n", "mine\n")
    team.text("apply", "--undo")
    assert team.read("app.txt") == "one\ntwo\nmine\n"
