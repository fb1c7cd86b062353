"""Nothing of the user's is lost: what a run leaves is removed only when it is somewhere else."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from support.security.black_box import PROGRAM, BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORK = """
name: work
steps:
  - {name: write, command: "printf 'three\\n' >> app.txt; printf new > new.txt; mkdir -p deep; printf d > deep/d.txt"}
"""
WAITS = """
name: waits
steps:
  - {name: write, command: "printf work > work.txt"}
  - {name: ok, type: approval, message: Go on?}
"""
SLEEPS = """
name: sleeps
steps:
  - {name: a, command: "touch GO; sleep 600"}
"""


def start(box: BlackBox, name: str, text: str, code: int = 0) -> str:
    box.write_own(f"workflows/{name}/workflow.yaml", text)
    answer = box.call("run", name)
    assert answer.exit_code == code, answer.text
    return f"{name}-1"


def workspace_of(box: BlackBox, run: str) -> Path:
    return Path(box.call("show", run, "--json").document["workspace"])


def status_of(box: BlackBox, run: str) -> str:
    return box.call("status", run, "--json").document["runs"][0]["status"]


def snapshot_refs(box: BlackBox) -> list[str]:
    return box.git("for-each-ref", "--format=%(refname)", "refs/handrail/").splitlines()


# discard ----------------------------------------------------------------------------------------------------------


def test_discard_with_the_repository_moved_away_stops_nothing_and_works_once_it_is_back(box: BlackBox) -> None:
    run = start(box, "waits", WAITS, code=3)
    elsewhere = box.base / "elsewhere"
    box.repository.rename(elsewhere)
    refused = box.call("discard", run, cwd=box.base)
    assert refused.exit_code != 0
    assert status_of_from(box, run) == "waiting"
    assert "put it back" in refused.err
    elsewhere.rename(box.repository)
    assert status_of(box, run) == "waiting"
    assert box.call("approve", run).exit_code == 0
    assert box.call("discard", run).exit_code == 0
    assert box.git("show", f"refs/handrail/{run}:work.txt") == "work"


def status_of_from(box: BlackBox, run: str) -> str:
    return box.call("status", run, "--json", cwd=box.base).document["runs"][0]["status"]


# clean ------------------------------------------------------------------------------------------------------------


def test_clean_removes_what_was_applied_and_committed_and_lets_its_snapshots_go_after_their_time(box: BlackBox) -> None:
    run = start(box, "work", WORK)
    path = workspace_of(box, run)
    assert box.call("apply", run).exit_code == 0
    box.commit("Apply the run")
    cleaned = box.call("clean", "--json").document
    assert [each["run"] for each in cleaned["removed"] if each["kind"] == "worktree"] == [run]
    assert not path.exists()
    assert box.git("branch", "--list", "work/*") == ""
    assert box.git("show", f"refs/handrail/{run}:new.txt") == "new"
    box.write_own("config.toml", "[cleanup]\nkeep_snapshots = 0\nkeep_blame = 0\n")
    named = [each["name"] for each in box.call("clean", "--dry-run", "--json").document["removed"]]
    assert f"refs/handrail/{run}" in named
    assert f"refs/handrail/{run}" in snapshot_refs(box)
    box.call("clean")
    assert snapshot_refs(box) == []


def test_clean_leaves_the_refs_and_branches_of_another_data_folder(box: BlackBox) -> None:
    run = start(box, "work", WORK)
    other = BlackBox(box.base, {"HANDRAIL_HOME": str(box.base / "other")})
    theirs = workspace_of(box, run)
    (box.base / "other" / "workflows" / "work").mkdir(parents=True)
    (box.base / "other" / "workflows" / "work" / "workflow.yaml").write_text(
        "name: work\nsteps: [{name: a, command: ls}]\n"
    )
    assert other.call("run", "work").exit_code == 0
    (box.base / "other" / "config.toml").write_text("[cleanup]\nkeep_snapshots = 0\nkeep_blame = 0\n")
    for command in (("discard", "work-1"), ("clean",)):
        other.call(*command)
    assert theirs.is_dir()
    assert "work/work-1" in box.git("branch", "--list", "--format=%(refname:short)").splitlines()
    assert box.call("discard", run).exit_code == 0
    assert box.git("show", f"refs/handrail/{run}:new.txt") == "new"


# stop -------------------------------------------------------------------------------------------------------------


def test_no_step_is_shown_as_running_after_a_stop(box: BlackBox) -> None:
    box.write_own("workflows/sleeps/workflow.yaml", SLEEPS)
    assert box.call("run", "sleeps", "--detach").exit_code == 0
    until = time.monotonic() + 60
    while box.call("status", "sleeps-1", "--json").document["runs"][0]["status"] == "running":
        steps = box.call("show", "sleeps-1", "--json").document["steps"]
        if steps or time.monotonic() > until:
            break
    assert box.call("stop", "sleeps-1").exit_code in (0, 1)
    shown = box.call("status", "sleeps-1").out
    assert "▸" not in shown
    assert "running" not in shown.lower()
    assert [each["status"] for each in box.call("show", "sleeps-1", "--json").document["steps"]] == ["stopped"]


# apply ------------------------------------------------------------------------------------------------------------

FILES, SIZE = 60, 500_000
MANY = f"""
name: many
steps:
  - name: write
    command: |
      for n in $(seq 1 {FILES}); do head -c {SIZE} /dev/zero | tr '\\0' 'x' > f$n; done
      rm gone; chmod +x mode; ln -sf f1 link
      rm -r folder; printf now-a-file > folder; rm file; mkdir file; printf in > file/in
"""


def many(box: BlackBox) -> str:
    for number in range(1, FILES + 1):
        box.write(f"f{number}", "old\n")
    for name in ("gone", "mode", "file", "folder/a", "folder/b"):
        box.write(name, name)
    (box.repository / "link").symlink_to("f2")
    box.commit("Many files")
    return start(box, "many", MANY)


def tree_of(folder: Path) -> dict[str, tuple[str, bytes]]:
    found: dict[str, tuple[str, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/", maxsplit=1)[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        elif path.is_file():
            found[name] = ("program" if os.access(path, os.X_OK) else "file", path.read_bytes())
    return found


def killed_apply(box: BlackBox, run: str) -> None:
    """Kill `apply` and all that it started: in the middle of a file if there is such a moment, else of the files."""
    process = subprocess.Popen(
        [PROGRAM, "apply", run],
        cwd=box.repository,
        env=box.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    files = [box.repository / f"f{number}" for number in range(1, FILES + 1)]
    while process.poll() is None:
        sizes = [path.stat().st_size for path in files if path.exists()]
        if sizes.count(SIZE) > FILES // 2 or not set(sizes) <= {4, SIZE}:
            break
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_an_apply_that_was_killed_is_finished_or_taken_back(box: BlackBox) -> None:
    run = many(box)
    before, wanted = tree_of(box.repository), tree_of(workspace_of(box, run))
    partial = 0
    for _ in range(3):
        killed_apply(box, run)
        partial += tree_of(box.repository) not in (before, wanted)
        again = box.call("apply", run)
        assert (again.exit_code, tree_of(box.repository) == wanted) == (0, True), again.text
        assert box.call("apply", run, "--undo").exit_code == 0
        assert tree_of(box.repository) == before
    killed_apply(box, run)
    assert box.call("apply", "--undo").exit_code == 0
    assert tree_of(box.repository) == before
    assert box.git("status", "--porcelain") == ""
    assert partial, "no kill came in the middle"
