"""The defects that running Coven showed, each with a run in a real repository that shows we are free of it.

| defect | test |
|---|---|
| D1 | `test_defects.py`: test_d1_when_and_output_hold_inside_loops |
| D2 | here, and `test_defects.py`: test_d2_a_resume_repeats_the_step_that_failed |
| D3, D4, D8, D9, D11, D12, D13 | here |
| D5 | here, and `test_defects.py`: test_d5_a_stop_stops |
| D6 | here, and `test_defects.py`: test_d6_the_timeout_of_a_step_is_enforced_also_over_all_checks_of_a_gate |
| D7 | here, and `test_defects.py`: test_d7_a_timeout_ends_the_children_that_keep_the_pipe_too |
| D10 | `test_defects.py`: test_d10_the_output_of_commands_that_end_at_once_is_never_lost |
| D14 | here, and `test_defects.py`: test_d14_a_value_in_double_quotes_executes_nothing |
"""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.events import RunEnded, StepBegan
from handrail.operations.delivery import deliver as delivery
from handrail.operations.runs import lifecycle as runs
from handrail.testing.leaks import processes_within
from handrail.workspace.git_workspaces import GitWorkspaces
from support.moved_time import MovedTime
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom, git
from support.runtime.tree_states import all_refs

ONE = "name: one\nsteps:\n  - {name: work, prompt: Do it please}\n  - {name: after, command: 'touch after.txt'}\n"
MERGING = """
name: merging
steps:
  - name: build
    type: parallel-agents
    for_each: [a, b]
    key: item
    prompt: Build it please
    output: built
  - {name: combine, type: merge, from: '${built}'}
  - {name: ok, type: approval}
  - {name: after, command: 'ls > after.txt'}
"""


def _builds(**texts: str) -> dict[str, Any]:
    """Let each item write one file, by whatever address its only step has."""
    turns = {key: {"files": {name: f"{key}\n"}} for key, name in texts.items()}
    return {f"build[{key}]{end}": turn for key, turn in turns.items() for end in ("", "/build")}


def test_d2_a_resume_calls_the_agent_of_the_failed_step_again(shop: StepsRoom) -> None:
    first = shop.run(ONE, {"work": [{"fail": "api_error"}, {"files": {"a.txt": "a\n"}}]})
    assert (first.status, shop.path(first.run)) == ("blocked", ["work"])
    assert shop.resume(first.run).status == "succeeded"
    assert shop.path(first.run) == ["work", "work", "after"]
    assert (shop.tree(first.run) / "a.txt").exists()


def test_d3_the_step_after_a_merge_and_an_approval_runs_in_the_same_work_tree(shop: StepsRoom) -> None:
    first = shop.run(MERGING, _builds(a="a.txt", b="b.txt"))
    assert first.reason == "approval"
    assert shop.answer(first.run, "approve").status == "succeeded"
    assert (shop.tree(first.run) / "after.txt").read_text().split() == ["README.md", "a.txt", "after.txt", "b.txt"]


def test_d4_a_run_whose_approval_was_rejected_is_not_completed_by_a_resume(shop: StepsRoom) -> None:
    first = shop.run(MERGING, _builds(a="a.txt", b="b.txt"))
    assert shop.answer(first.run, "reject", "no").status == "failed"
    again = shop.resume(first.run)
    assert (again.status, again.reason) == ("waiting", "approval")
    assert "after" not in shop.path(first.run)


def test_d5_a_stop_ends_the_agent_and_no_later_step_runs(shop: StepsRoom) -> None:
    run = shop.start(ONE, {"work": {"run": "touch begun.log; exec sleep 300"}})
    shop.during(
        lambda: runs.stop(shop.writer, run, "ann"), lambda: any(shop.folder.glob("data/worktrees/*/*/begun.log"))
    )
    assert shop.state(run).status == "cancelled"
    assert shop.path(run) == ["work"]
    assert [each for each in processes_within(shop.folder) if "sleep" in each] == []


def test_d6_the_timeout_of_an_agents_step_is_enforced(shop: StepsRoom) -> None:
    text = ONE.replace("prompt: Do it please", "prompt: Do it please, timeout: 1s")
    first = shop.run(text, {"work": {"delay": 300}})
    assert first.status == "blocked"
    assert "longer than 1" in first.message


