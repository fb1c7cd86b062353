"""What a power cut or a full disk does to the files of a command must not lead to a wrong decision."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.ports.processes import Ended, Gone
from handrail.processes.keeper_files import RESERVED_BYTES, KeeperFiles
from support.workspace.process_room import Room


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_status_that_outlived_some_of_the_output_is_no_status(room: Room, stream: str) -> None:
    spec = room.sh("echo said; echo warned >&2")
    room.run(spec)
    with (Path(spec.folder) / stream).open("r+b") as file:
        file.truncate(2)
    assert room.processes.look(spec.folder) == Gone()


def test_output_that_came_after_the_status_does_not_shake_it(room: Room) -> None:
    spec = room.sh("echo said")
    ended = room.run(spec)
    with (Path(spec.folder) / "stdout").open("ab") as file:
        file.write(b"late")
    assert room.processes.look(spec.folder) == replace(ended, stdout_size=9)


def test_what_a_start_wrote_whose_record_was_lost_is_dropped_when_it_is_started_again(room: Room) -> None:
    spec = room.sh("echo said")
    room.run(spec)
    for name in ("process.json", "status"):
        (Path(spec.folder) / name).unlink()
    assert room.run(spec) == Ended(0, stdout_size=5)
    assert room.out(spec) == b"said\n"


def test_room_for_the_status_is_taken_before_the_command_begins(room: Room) -> None:
    spec = room.sh("stat -c %s process-1/status.*")
    room.run(spec)
    assert room.out(spec) == f"{RESERVED_BYTES}\n".encode()
    assert sorted(path.name for path in Path(spec.folder).iterdir()) == ["process.json", "status", "stderr", "stdout"]


def test_what_must_not_run_twice_runs_like_anything_else(room: Room) -> None:
    assert room.run(replace(room.sh("exit 3"), once=True)).exit_code == 3


def test_a_status_says_that_output_may_be_missing(room: Room) -> None:
    spec = room.sh("echo said")
    room.run(spec)
    status = json.loads((Path(spec.folder) / "status").read_text())
    assert (status["stdout"], status["stderr"], status["incomplete"]) == (5, 0, False)
    KeeperFiles(spec.folder).write_status({**status, "incomplete": True})
    assert room.processes.look(spec.folder) == Ended(0, stdout_size=5, incomplete=True)


def test_a_folder_that_is_gone_is_no_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "going"
    folder.mkdir()
    files = KeeperFiles(str(folder), outputs=())
    assert files.claim({"key": "work-1:1"}, durable=False) == ""
    shutil.rmtree(folder)
    assert files.has_room()
    files.write_status({})
    files.drop_draft()
    assert list(tmp_path.iterdir()) == []


def test_a_status_is_written_even_where_the_space_for_it_was_removed(tmp_path: Path) -> None:
    files = KeeperFiles(str(tmp_path), outputs=())
    assert files.claim({"key": "work-1:1"}, durable=False) == ""
    files.drop_draft()
    next(tmp_path.glob("status.*")).unlink()
    files.write_status({"exit_code": 3})
    assert json.loads((tmp_path / "status").read_text()) == {"exit_code": 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["process.json", "status"]


def test_a_second_status_replaces_the_first_as_a_whole(tmp_path: Path) -> None:
    files = KeeperFiles(str(tmp_path), outputs=())
    files.claim({"key": "work-1:1"}, durable=False)
    files.drop_draft()
    assert files.has_room()
    files.write_status({"reason": "long" * 100})
    first = (tmp_path / "status").stat().st_ino
    with (tmp_path / "status").open() as earlier:
        files.write_status({"reason": None})
        assert json.loads(earlier.read()) == {"reason": "long" * 100}
    assert json.loads((tmp_path / "status").read_text()) == {"reason": None}
    assert (tmp_path / "status").stat().st_ino != first
