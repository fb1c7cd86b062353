"""What repositories, users and agents do to a work tree, each through a whole run.

The same at the level of single operations: `tests/workspace/test_git_*.py`.
"""

import shutil
from pathlib import Path

from handrail.operations.runs import lifecycle as runs
from handrail.testing.leaks import processes_within
from support.runtime.steps_room import StepsRoom, git, make_repository
from support.runtime.tree_states import Person, all_refs, everything, listing

ONE = "name: one\nsteps:\n  - {name: work, prompt: Do it please}\n  - {name: after, command: 'touch after.txt'}\n"
ASKING = (
    "name: ask\nsteps:\n  - {name: work, prompt: Do it please}\n  - {name: ok, type: approval}\n"
    "  - {name: more, prompt: Do more please}\n  - {name: keep, type: commit, message: kept}\n"
)
WRITES = {"work": {"files": {"a.txt": "a\n"}}, "more": {"files": {"b.txt": "b\n"}}}


def test_a_dirty_checkout_stays_as_it_is_and_is_no_part_of_the_run(shop: StepsRoom) -> None:
    (shop.repo / "README.md").write_text("mine\n")
    (shop.repo / "new.txt").write_text("mine too\n")
    git(shop.repo, "add", "new.txt")
    before = everything(shop.repo)
    first = shop.run(ONE, WRITES)
    assert everything(shop.repo) == before
    assert (shop.tree(first.run) / "README.md").read_text() == "hello\n"
    assert not (shop.tree(first.run) / "new.txt").exists()


def test_the_changes_of_a_dirty_checkout_are_taken_along_when_they_are_asked_for(shop: StepsRoom) -> None:
    person = Person(shop, {"work": {"run": "cat README.md staged.txt untracked.txt > seen.txt"}})
    person.writes("one", ONE)
    for name in ("README.md", "staged.txt", "untracked.txt", "ignored.log"):
        (shop.repo / name).write_text(f"{name}\n")
    git(shop.repo, "add", "staged.txt")
    before = everything(shop.repo)
    assert "uncommitted files are not part of this run" not in person.runs("one", "--with-changes")
    tree = person.tree("one-1")
    assert (tree / "seen.txt").read_text() == "README.md\nstaged.txt\nuntracked.txt\n"
    assert not (tree / "ignored.log").exists()
    assert everything(shop.repo) == before
    assert git(shop.repo, "rev-parse", "work/one-1") == git(shop.repo, "rev-parse", "main")


def test_without_a_repository_there_is_nothing_to_take_along(shop: StepsRoom) -> None:
    person = Person(shop, WRITES)
    person.writes("one", ONE)
    assert "--with-changes has no effect" in person.runs("one", "--with-changes", "--in", ".", code=2)


def test_a_user_on_another_branch_stays_there(shop: StepsRoom) -> None:
    git(shop.repo, "switch", "-qc", "feature")
    first = shop.run(ASKING, WRITES)
    git(shop.repo, "switch", "-qc", "another")
    assert shop.answer(first.run, "approve").status == "succeeded"
    assert git(shop.repo, "branch", "--show-current") == "another"


def test_a_base_that_moves_on_changes_nothing_for_the_run(shop: StepsRoom) -> None:
    first = shop.run(ASKING, WRITES)
    (shop.repo / "README.md").write_text("moved\n")
    git(shop.repo, "commit", "-qam", "moved")
    assert shop.answer(first.run, "approve").status == "succeeded"
    assert (shop.tree(first.run) / "README.md").read_text() == "hello\n"
    assert git(shop.tree(first.run), "log", "--format=%s") == "kept\nstart"


def test_a_branch_that_is_checked_out_elsewhere_is_left_alone(shop: StepsRoom) -> None:
    git(shop.repo, "worktree", "add", "-q", "-b", "work/one-1", str(shop.folder / "theirs"))
    before = everything(shop.folder / "theirs")
    first = shop.run(ONE, WRITES)
    assert first.status == "succeeded", first.message
    assert git(shop.tree(first.run), "branch", "--show-current") == "work/one-1-2"
    assert everything(shop.folder / "theirs") == before


