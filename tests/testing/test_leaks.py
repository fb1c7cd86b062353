"""The leak checker finds what it is there for."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from handrail.testing.leaks import lasting_within, processes_within, temporary_files
from support.workspace.process_room import Room

pytestmark = pytest.mark.system  # takes long


def test_a_keeper_and_its_command_are_seen_while_they_run(room: Room) -> None:
    spec = room.start("exec sleep 600")
    found = processes_within(room.root)
    assert len(found) == 2
    assert any("keeper" in one for one in found)
    room.end(spec)
    assert lasting_within(room.root) == []


def test_a_process_that_only_works_in_the_folder_is_seen(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "600"], cwd=tmp_path, env={}) as process:
        assert processes_within(tmp_path) == [f"process {process.pid}: /bin/sleep 600"]
        process.kill()


def test_a_process_elsewhere_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    with subprocess.Popen(["/bin/sleep", "600"], cwd=tmp_path, env={}) as process:
        assert processes_within(tmp_path / "inside") == []
        process.kill()


def test_the_temporary_folder_of_a_test_is_its_own(tmp_path: Path) -> None:
    with tempfile.NamedTemporaryFile() as file:
        folder = Path(file.name).parent
        assert [path.name for path in folder.iterdir()] == [Path(file.name).name]
        assert folder == Path(os.environ["TMPDIR"])


INNER = """
import subprocess, tempfile
from handrail.testing import leaks
from handrail.testing.leaks import nothing_left_behind

leaks.PATIENCE = 0.1
children = []

def test_tidy(tmp_path): (tmp_path / "kept").touch()
def test_draft(tmp_path): (tmp_path / "x.tmp").touch()
def test_temporary(tmp_path): tempfile.mkstemp(prefix="forgotten")
def test_process(tmp_path): children.append(subprocess.Popen(["/bin/sleep", "600"], cwd=tmp_path))

def teardown_module():
    for child in children:
        child.kill()
        child.wait()
"""


def test_a_test_that_leaves_something_fails_and_says_what(tmp_path: Path) -> None:
    (tmp_path / "test_inner.py").write_text(INNER)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_inner.py"]
    words.append(f"--basetemp={tmp_path / 'inner'}")
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    shutil.rmtree(tmp_path / "inner")
    assert "4 passed, 3 errors" in shown
    said = [line.partition("left behind: ")[2] for line in shown.splitlines() if line.startswith("E  ")]
    assert said[0].endswith("test_draft0/x.tmp")
    assert "forgotten" in said[1]
    assert said[2].endswith(": /bin/sleep 600")


def test_a_draft_that_nobody_renamed_is_seen(tmp_path: Path) -> None:
    draft = tmp_path / "deep" / "status.tmp"
    draft.parent.mkdir()
    draft.touch()
    assert temporary_files(tmp_path) == [str(draft)]
    draft.unlink()
