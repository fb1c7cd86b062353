"""What users of such systems complain about, and what Cyrus does to work trees: each number has a run that shows ours.

`test_complaint_N` is number N of the list of complaints; `test_cyrus_4` is about Cyrus's workspaces, `test_cyrus_8_N`
about thread N of its users. More of the same stands elsewhere:

| complaint | test |
|---|---|
| 6 | `test_coven_defects.py`: test_d8, test_d13; `test_workspace_oddities.py`: dirty checkout, base moved |
| 12 | `test_reviewers.py`: test_a_review_loop_ends_with_its_reason |
| 13 | `test_budgets.py`: all of it |
| 14, Cyrus 8.12 | `test_agent_failures.py`: test_an_agent_that_cannot_answer_now_is_waited_for_and_no_try_is_used |
| Cyrus 8.2 | `test_defects.py`: test_a_torn_tail_is_found_named_and_salvaged_and_the_run_goes_on |
| Cyrus 8.5 | `test_many.py` |
"""

import shutil
from pathlib import Path
from typing import Any

from handrail.model.history.events import StepBegan
from handrail.operations.delivery import clean as cleaning
from handrail.operations.delivery import deliver as delivery
from handrail.operations.runs import lifecycle as runs
from handrail.ports.delivery import Retention
from handrail.ports.log import Holder
from handrail.runtime.history import state_of
from handrail.testing.leaks import processes_within
from handrail.workspace.git_repositories import GitRepositories
from handrail.workspace.git_workspaces import GitWorkspaces
from support.runtime.room import of_kind
from support.runtime.steps_room import Hand, StepsRoom, git
from support.runtime.tree_states import Person, all_refs, everything

ONE = "name: one\nsteps:\n  - {name: work, prompt: Do it please}\n"
KEEP = Retention(lambda _: 30, 0.0)
KEPT = ONE + "  - {name: keep, type: commit, message: kept}\n"
WRITES: dict[str, Any] = {"work": {"files": {"a.txt": "a\n"}}}


def _spaces(shop: StepsRoom) -> GitWorkspaces:
    return GitWorkspaces(shop.folder / "data")


def _begun(shop: StepsRoom) -> list[Path]:
    return list(shop.folder.glob("data/worktrees/*/*/begun.log"))


def test_complaint_1_a_run_whose_agent_is_gone_is_not_in_progress(shop: StepsRoom) -> None:
    first = shop.run(ONE, {"work": {"fail": "crashed"}})
    assert (first.status, first.pending) == ("blocked", None)
    runs.stop(shop.writer, first.run, "ann")
    shop.drive()
    assert shop.state(first.run).status == "cancelled"


def test_complaint_2_cleaning_up_keeps_commits_that_nobody_has(shop: StepsRoom) -> None:
    first = shop.run(KEPT, WRITES)
    cleaned = cleaning.clean(shop.log, _spaces(shop), KEEP, dry_run=False)
    assert not cleaned.removed
    assert shop.tree(first.run).is_dir()
    tip = git(shop.repo, "rev-parse", f"work/{first.run}")
    gone, *_ = delivery.discard(shop.log, _spaces(shop), GitRepositories(shop.folder / "data"), first.run)
    assert git(shop.repo, "merge-base", tip, gone.ref) == tip


def test_complaint_3_a_work_tree_in_use_stays_and_an_empty_folder_never_stands_for_the_checkout(
    shop: StepsRoom,
) -> None:
    run = shop.start(ONE, {"work": {"run": "touch begun.log; while ! test -e go.log; do sleep 0.05; done"}})
    before = everything(shop.repo)

    def clean() -> None:
        cleaned = cleaning.clean(shop.log, _spaces(shop), KEEP, dry_run=False)
        assert not [each for each in cleaned.removed if each.kind == "worktree"]
        _begun(shop)[0].with_name("go.log").touch()

    shop.during(clean, lambda: bool(_begun(shop)))
    assert shop.state(run).status == "succeeded"
    tree = shop.tree(run)
    shutil.rmtree(tree)
    tree.mkdir()
    runs.rewind(shop.writer, run, "work", "ann")
    shop.during(lambda: _begun(shop)[0].with_name("go.log").touch(), lambda: bool(_begun(shop)))
    assert shop.state(run).status == "succeeded"
    assert everything(shop.repo) == before


