"""Whoever waits for a change of the log is woken by it, whichever process made it."""

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.ports.log import Doorbell
from handrail.store.doorbells import FOLDER
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import SqliteLog, open_log

SEND = "import sys; from pathlib import Path; from handrail.store.sqlite.log import open_log; {then}"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    log = open_log(tmp_path)
    yield log
    log.close()


def hung(log: SqliteLog) -> Doorbell:
    bell = log.doorbell()
    assert bell is not None
    return bell


def is_rung(bell: Doorbell, seconds: float = 0.0) -> bool:
    return bool(select.select([bell], [], [], seconds)[0])


def run_python(then: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", SEND.format(then=then), str(folder)], check=True)


def test_a_write_of_this_process_rings(log: SqliteLog) -> None:
    bell = hung(log)
    assert not is_rung(bell)
    log.send("r1", "key", b"{}")
    assert is_rung(bell)


def test_two_logs_of_one_process_ring_each_other(log: SqliteLog, tmp_path: Path) -> None:
    other = open_log(tmp_path)
    bells = hung(log), hung(other)
    for writer in (log, other):
        writer.send("r1", str(id(writer)), b"{}")
        assert all(map(is_rung, bells))
        for bell in bells:
            bell.answer()
    other.close()


def _age(folder: Path, moment: int = 1_000_000_001) -> None:
    """Make the folder of the bells look as if it had not changed for long."""
    os.utime(folder / FOLDER, ns=(moment, moment))


@pytest.mark.parametrize("age", [1_000_000_001, 2_000_000_000, None], ids=["old", "coarse", "new"])
def test_a_bell_is_rung_whenever_the_others_were_listed(log: SqliteLog, tmp_path: Path, age: int | None) -> None:
    other = open_log(tmp_path)
    first = hung(log)
    for number in range(3):
        if age is not None:
            _age(tmp_path, age)
        log.send("r1", f"before:{number}", b"{}")
        second = hung(other)
        log.send("r1", f"after:{number}", b"{}")
        assert is_rung(first)
        assert is_rung(second)
        second.close()
        first.answer()
        log.send("r1", f"again:{number}", b"{}")
        assert is_rung(first)
        first.answer()
    other.close()


def test_bells_are_not_listed_again_while_their_folder_is_the_same(
    log: SqliteLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bell = hung(log)
    _age(tmp_path)
    log.send("r1", "one", b"{}")
    bell.answer()

    def find_none(_: Path) -> list[str]:
        return []

    monkeypatch.setattr(os, "listdir", find_none)
    log.send("r1", "two", b"{}")
    assert is_rung(bell)


def test_a_write_of_another_process_rings(log: SqliteLog, tmp_path: Path) -> None:
    bell = hung(log)
    run_python("open_log(Path(sys.argv[1])).send('r1', 'key', b'{}')", tmp_path)
    assert is_rung(bell)


def test_one_that_was_answered_rings_at_the_next_write(log: SqliteLog) -> None:
    bell = hung(log)
    for key in ("one", "two"):
        log.send("r1", key, b"{}")
        assert is_rung(bell)
        bell.answer()
        assert not is_rung(bell)


def test_a_read_rings_nobody(log: SqliteLog) -> None:
    bell = hung(log)
    log.inbox("r1")
    log.change_token()
    assert not is_rung(bell)


def test_one_that_is_full_holds_nobody_up(log: SqliteLog) -> None:
    bell = hung(log)
    writer = os.open(f"/proc/self/fd/{bell.fileno()}", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, bytes(4096)):
            pass
    os.close(writer)
    assert log.send("r1", "key", b"{}")
    bell.answer()
    assert not is_rung(bell)


def test_the_bell_of_a_process_that_died_is_removed_by_the_next_write(log: SqliteLog, tmp_path: Path) -> None:
    run_python("bell = open_log(Path(sys.argv[1])).doorbell(); import os; os._exit(0)", tmp_path)
    assert len(list((tmp_path / FOLDER).iterdir())) == 1
    log.send("r1", "key", b"{}")
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_nothing_is_left_of_one_once_the_log_is_closed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    bell = hung(log)
    log.close()
    assert list((tmp_path / FOLDER).iterdir()) == []
    bell.close()


def test_a_log_in_memory_has_none() -> None:
    assert MemoryWorld().open().doorbell() is None
