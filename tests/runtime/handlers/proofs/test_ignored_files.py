"""`unchanged` with `ignored: true`: files that git ignores are held to what stood there when the step began."""

import signal
from typing import Any, cast

import pytest

from handrail.model.history.events import RunBlocked
from handrail.operations.runs import lifecycle as runs
from handrail.workspace.snapshots import recorded_files
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom

MADE: dict[str, Any] = {"files": {"tests/made.log": "1\n"}}
UNDONE: dict[str, Any] = {"files": {"tests/made.log": None}}
ONCE: dict[str, Any] = {"run": "test -e ~/once || { touch ~/once; echo 1 > tests/made.log; }", "repeat": True}
IDLE: dict[str, Any] = {"say": "It is done."}
WHAT = "unchanged: tests/** (ignored files too)"


def case(rest: str = "", ignored: str = "true", first: str = "mkdir tests; echo 1 > tests/old.log") -> str:
    return f"""\
name: case
steps:
  - {{name: make, command: '{first}'}}
  - name: fix
    prompt: Fix it now.
    done_when: [{{unchanged: {{paths: tests/**, ignored: {ignored}}}}}]
{rest}"""


def found(shop: StepsRoom, run: str) -> list[str]:
    """What the proofs of the step said, call after call."""
    return [cast("Any", each.details["proofs"])[0]["detail"] for each in shop.endings(run, "fix")]


def test_an_ignored_file_counts_only_where_it_is_asked_for(shop: StepsRoom) -> None:
    lax = shop.run(case(ignored="false"), {"fix": [MADE]})
    assert lax.status == "succeeded"
    strict = shop.run(case(), {"fix": [MADE]})
    assert (strict.status, strict.message) == ("blocked", f"step 'fix' failed: not proven: {WHAT}")
    assert found(shop, strict.run) == ["must not change, but did: tests/made.log"]


@pytest.mark.parametrize(
    ("act", "path"),
    [
        ("echo 2 > tests/old.log", "tests/old.log"),
        ("rm tests/old.log", "tests/old.log"),
        ("rm -r tests", "tests/old.log"),
        ("touch tests/new.py; echo new.py > tests/.gitignore", "tests/new.py"),
        ("touch tests/new.py; git update-index --add --assume-unchanged tests/new.py", "tests/new.py"),
        ("git init -q tests/__pycache__; touch tests/__pycache__/conftest.py", "tests/__pycache__/conftest.py"),
    ],
)
def test_every_change_below_the_globs_is_named(shop: StepsRoom, act: str, path: str) -> None:
    state = shop.run(case(), {"fix": [{"run": act}]})
    assert state.status == "blocked"
    assert path in found(shop, state.run)[0]


def test_a_step_that_leaves_ignored_files_alone_is_proven(shop: StepsRoom) -> None:
    done = {"files": {"other.log": "x", "README.md": "new\n"}, "run": "touch tests/old.log"}
    state = shop.run(case(), {"fix": [done]})
    assert state.status == "succeeded"
    assert found(shop, state.run) == ["no matching file changed"]


def test_the_agent_is_told_that_ignored_files_count(shop: StepsRoom) -> None:
    run = shop.run(case(), {"fix": [IDLE]}).run
    assert "`tests/**` has changed, files that git ignores included" in shop.prompts(run, "fix")[0]


def test_a_further_try_answers_for_what_the_first_left(shop: StepsRoom) -> None:
    assert shop.run(case("    retry: 1\n"), {"fix": [MADE, IDLE]}).status == "blocked"
    assert shop.run(case("    retry: 1\n"), {"fix": [MADE, UNDONE]}).status == "succeeded"


def test_resuming_forgives_nothing(shop: StepsRoom) -> None:
    run = shop.run(case(), {"fix": [MADE, IDLE, UNDONE]}).run
    assert shop.resume(run).status == "blocked"
    assert shop.resume(run).status == "succeeded"


