"""A second process that looks at half of many files: it answers like the first, and can fail without harm."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.processes.keeper_pool import KEEPER_POOL
from handrail.processes.process_table import birth_of, find_descendants
from handrail.processes.stat_helper import StatHelper, encode_request, is_unchanged


@pytest.fixture
def helper() -> Iterator[StatHelper]:
    KEEPER_POOL.open()
    yield StatHelper()
    KEEPER_POOL.close()


def _files(tmp_path: Path) -> tuple[bytes, list[bytes], list[int]]:
    names = [b"a", b"with space", b"caf\xc3\xa9\n", b"folder"]
    for name in names[:-1]:
        (tmp_path / os.fsdecode(name)).write_text("x")
    (tmp_path / "folder").mkdir()
    return bytes(tmp_path), names, [os.lstat(tmp_path / os.fsdecode(name)).st_ctime_ns for name in names]


def _ask(helper: StatHelper, request: bytes) -> bool | None:
    assert helper.ask(request)
    return helper.hear()


def test_the_helper_answers_what_a_look_of_our_own_finds(helper: StatHelper, tmp_path: Path) -> None:
    root, names, times = _files(tmp_path)
    request = encode_request(root, names, times)
    assert is_unchanged(root, names, times)
    assert [_ask(helper, request) for _ in range(3)] == [True] * 3
    other = [*times[:-1], times[-1] + 1]
    assert not is_unchanged(root, names, other)
    assert _ask(helper, encode_request(root, names, other)) is False
    (tmp_path / "with space").unlink()
    assert not is_unchanged(root, names, times)
    assert _ask(helper, request) is False
    assert _ask(helper, encode_request(root + b"/gone", names, times)) is False
    assert _ask(helper, encode_request(root, [], [])) is True


def test_thousands_of_files_fit_into_a_request(helper: StatHelper, tmp_path: Path) -> None:
    root, names, times = _files(tmp_path)
    assert _ask(helper, encode_request(root, names * 5000, times * 5000)) is True


def test_a_helper_that_is_busy_is_not_waited_for(helper: StatHelper, tmp_path: Path) -> None:
    request = encode_request(*_files(tmp_path))
    assert helper.ask(request)
    assert not helper.ask(request)
    assert helper.hear() is True
    assert _ask(helper, request) is True


def test_a_helper_that_was_killed_is_replaced(helper: StatHelper, tmp_path: Path) -> None:
    request = encode_request(*_files(tmp_path))
    assert _ask(helper, request) is True
    for pid in find_descendants(KEEPER_POOL.pid):
        os.kill(pid, signal.SIGKILL)
    # The pool may have forked another one meanwhile.
    assert not helper.ask(request) or helper.hear() in (None, True)
    KEEPER_POOL.close()
    KEEPER_POOL.open()
    assert _ask(helper, request) is True


def test_without_a_pool_there_is_no_helper(tmp_path: Path) -> None:
    KEEPER_POOL.close()
    alone = StatHelper()
    assert not alone.ask(encode_request(*_files(tmp_path)))


def test_a_fork_asks_no_helper_of_its_parent(helper: StatHelper, tmp_path: Path) -> None:
    request = encode_request(*_files(tmp_path))
    assert _ask(helper, request) is True
    child = os.fork()
    if child == 0:
        os._exit(int(helper.ask(request)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _ask(helper, request) is True
    assert birth_of(KEEPER_POOL.pid) is not None
