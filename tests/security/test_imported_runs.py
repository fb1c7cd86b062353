"""An imported run owns nothing here, and nothing of it runs before a person has released it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.security.black_box import BlackBox
from support.security.forged_runs import PLACES, forge, with_fields

pytestmark = pytest.mark.system  # takes long: many processes of its own

WAITS = """
name: waits
steps:
  - {name: write, command: "printf work > work.txt"}
  - {name: ok, type: approval, message: Go on?}
  - {name: last, command: "LAST"}
"""


def start(box: BlackBox) -> Path:
    """Start a run that waits in its work tree; gives the work tree."""
    box.write_own("workflows/waits/workflow.yaml", WAITS.replace("LAST", box.mark("last")))
    answer = box.call("run", "waits")
    assert answer.exit_code == 3, answer.text
    return Path(box.call("show", "waits-1", "--json").document["workspace"])


def exported(box: BlackBox) -> dict[str, Any]:
    return json.loads(box.call("export", "waits-1", "--json").out)


def take_in(box: BlackBox, bundle: dict[str, Any]) -> str:
    file = box.base / "run.json"
    file.write_text(json.dumps(bundle))
    answer = box.call("import-run", str(file), "--json")
    assert answer.exit_code == 0, answer.text
    return answer.document["run"]


def test_discarding_an_import_beside_its_source_leaves_the_source_alone(box: BlackBox) -> None:
    tree = start(box)
    copy = take_in(box, exported(box))
    box.call("discard", copy)
    assert tree.is_dir()
    assert (tree / "work.txt").read_text() == "work"
    assert "work/waits-1" in box.git("branch", "--list", "--format=%(refname:short)").splitlines()
    assert box.call("approve", "waits-1").exit_code == 0
    assert box.traces() == ["last"]


def test_discarding_an_import_in_another_data_folder_leaves_the_source_alone(box: BlackBox) -> None:
    tree = start(box)
    other = BlackBox(box.base, {"HANDRAIL_HOME": str(box.base / "other")})
    other.call("discard", take_in(other, exported(box)))
    other.call("clean")
    assert tree.is_dir()
    assert (tree / "work.txt").read_text() == "work"
    assert "work/waits-1" in box.git("branch", "--list", "--format=%(refname:short)").splitlines()


def test_discarding_a_forged_import_removes_no_checkout(box: BlackBox) -> None:
    start(box)
    victim = box.base / "victim"
    box.git("clone", "-q", str(box.repository), str(victim))
    (victim / "uncommitted.txt").write_text("mine")
    copy = take_in(box, forge(exported(box), with_fields(PLACES, str(victim))))
    box.call("discard", copy)
    assert victim.is_dir()
    assert (victim / "uncommitted.txt").read_text() == "mine"
    assert (victim / ".git").is_dir()
    assert box.call("show", copy).exit_code == 0
    assert str(victim) in box.call("logs", copy).text


def test_rewinding_a_forged_import_restores_over_no_work_tree_of_the_user(box: BlackBox) -> None:
    start(box)
    linked = box.base / "linked"
    box.git("worktree", "add", "-q", "-b", "mine", str(linked))
    (linked / "app.txt").write_text("mine\n")
    copy = take_in(box, forge(exported(box), with_fields(PLACES, str(linked))))
    box.call("rewind", copy, "write")
    assert (linked / "app.txt").read_text() == "mine\n"
    assert not (linked / "work.txt").exists()


def test_a_copy_of_an_import_is_held_as_well(box: BlackBox) -> None:
    start(box)
    copy = take_in(box, exported(box))
    for step in ((), ("last",), ("ok",)):
        box.call("fork", copy, *step)
    for fork in ("waits-3", "waits-4", "waits-5"):
        box.call("resume", fork)
        box.call("approve", fork)
    assert box.traces() == []


def test_release_shows_the_commands_asks_and_gives_the_run_a_work_tree_of_its_own(box: BlackBox) -> None:
    tree = start(box)
    copy = take_in(box, exported(box))
    refused = box.call("release", copy)
    assert refused.exit_code != 0
    assert box.mark("last") in refused.text
    assert box.call("approve", copy).exit_code != 0 or box.traces() == []
    released = box.call("release", copy, "--yes")
    own = Path(box.call("show", copy, "--json").document["workspace"])
    assert own != tree
    assert (own / "work.txt").read_text() == "work", released.text
    assert box.traces() == ["last"]
    assert box.call("discard", copy).exit_code == 0
    assert tree.is_dir()


def test_release_says_what_is_missing_in_another_repository(box: BlackBox) -> None:
    start(box)
    copy = take_in(box, exported(box))
    other = box.base / "other"
    box.git("init", "-q", "-b", "main", str(other), cwd=box.base)
    box.git("commit", "-q", "--allow-empty", "-m", "Else", cwd=other)
    refused = box.call("release", copy, "--yes", cwd=other)
    assert refused.exit_code != 0
    assert "lacks what the run continues from" in refused.err
    assert box.traces() == []


CALLS = "name: calls\nsteps:\n  - {name: call, type: workflow, workflow: waits}\n"


def test_a_called_workflow_goes_on_only_once_its_imported_caller_was_released(box: BlackBox) -> None:
    box.write_own("workflows/waits/workflow.yaml", WAITS.replace("LAST", box.mark("last")))
    box.write_own("workflows/calls/workflow.yaml", CALLS)
    assert box.call("run", "calls").exit_code == 3
    bundle = json.loads(box.call("export", "calls-1", "--json").out)
    copy = take_in(box, bundle)
    box.call("resume", copy)
    box.call("approve", copy)
    assert box.traces() == []
    assert "imported" in box.call("show", copy).out
    box.call("release", copy, "--yes")
    assert box.call("show", copy, "--json").document["status"] == "succeeded"
    assert box.traces() == ["last"]