def test_a_work_tree_that_is_deleted_while_the_run_waits_is_made_again(shop: StepsRoom) -> None:
    first = shop.run(ASKING, WRITES)
    tree = shop.tree(first.run)
    shutil.rmtree(tree)
    git(shop.repo, "worktree", "prune")
    again = shop.answer(first.run, "approve")
    assert again.status == "succeeded", again.message
    assert sorted(path.name for path in shop.tree(first.run).glob("*.txt")) == ["a.txt", "b.txt"]
    assert git(shop.repo, "log", "-1", "--format=%s", f"work/{first.run}") == "kept"


def test_an_agent_whose_work_tree_is_deleted_under_it_is_called_again_in_a_new_one(shop: StepsRoom) -> None:
    once = shop.folder / "once"
    turn = {"files": {"b.txt": "b\n"}, "run": f'test -e {once} || {{ touch {once}; rm -rf "$PWD"; }}'}
    first = shop.run(ONE, {"work": turn})
    assert (first.status, first.reason) == ("blocked", "fault")
    again = shop.resume(first.run)
    assert again.status == "succeeded", again.message
    assert (shop.tree(first.run) / "b.txt").read_text() == "b\n"
    assert git(shop.repo, "status", "--porcelain") == ""


def test_an_agent_that_commits_is_fine_and_its_commits_are_the_runs(shop: StepsRoom) -> None:
    script = {**WRITES, "work": {"run": ["echo a > a.txt", "git add -A", "git commit -qm mine"]}}
    first = shop.run(ASKING, script)
    assert shop.answer(first.run, "approve").status == "succeeded"
    assert git(shop.repo, "log", "--format=%s", f"work/{first.run}") == "kept\nmine\nstart"


def test_an_agent_that_does_nothing_gives_no_commit(shop: StepsRoom) -> None:
    first = shop.run(
        "name: n\nsteps:\n  - {name: work, prompt: Do it please}\n  - {name: keep, type: commit, message: m}\n",
        {"work": {}},
    )
    assert first.status == "succeeded"
    assert git(shop.repo, "rev-parse", f"work/{first.run}") == git(shop.repo, "rev-parse", "main")


def test_what_an_agent_leaves_running_ends_with_its_step(shop: StepsRoom) -> None:
    turn = {
        "background": "while true; do echo x >> late.txt; sleep 0.05; done",
        "run": "sleep 300 &",
        "files": {"a.txt": "a\n"},
    }
    first = shop.run(ONE, {"work": turn})
    assert first.status == "succeeded"
    assert [each for each in processes_within(shop.folder) if "sleep" in each or "late" in each] == []


def test_filters_of_the_user_count_and_hooks_and_filters_of_the_repository_do_not(shop: StepsRoom) -> None:
    for name in ("pre-commit", "post-checkout", "commit-msg", "prepare-commit-msg", "reference-transaction"):
        hook = shop.repo / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> '{shop.folder}/hooks.txt'\nexit 1\n")
        hook.chmod(0o755)
    (shop.repo / ".git/hooks/reference-transaction").unlink()
    git(shop.repo, "config", "--global", "filter.rot.clean", "tr a-z b-za")
    git(shop.repo, "config", "--global", "filter.rot.smudge", "tr b-za a-z")
    git(shop.repo, "config", "filter.own.clean", f"tee -a '{shop.folder}/hooks.txt'")
    (shop.repo / ".git/info/attributes").write_text("*.rot filter=rot\n*.own filter=own\n")
    script = {**WRITES, "work": {"files": {"x.rot": "hello\n"}}}
    first = shop.run(ASKING, script)
    runs.rewind(shop.writer, first.run, "ok", "ann")
    shop.drive()
    assert shop.answer(first.run, "approve").status == "succeeded"
    assert (shop.tree(first.run) / "x.rot").read_text() == "hello\n"
    assert git(shop.repo, "cat-file", "blob", f"work/{first.run}:x.rot") == "ifmmp"
    assert not (shop.folder / "hooks.txt").exists()
    second = shop.run(ASKING, {**WRITES, "work": {"files": {"x.own": "hello\n"}}})
    refused = shop.answer(second.run, "approve")
    assert refused.status == "blocked"
    assert "the filter 'own' (*.own) is configured only in the repository" in refused.message
    assert not (shop.folder / "hooks.txt").exists()