def test_d7_what_an_agent_started_ends_with_its_time(shop: StepsRoom, moved_time: MovedTime) -> None:
    text = ONE.replace("prompt: Do it please", "prompt: Do it please, timeout: 1h")
    run = shop.start(text, {"work": {"run": "sleep 600 & touch begun.log; sleep 601"}})
    shop.during(lambda: moved_time.move(3601), lambda: any(shop.folder.glob("data/worktrees/*/*/begun.log")))
    assert shop.state(run).status == "blocked"
    assert "longer than 3600" in shop.state(run).message
    assert [each for each in processes_within(shop.folder) if "sleep" in each] == []


def test_d8_a_conflict_blocks_the_run_names_the_file_and_loses_nothing(shop: StepsRoom) -> None:
    first = shop.run(MERGING, _builds(a="same.txt", b="same.txt"))
    assert (first.status, "same.txt" in first.message) == ("blocked", True), first.message
    assert shop.path(first.run)[-1] != "after"
    assert {
        git(shop.repo, "show", f"{ref}:same.txt")
        for ref in all_refs(shop.repo)
        if ref.endswith(("-1-a", "-1-b")) and "/owned/" not in ref
    } == {
        "a",
        "b",
    }
    assert (shop.tree(first.run) / "same.txt").read_text() == "a\n"
    assert git(shop.tree(first.run), "status", "--porcelain") == ""


def test_d9_a_run_is_not_over_before_its_last_step(shop: StepsRoom) -> None:
    text = ONE.replace("'touch after.txt'", "'exit 1', on_fail: block")
    first = shop.run(text, {"work": {"files": {"a.txt": "a\n"}}})
    assert first.status == "blocked"
    assert of_kind(shop.log, first.run, RunEnded) == []


def test_d11_a_blocked_run_is_left_alone_by_a_new_driver(shop: StepsRoom) -> None:
    first = shop.run(ONE, {"work": {"fail": "api_error", "repeat": True}})
    for _ in range(2):
        shop.close()
        shop.drive()
    assert shop.state(first.run).seq == first.seq
    assert len(of_kind(shop.log, first.run, StepBegan)) == 1


def test_d12_after_a_crash_one_agent_works_in_the_work_tree(shop: StepsRoom) -> None:
    wait = "echo $$ >> begun.log; while ! test -e go.log; do sleep 0.05; done"
    run = shop.start(ONE, {"work": {"run": wait, "files": {"a.txt": "a\n"}}})
    shop.close()
    driver = shop.drive_elsewhere()

    def begun() -> list[Path]:
        return list(shop.folder.glob("data/worktrees/*/*/begun.log"))

    while not begun():
        assert driver.poll() is None
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    shop.during(lambda: (begun()[0].with_name("go.log")).touch(), lambda: bool(begun()))
    assert shop.state(run).status == "succeeded"
    assert len(begun()[0].read_text().split()) == 1


def test_d13_the_users_branch_is_not_switched_and_a_base_that_is_checked_out_is_not_moved(shop: StepsRoom) -> None:
    git(shop.repo, "switch", "-qc", "feature")
    first = shop.run(ONE, {"work": {"files": {"a.txt": "a\n"}}})
    git(shop.repo, "switch", "-q", "main")
    (shop.repo / "app.txt").write_text("an edit of the user\n")
    git(shop.repo, "add", "app.txt")
    before = all_refs(shop.repo)
    with pytest.raises(WorkspaceFault, match="main is checked out") as raised:
        delivery.merge(shop.log, GitWorkspaces(shop.folder / "data"), first.run)
    assert f"merge work/{first.run}" in str(raised.value.next_step)
    assert git(shop.repo, "branch", "--show-current") == "main"
    assert all_refs(shop.repo)["refs/heads/main"] == before["refs/heads/main"]
    assert git(shop.repo, "status", "--porcelain") == "A  app.txt"


EVIL = "x $(touch PWNED) `touch PWNED` \"; touch PWNED; '"
SAYING = """
name: saying
steps:
  - {name: work, prompt: Do it please, output: said}
  - {name: shell, command: 'echo "x ${said}" > said.txt'}
  - {name: keep, type: commit, message: "about ${said}"}
"""


def test_d14_what_an_agent_says_is_never_executed(shop: StepsRoom) -> None:
    first = shop.run(SAYING, {"work": {"output": EVIL}})
    assert first.status == "succeeded", first.message
    tree = shop.tree(first.run)
    assert (tree / "said.txt").read_text() == f"x {EVIL}\n"
    assert git(tree, "log", "-1", "--format=%s") == f"about {EVIL}"
    assert not list(shop.folder.rglob("PWNED*"))
