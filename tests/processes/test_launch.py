"""Folders that are made ahead: a start in one is like any other, and nothing of them is left."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.ports.processes import Ended, ProcessSpec
from handrail.processes.keeper_files import make_ahead
from handrail.processes.keeper_pool import KEEPER_POOL
from handrail.processes.launch import StartFolders
from handrail.processes.local import LocalProcesses
from handrail.testing.leaks import lasting_within
from support.workspace.process_room import Room

FILES = ["process.json", "status", "stderr", "stdout"]


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[StartFolders]:
    found = StartFolders(tmp_path / "ahead")
    yield found
    KEEPER_POOL.close()
    assert lasting_within(tmp_path) == []
    found.close()
    assert list((tmp_path / "ahead").iterdir()) == []


@pytest.fixture
def quick(tmp_path: Path, folders: StartFolders) -> Room:
    return Room(tmp_path, LocalProcesses(folders=folders))


def _make(folders: StartFolders) -> Path:
    """Make a folder ahead, as a keeper does."""
    told = folders.plan()
    assert told is not None
    make_ahead(*told)
    return Path(told[0])


def _sh(room: Room, script: str, folder: str) -> ProcessSpec:
    return replace(room.sh(script), folder=str(room.root / "runs" / "work-1" / folder))


def _names(spec: ProcessSpec) -> list[str]:
    return sorted(path.name for path in Path(spec.folder).iterdir())


def _ahead(room: Room) -> list[Path]:
    """List what was made ahead, once a keeper has made it."""
    room.until_so(lambda: any(path.suffix != ".new" for path in (room.root / "ahead").iterdir()))
    return sorted((room.root / "ahead").iterdir())


def test_the_keeper_of_one_command_makes_the_folder_of_the_next(quick: Room) -> None:
    first, second = _sh(quick, "echo one", "1/0.0"), _sh(quick, "echo two; echo three >&2; exit 4", "2/0.0")
    assert quick.run(first) == Ended(0, stdout_size=4)
    (made,) = _ahead(quick)
    inode = (made / "0.0" / "stdout").stat().st_ino
    assert quick.run(second) == Ended(4, stdout_size=4, stderr_size=6)
    assert (Path(second.folder) / "stdout").stat().st_ino == inode, "it was moved"
    assert _names(first) == _names(second) == FILES
    assert not made.exists()


@pytest.mark.parametrize("name", ["0.0", "1.0", "agent.0"])
def test_an_effect_that_has_a_folder_already_gets_another_one_in_it(quick: Room, name: str) -> None:
    quick.run(_sh(quick, "exit 0", "1/0.0"))
    other = quick.root / "runs" / "work-1" / "2" / "agent.0.input"
    other.mkdir(parents=True)
    (made,) = _ahead(quick)
    spec = _sh(quick, "echo two", f"2/{name}")
    assert quick.run(spec) == Ended(0, stdout_size=4)
    assert _names(spec) == FILES
    assert other.is_dir()
    assert not made.exists()


def test_a_start_with_another_name_is_moved_whole(quick: Room) -> None:
    quick.run(_sh(quick, "exit 0", "1/0.0"))
    spec = _sh(quick, "echo two", "2/agent.0")
    assert quick.run(spec) == Ended(0, stdout_size=4)
    assert sorted(path.name for path in Path(spec.folder).parent.iterdir()) == ["agent.0"]


def test_a_folder_with_anything_in_it_is_never_replaced(quick: Room, folders: StartFolders) -> None:
    made = _make(folders)
    spec = _sh(quick, "cat process-values", "1/0.0")
    Path(spec.folder).mkdir(parents=True)
    (Path(spec.folder) / "name.value").write_text("kept")
    assert quick.run(spec).code == 1
    assert _names(spec) == ["name.value", *FILES]
    assert made.exists()


def test_what_must_not_run_twice_has_a_folder_of_its_own(quick: Room, folders: StartFolders) -> None:
    made = _make(folders)
    assert quick.run(replace(_sh(quick, "exit 3", "1/0.0"), once=True)).exit_code == 3
    assert made.exists()


def test_a_file_that_is_missing_in_it_is_made(quick: Room, folders: StartFolders) -> None:
    made = _make(folders)
    for path in tuple((made / "0.0").iterdir()):
        path.unlink()
    (quick.root / "runs" / "work-1").mkdir(parents=True)
    spec = _sh(quick, "echo said", "1/0.0")
    assert quick.run(spec) == Ended(0, stdout_size=5)
    assert _names(spec) == FILES


def test_one_that_is_half_made_is_not_used(quick: Room, folders: StartFolders) -> None:
    told = folders.plan()
    assert told is not None
    (quick.root / "ahead" / f"{Path(told[0]).name}.new" / "0.0").mkdir(parents=True)
    assert not folders.take(quick.root / "runs" / "work-1" / "1" / "0.0")
    (quick.root / "ahead" / f"{Path(told[0]).name}.new" / "0.0").rmdir()
    (quick.root / "ahead" / f"{Path(told[0]).name}.new").rmdir()


def test_no_more_are_made_than_are_needed(folders: StartFolders) -> None:
    for _ in range(8):
        _make(folders)
    assert folders.plan() is None


def test_those_that_keepers_never_made_do_not_count(folders: StartFolders) -> None:
    for _ in range(20):
        assert folders.plan() is not None


def test_what_was_made_for_a_process_that_died_is_removed_by_the_next(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from handrail.processes.launch import StartFolders;"
        "from handrail.processes.keeper_files import make_ahead; make_ahead(*StartFolders(Path(sys.argv[1])).plan())"
    )
    place = tmp_path / "ahead"
    subprocess.run([sys.executable, "-c", script, str(place)], check=True)
    (place / "1-1.new" / "0.0").mkdir(parents=True)
    assert len(list(place.iterdir())) == 2
    folders = StartFolders(place)
    assert folders.plan() is not None
    assert [path.name for path in place.iterdir()] == ["1-1.new"], "the first process is alive"


def test_a_fork_uses_nothing_of_its_parent(tmp_path: Path, folders: StartFolders) -> None:
    made = _make(folders)
    child = os.fork()
    if child == 0:
        taken = folders.take(tmp_path / "runs" / "1" / "0.0")
        folders.close()
        os._exit(int(taken))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert made.exists()


def test_a_place_that_cannot_be_made_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    room = Room(tmp_path, LocalProcesses(folders=StartFolders(tmp_path / "file" / "ahead")))
    assert room.run(_sh(room, "echo said", "1/0.0")) == Ended(0, stdout_size=5)
