"""What is refused leaves nothing open: whoever keeps the error would keep a disk from being unmounted, or a lock."""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from handrail.errors import HandrailError, StorageDamaged, StorageTooNew
from handrail.model.history.run_lines import Filter
from handrail.ports.log import Holder
from handrail.ports.run_list import NeedsWholeLog
from handrail.runtime.local.driver_lock import LOCK, DriverLock
from handrail.store.kernel_locks import KernelLocks
from handrail.store.sqlite.connection import FILE, Session
from handrail.store.sqlite.log import open_log, open_readable, salvage_folder
from handrail.store.sqlite.read_only import open_read_only
from handrail.store.sqlite.run_list import run_list
from handrail.workspace.git.data_places import DataLayout, try_lock

ME = Holder("me", os.getpid(), "here", 0.0)


def _open_below(folder: Path) -> list[str]:
    """Name the files below a folder that this process has open."""
    found: list[Path] = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(each.readlink())
    return sorted(str(each) for each in found if each.is_relative_to(folder))


def _too_new(folder: Path) -> None:
    open_log(folder).close()
    session = Session(folder / FILE, 1000)
    session.execute("PRAGMA user_version = 9999")
    session.raw.close()


def _no_database(folder: Path) -> None:
    (folder / FILE).write_bytes(b"This is a text, and no database at all.\n" * 200)


def _torn(folder: Path) -> None:
    open_log(folder).close()
    with (folder / FILE).open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 4000)


def _listed(folder: Path) -> None:
    with run_list(folder) as found:
        found.rows(Filter())


def _logged(folder: Path) -> None:
    open_log(folder).close()


def _looked_at(folder: Path) -> None:
    open_readable(folder).close()


@pytest.mark.parametrize("use", [_logged, _looked_at, _listed])
@pytest.mark.parametrize("spoil", [_too_new, _no_database, _torn])
def test_a_log_that_cannot_be_opened_is_not_held_open(
    tmp_path: Path, spoil: Callable[[Path], None], use: Callable[[Path], None]
) -> None:
    spoil(tmp_path)
    with pytest.raises((HandrailError, NeedsWholeLog)) as kept:
        use(tmp_path)
    assert (kept.tb is not None, _open_below(tmp_path)) == (True, [])


@pytest.mark.parametrize("spoil", [_no_database, _torn])
def test_a_damaged_log_that_is_only_read_is_not_held_open(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path)
    with pytest.raises(apsw.Error) as kept:
        open_read_only(tmp_path / FILE)
    assert (kept.tb is not None, _open_below(tmp_path)) == (True, [])


def test_salvaging_what_cannot_be_salvaged_leaves_nothing_open(tmp_path: Path) -> None:
    _too_new(tmp_path)
    with pytest.raises(StorageTooNew) as kept:
        salvage_folder(tmp_path)
    assert (kept.value.code, _open_below(tmp_path)) == ("storage-too-new", [])


def test_a_log_that_was_rebuilt_leaves_no_copy_open(tmp_path: Path) -> None:
    _torn(tmp_path)
    with pytest.raises(StorageDamaged) as kept:
        open_log(tmp_path)
    assert salvage_folder(tmp_path).copy
    assert (kept.value.code, _open_below(tmp_path)) == ("storage-damaged", [])


def test_a_lock_that_somebody_has_is_not_held_open(tmp_path: Path) -> None:
    mine, yours = KernelLocks(tmp_path), KernelLocks(tmp_path)
    assert mine.take("run", ME) is None
    before = _open_below(tmp_path)
    assert [yours.take("run", ME), mine.take("run", ME)] == [ME, ME]
    yours.sweep()
    assert _open_below(tmp_path) == before
    mine.free("run")
    assert _open_below(tmp_path) == []


def test_a_lock_that_the_disk_has_no_room_for_is_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", full)
        for take in (lambda: KernelLocks(tmp_path).take("run", ME), DriverLock(tmp_path).take):
            with pytest.raises(OSError, match="No space left"):
                take()
            assert _open_below(tmp_path) == []
    assert KernelLocks(tmp_path).holder("run") is None
    driver = DriverLock(tmp_path)
    assert driver.take() is None
    driver.free()


def test_a_driver_that_finds_another_one_holds_nothing_open(tmp_path: Path) -> None:
    first = DriverLock(tmp_path)
    first.take()
    assert DriverLock(tmp_path).take() is not None
    assert _open_below(tmp_path) == [str(tmp_path / LOCK)]
    first.free()
    assert _open_below(tmp_path) == []


def test_a_repository_lock_that_cannot_be_had_or_removed_is_not_held_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    places = DataLayout(tmp_path)
    with pytest.raises(OSError, match="Read-only"), monkeypatch.context() as disk, places.lock(tmp_path):
        disk.setattr(Path, "unlink", refuse)
    assert _open_below(tmp_path) == []
    with monkeypatch.context() as disk:
        disk.setattr(fcntl, "flock", refuse)
        with pytest.raises(OSError, match="Read-only"):
            try_lock(places.locks / "other.lock")
    assert _open_below(tmp_path) == []