def test_going_back_to_the_step_forgives_nothing(shop: StepsRoom) -> None:
    run = shop.run(case(), {"fix": ONCE}).run
    runs.rewind(shop.writer, run, "fix", "ann")
    shop.drive()
    assert shop.state(run).status == "blocked"
    assert found(shop, run)[-1] == "must not change, but did: tests/made.log"
    (shop.tree(run) / "tests/made.log").unlink()
    runs.rewind(shop.writer, run, "fix", "ann")
    shop.drive()
    assert shop.state(run).status == "succeeded"


def test_going_back_further_lets_the_step_begin_on_the_files_as_they_stand(shop: StepsRoom) -> None:
    run = shop.run(case(first="mkdir -p tests; date +%N > tests/old.log"), {"fix": [IDLE, IDLE]}).run
    runs.rewind(shop.writer, run, "make", "ann")
    shop.drive()
    assert shop.state(run).status == "succeeded"
    first, second = ({**each.spec}["recorded_files"] for each in shop.calls(run, "fix"))
    assert first != second


def test_a_copy_of_a_run_has_a_record_of_its_own(shop: StepsRoom) -> None:
    run = shop.run(case(), {"fix": ONCE}).run
    copy = runs.fork(shop.writer, run, "fix", "ann")
    shop.drive()
    assert shop.state(copy).status == "succeeded"


def test_a_work_tree_that_is_made_again_is_recorded_again(shop: StepsRoom) -> None:
    run = shop.run(case(), {"fix": [MADE, IDLE]}).run
    tree = shop.tree(run)
    tree.rename(tree.with_name("gone"))
    state = shop.resume(run)
    assert state.status == "succeeded", (state.message, found(shop, run))


def test_a_driver_that_is_killed_leaves_the_record_to_the_next(shop: StepsRoom) -> None:
    slow = {"run": "echo 1 > tests/made.log; touch $HOME/made; while ! test -e $HOME/go; do sleep 0.05; done"}
    run = shop.start(case(), {"fix": [slow]})
    home = shop.folder / "home"
    driver = shop.drive_elsewhere()
    shop.until((home / "made").exists)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    (home / "go").touch()
    shop.drive()
    assert found(shop, run) == ["must not change, but did: tests/made.log"]
    assert len(shop.calls(run, "fix")) == 1


def test_too_many_files_block_the_run_before_the_agent_begins(shop: StepsRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_files, "MAX_FILES", 2)
    state = shop.run(case(first="mkdir tests; touch tests/1.log tests/2.log tests/3.log"), {"fix": [IDLE]})
    assert (state.status, state.reason, shop.path(state.run)) == ("blocked", "fault", ["make"])
    assert "more than 2 files would have to be read" in state.message
    (shop.tree(state.run) / "tests/3.log").unlink()
    assert shop.resume(state.run).status == "succeeded"
    assert [each.address for each in of_kind(shop.log, state.run, RunBlocked)] == ["fix"]


def test_globs_are_taken_from_what_is_known_when_the_step_begins(shop: StepsRoom) -> None:
    text = """\
name: case
steps:
  - {name: make, command: 'mkdir tests; touch tests/a.log; echo tests/a.log', output: path}
  - name: fix
    prompt: Fix it now.
    done_when: [{unchanged: {paths: ["${path}", "docs/**"], ignored: true}}]
"""
    state = shop.run(text, {"fix": [{"run": "echo 1 > tests/a.log; echo 2 > tests/b.log"}]})
    assert state.status == "blocked"
    assert found(shop, state.run) == ["must not change, but did: tests/a.log"]


def test_globs_that_cannot_be_used_block_the_run_before_the_agent_begins(shop: StepsRoom) -> None:
    text = """\
name: case
steps:
  - {name: make, command: 'echo ../up', output: path}
  - name: fix
    prompt: Fix it now.
    done_when: [{unchanged: {paths: "${path}", ignored: true}}]
"""
    state = shop.run(text, {"fix": [IDLE]})
    assert (state.status, shop.path(state.run)) == ("blocked", ["make"])
    assert "the files that 'fix' must not change cannot be determined" in state.message