def test_a_submodule_stays_at_its_commit(shop: StepsRoom) -> None:
    make_repository(shop.folder / "lib", {"lib.txt": "lib\n"})
    git(shop.repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(shop.folder / "lib"), "lib")
    git(shop.repo, "commit", "-qm", "lib")
    first = shop.run(ASKING, WRITES)
    assert shop.answer(first.run, "approve").status == "succeeded", shop.state(first.run).message
    kept = git(shop.repo, "ls-tree", f"work/{first.run}", "lib")
    assert kept == git(shop.repo, "ls-tree", "main", "lib")


def test_a_repository_inside_the_work_tree_is_named_and_left_alone(shop: StepsRoom) -> None:
    inner = "git init -q inner && echo x > inner/x.txt"
    first = shop.run(ASKING, {**WRITES, "work": {"run": inner}})
    assert shop.endings(first.run, "work")[0].details["omitted"] == ["inner/: a repository of its own"]
    runs.rewind(shop.writer, first.run, "ok", "ann")
    shop.drive()
    assert shop.answer(first.run, "approve").status == "succeeded"
    assert (shop.tree(first.run) / "inner/x.txt").read_text() == "x\n"
    assert "inner" not in git(shop.repo, "ls-tree", "-r", f"work/{first.run}")


def test_line_ends_come_back_as_the_agent_wrote_them(shop: StepsRoom) -> None:
    (shop.repo / ".gitattributes").write_text("*.bat text eol=crlf\n*.raw -text\n")
    git(shop.repo, "add", "-A")
    git(shop.repo, "commit", "-qm", "attributes")
    files = {"run.bat": "a\r\nb\r\n", "x.raw": "a\r\nb\n", "plain.txt": "a\r\nb\r\n"}
    first = shop.run(ASKING, {**WRITES, "work": {"files": files}})
    stood = listing(shop.tree(first.run))
    shop.answer(first.run, "approve")
    runs.rewind(shop.writer, first.run, "ok", "ann")
    shop.drive()
    assert listing(shop.tree(first.run)) == stood
    assert stood[b"run.bat"][1] == b"a\r\nb\r\n"


def test_unusual_names_go_through_a_whole_run(shop: StepsRoom) -> None:
    names = ["with space", "-dash", "tab\there", "line\nbreak", 'quote"', "späß", "$(touch PWNED)", "*", "[a]", ":x"]
    first = shop.run(ASKING, {**WRITES, "work": {"files": {name: name for name in names}}})
    stood = listing(shop.tree(first.run))
    assert shop.answer(first.run, "approve").status == "succeeded"
    tracked = git(shop.repo, "ls-tree", "-z", "--name-only", f"work/{first.run}").split("\0")
    assert set(names) <= set(tracked)
    runs.rewind(shop.writer, first.run, "ok", "ann")
    shop.drive()
    assert listing(shop.tree(first.run)) == stood
    assert not list(Path(shop.folder).rglob("PWNED"))


def test_nothing_of_a_run_is_seen_among_the_users_branches_but_its_own(shop: StepsRoom) -> None:
    before = all_refs(shop.repo)
    first = shop.run(ASKING, WRITES)
    shop.answer(first.run, "approve")
    new = {ref for ref in all_refs(shop.repo) if ref not in before and not ref.startswith("refs/handrail/")}
    branch = f"work/{first.run}"
    assert new == {f"refs/heads/{branch}"}
