"""`handrail diff`: of runs, steps, tries and items, with the work tree and without it."""

import shutil
import subprocess
from pathlib import Path

from inline_snapshot import snapshot

from support.cli.team import Team
from support.cli.team_workflows import BUILDS, FAN, PLAYS, TWO


def test_a_run_is_measured_against_its_base_and_a_step_against_what_it_found(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")
    assert team.text("diff", "two-1", "--stat") == snapshot("""\
 app.txt   | 2 +-
 first.txt | 1 +
 2 files changed, 2 insertions(+), 1 deletion(-)
""")
    assert team.text("diff", "two-1", "second") == snapshot("""\
diff --git a/app.txt b/app.txt
index COMMIT..COMMIT 100644
--- a/app.txt
+++ b/app.txt
@@ -1,2 +1,2 @@
 one
-two
+2
""")


def test_each_try_of_a_step_has_its_own_difference(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")
    changed = {at: team.json("diff", "two-1", at)["files"] for at in ("first@1", "first@2", "first")}
    assert [each["path"] for each in changed["first@1"]] == ["draft.txt"]
    second = {each["path"]: each["change"] for each in changed["first@2"]}
    assert second == {"draft.txt": "deleted", "first.txt": "added"}
    assert changed["first"] == changed["first@2"]
    assert "has no step 'first@3' yet" in team.text("diff", "two-1", "first@3", code=2)


def test_the_patch_is_one_that_git_applies(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")
    patch = team.runs.call("diff", "two-1").stdout
    done = subprocess.run(["git", "apply", "-"], cwd=team.root, input=patch.encode(), check=False)
    assert done.returncode == 0
    assert team.read("app.txt") == "one\n2\n"


def test_the_difference_is_there_after_the_work_tree_was_removed(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")
    before = [team.runs.call("diff", "two-1", *step).stdout for step in ((), ("first",), ("second",))]
    team.text("discard", "two-1")
    assert [team.runs.call("diff", "two-1", *step).stdout for step in ((), ("first",), ("second",))] == before


def test_the_difference_is_there_after_the_work_tree_was_deleted_by_hand(team: Team) -> None:
    team.add("two", TWO, **PLAYS)
    team.run("two")
    before = team.runs.call("diff", "two-1").stdout
    shutil.rmtree(Path(team.json("show", "two-1")["workspace"]))
    assert team.runs.call("diff", "two-1").stdout == before


def test_items_are_found_from_the_run_around_them(team: Team) -> None:
    team.add("fan", FAN, **BUILDS)
    team.run("fan")
    for address in ("build[a]", "build[a]/make"):
        assert [each["path"] for each in team.json("diff", "fan-1", address)["files"]] == ["a.txt"]
    assert team.json("diff", "fan-1", "build[b]/test")["files"] == []
    assert "its items did: build[a], build[b]" in team.runs.call("diff", "fan-1", "build").output
    assert [each["path"] for each in team.json("diff", "fan-1", "combine")["files"]] == ["a.txt", "b.txt"]
    assert team.json("show", "fan-1", "build[b]/test")["steps"][0]["status"] == "succeeded"
    assert [each["step"] for each in team.json("why", "fan-1", "build[b]/test")["reasons"]] == ["build[b]/test"] * 2
    assert "build[b]/make" in team.text("logs", "fan-1", "build[b]/make")
    assert "worktree ready at" in team.text("logs", "fan-1", "build[b]")
    assert "that matches several steps: build[a]/make, build[b]/make" in team.text("diff", "fan-1", "make", code=2)


def test_a_run_in_a_plain_folder_keeps_no_changes(team: Team) -> None:
    team.add("plain", "name: NAME\nsteps:\n  - {name: a, command: 'true'}\n")
    (team.root.parent / "elsewhere").mkdir()
    team.text("run", "plain", "--in", "../elsewhere")
    said = team.text("diff", "plain-1", code=2)
    assert "elsewhere in place, so Handrail does not record its changes" in said
    assert "look there yourself: git -C" in said


def test_a_run_in_the_users_own_checkout_has_a_difference_and_nothing_to_apply(team: Team) -> None:
    team.add("here", "name: NAME\nsteps:\n  - {name: a, command: 'echo new > new.txt'}\n")
    team.text("run", "here", "--in", ".")
    for step in ((), ("a",)):
        assert [each["path"] for each in team.json("diff", "here-1", *step)["files"]] == ["new.txt"]
    for command in ("apply", "merge", "discard"):
        assert "here-1 works in your own checkout" in team.text(command, "here-1", code=2)
    assert team.read("new.txt") == "new\n"