def test_complaint_4_what_was_merged_is_cleaned_up_also_when_it_was_squashed(shop: StepsRoom) -> None:
    first = shop.run(KEPT, WRITES)
    git(shop.repo, "merge", "-q", "--squash", f"work/{first.run}")
    git(shop.repo, "commit", "-qm", "squashed")
    cleaned = cleaning.clean(shop.log, _spaces(shop), KEEP, dry_run=False)
    assert "worktree" in [each.kind for each in cleaned.removed], cleaned.kept
    assert not shop.tree(first.run).exists()


def test_complaint_5_what_an_agent_did_not_commit_is_in_the_runs_commit(shop: StepsRoom) -> None:
    first = shop.run(KEPT, WRITES)
    assert git(shop.repo, "show", f"work/{first.run}:a.txt") == "a"
    assert f"Handrail-Run: {first.run}" in git(shop.repo, "log", "-1", "--format=%B", f"work/{first.run}")


CONFLICT = """
name: clash
steps:
  - {name: build, type: parallel-agents, for_each: [a, b], key: item, prompt: Build it please, output: built}
  - name: combine
    type: merge
    from: ${built}
    on_conflict: {prompt: Resolve it please, max: 2}
"""


def test_complaint_6_and_7_an_agent_resolves_the_conflict_of_two_others(shop: StepsRoom) -> None:
    turns = {key: {"files": {"same.txt": f"{key}\n"}} for key in "ab"}
    script: dict[str, Any] = {f"build[{key}]{end}": turn for key, turn in turns.items() for end in ("", "/build")}
    script["combine/b/resolve"] = [{"say": "not yet"}, {"files": {"same.txt": "a and b\n"}}]
    first = shop.run(CONFLICT, script)
    assert first.status == "succeeded", first.message
    assert (shop.tree(first.run) / "same.txt").read_text() == "a and b\n"
    assert git(shop.repo, "branch", "--show-current") == "main"


def test_complaint_8_and_cyrus_8_4_two_drivers_never_work_on_one_run(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"work": {"run": "echo x >> begun.log; while ! test -e go.log; do sleep 0.05; done"}})
    other = shop.drive_elsewhere()
    while not _begun(shop):
        assert other.poll() is None
    assert isinstance(shop.log.acquire(run, "second"), Holder)
    _begun(shop)[0].with_name("go.log").touch()
    assert other.wait() == 0
    assert shop.state(run).status == "succeeded"
    assert _begun(shop)[0].read_text() == "x\n"


def test_complaint_9_and_10_and_cyrus_8_1_what_a_dead_driver_left_is_taken_over(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"work": {"run": "echo x >> begun.log; while ! test -e go.log; do sleep 0.05; done"}})
    other = shop.drive_elsewhere()
    while not _begun(shop):
        assert other.poll() is None
    other.kill()
    other.wait()
    shop.during(lambda: _begun(shop)[0].with_name("go.log").touch(), lambda: bool(_begun(shop)))
    assert shop.state(run).status == "succeeded"
    assert len(of_kind(shop.log, run, StepBegan)) == 1
    assert [each for each in processes_within(shop.folder) if "sleep" in each] == []


def test_complaint_11_done_is_proven_and_not_believed(shop: StepsRoom) -> None:
    text = "name: one\nsteps:\n  - {name: work, prompt: Do it please, done_when: [{passes: test -s a.txt}], retry: 1}\n"
    first = shop.run(text, {"work": [{"say": "All done!"}, {"files": {"a.txt": "a\n"}}]})
    assert first.status == "succeeded"
    assert [event.status for event in shop.endings(first.run, "work")] == ["failed", "succeeded"]


def test_complaint_12_a_reviewer_that_repeats_itself_does_not_keep_the_loop_going(shop: StepsRoom) -> None:
    finding = {"file": "README.md", "rule": "style", "severity": "high", "message": "I do not like it"}
    text = "name: one\nsteps:\n  - name: review\n    type: agent-loop\n    reviewer: {prompt: Review it please}\n"
    text += "    fixer: {prompt: Fix it please}\n    max_iterations: 27\n    output: review\n"
    script = {"review/reviewer": {"output": {"findings": [finding]}, "repeat": True}, "default": {"repeat": True}}
    first = shop.run(text, script)
    assert len(shop.path(first.run)) < 10, first.names["review"]


def test_complaint_13_a_limit_on_spending_stops_the_run(shop: StepsRoom) -> None:
    text = "name: one\nbudget: {usd: 1, at_limit: stop}\nsteps:\n"
    text += "".join(f"  - {{name: s{number}, prompt: Do it please}}\n" for number in range(4))
    first = shop.run(text, {"default": {"usage": {"cost": 0.6}, "repeat": True}})
    assert len(shop.path(first.run)) == 2
    assert first.status != "succeeded"


def test_complaint_14_a_usage_limit_waits_for_its_time_and_can_be_stopped(shop: StepsRoom) -> None:
    clock = Hand()
    shop.clock = clock
    first = shop.run(ONE, {"work": [{"fail": {"status": "quota", "retry_after": 3600}}, WRITES["work"]]})
    assert (first.status, first.reason, first.until) == ("waiting", "quota", clock.now + 3600)
    clock.now += 3601
    shop.drive()
    assert shop.state(first.run).status == "succeeded"


CONFIG = """
[worktrees]
copy = [".env"]
setup = ["test -f .env && touch set-up.log", "echo $PWD > where.log"]
teardown = ["cp a.txt ${HOME}/torn-down", "sleep 300"]
teardown_timeout = 1
"""


def _person(shop: StepsRoom, config: str = CONFIG) -> Person:
    person = Person(shop, WRITES)
    person.writes("one", ONE)
    (shop.repo / ".handrail").mkdir()
    (shop.repo / ".handrail/config.toml").write_text(config)
    (shop.repo / ".gitignore").write_text("*.log\n.env\nheavy/\n")
    (shop.repo / ".worktreeinclude").write_text("heavy/*.bin\n")
    (shop.repo / ".env").write_text("KEY=1\n")
    (shop.repo / "heavy").mkdir()
    (shop.repo / "heavy/x.bin").write_text("x")
    git(shop.repo, "add", "-A")
    git(shop.repo, "commit", "-qm", "configured")
    return person


def test_complaint_15_and_cyrus_4_a_new_work_tree_has_what_it_needs(shop: StepsRoom) -> None:
    person = _person(shop)
    person.runs("one")
    tree = person.tree("one-1")
    assert (tree / ".env").read_text() == "KEY=1\n"
    assert (tree / "heavy/x.bin").exists()
    assert (tree / "set-up.log").exists()
    assert (tree / "where.log").read_text().strip() == str(tree)


def test_cyrus_8_15_tear_down_commands_run_before_a_work_tree_goes_and_cannot_hold_it_up(shop: StepsRoom) -> None:
    person = _person(shop)
    person.runs("one")
    tree, log = person.tree("one-1"), person.log
    delivery.discard(log, GitWorkspaces(person.home / "data"), GitRepositories(person.home / "data"), "one-1")
    log.close()
    assert not tree.exists()
    assert (shop.folder / "home/torn-down").read_text() == "a\n"
    assert "`sleep 300` took too long and was killed" in (person.home / "data/teardown.log").read_text()
    assert [each for each in processes_within(shop.folder) if "sleep" in each] == []


def test_cyrus_4_a_set_up_that_fails_is_told_and_the_agent_is_not_called(shop: StepsRoom) -> None:
    person = _person(shop, '[worktrees]\nsetup = ["echo no compiler >&2; exit 3"]\n')
    said = person.runs("one", code=3)
    assert "the worktree could not be set up" in said
    assert "no compiler" in said
    log = person.log
    assert of_kind(log, "one-1", StepBegan) == []
    log.close()
    (shop.repo / ".handrail/config.toml").write_text('[worktrees]\nsetup = ["true"]\n')


def test_cyrus_8_15_a_set_up_that_takes_too_long_is_ended(shop: StepsRoom) -> None:
    person = _person(shop, '[worktrees]\nsetup = ["sleep 300"]\ntimeout = 1\n')
    assert "longer than 1" in person.runs("one", code=3)
    assert [each for each in processes_within(shop.folder) if "sleep" in each] == []


def test_cyrus_4_a_work_tree_that_cannot_be_made_is_no_empty_folder(shop: StepsRoom) -> None:
    run = shop.start(ONE, WRITES)
    shutil.move(shop.repo / ".git", shop.folder / "hidden")
    shop.drive()
    assert (shop.state(run).status, shop.path(run)) == ("blocked", [])
    assert not list(shop.folder.glob("data/worktrees/*/one-1/*"))
    shutil.move(shop.folder / "hidden", shop.repo / ".git")
    assert shop.resume(run).status == "succeeded"


def test_cyrus_4_and_8_15_a_bare_push_aims_at_the_runs_branch(shop: StepsRoom) -> None:
    git(shop.folder, "clone", "-q", "--bare", str(shop.repo), "origin.git")
    git(shop.repo, "remote", "add", "origin", str(shop.folder / "origin.git"))
    before = git(shop.folder / "origin.git", "rev-parse", "main")
    first = shop.run(KEPT, {"work": {"files": {"a.txt": "a\n"}}})
    git(shop.tree(first.run), "-c", "push.default=upstream", "push", "-q")
    assert git(shop.folder / "origin.git", "rev-parse", "main") == before
    assert git(shop.folder / "origin.git", "rev-parse", f"work/{first.run}") == git(
        shop.tree(first.run), "rev-parse", "HEAD"
    )


def test_cyrus_4_two_runs_never_share_a_work_tree_or_a_branch(shop: StepsRoom) -> None:
    started = [shop.start(ONE, WRITES) for _ in range(3)]
    shop.drive()
    assert len({shop.tree(run) for run in started}) == 3
    branches = [ref.removeprefix("refs/heads/") for ref in all_refs(shop.repo) if ref.startswith("refs/heads/")]
    assert len([branch for branch in branches if branch.startswith("work/")]) == 3


def test_cyrus_4_what_is_uncommitted_survives_that_the_run_is_thrown_away(shop: StepsRoom) -> None:
    first = shop.run(ONE, WRITES)
    gone, *_ = delivery.discard(shop.log, _spaces(shop), GitRepositories(shop.folder / "data"), first.run)
    assert git(shop.repo, "show", f"{gone.ref}:a.txt") == "a"


def test_cyrus_8_8_a_crash_is_told_with_what_to_do(shop: StepsRoom) -> None:
    first = shop.run(ONE, {"work": {"fail": "crashed"}})
    assert first.status == "blocked"
    assert "crashed" in first.message
    assert first.next_step


def test_cyrus_8_9_and_8_10_an_agent_that_says_nothing_ends_its_step(shop: StepsRoom) -> None:
    text = ONE.replace("please}", "please, single_turn: true}")
    assert shop.run(text, {"work": {}}).status == "succeeded"


def test_cyrus_8_13_and_8_18_a_step_begins_a_fresh_conversation_unless_it_names_one(shop: StepsRoom) -> None:
    text = ONE + "  - {name: next, prompt: Now this please}\n  - {name: on, session: work, prompt: Go on please}\n"
    first = shop.run(text, {"default": {"say": "done", "repeat": True}})
    sessions = {name: state_of(shop.log, first.run).steps[name].session for name in ("work", "next", "on")}
    assert sessions["work"] == sessions["on"] != sessions["next"]
