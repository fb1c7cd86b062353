"""A full or read-only disk: everything that only looks still reads, and what writes says why it cannot."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.testing.small_disks import closed, fill, mounted
from support.cli.small_disk import WITHOUT_POWERS
from support.security.black_box import BlackBox, make_black_box

ASKS = """
name: asks
steps:
  - {name: a, command: 'echo changed > app.txt'}
  - {name: ok, type: approval}
"""
LOOKS = (
    ("status",),
    ("status", "asks-1"),
    ("status", "--json"),
    ("inbox",),
    ("logs", "asks-1"),
    ("show", "asks-1"),
    ("show", "asks-1", "a"),
    ("why", "asks-1"),
    ("cost", "asks-1"),
    ("diff", "asks-1"),
    ("doctor",),
)
BY_MODES = (sys.executable, "-c", WITHOUT_POWERS)
"""Even root may then only do what the modes of folders allow."""


def _asked(box: BlackBox) -> None:
    box.write_own("workflows/asks/workflow.yaml", ASKS)
    asked = box.call("run", "asks")
    assert asked.exit_code == 3, asked.text


def _assert_everything_looks(box: BlackBox, *through: str) -> None:
    for words in LOOKS:
        shown = box.call(*words, through=through)
        assert shown.exit_code == 0, (words, shown.text)
    assert "+changed" in box.call("diff", "asks-1", through=through).out


@contextmanager
def _closed_to_writers(folder: Path) -> Generator[None]:
    """Let nobody whom modes hold write anything below a folder."""
    found = [folder, *folder.rglob("*")]
    modes = {path: path.lstat().st_mode for path in found if not path.is_symlink()}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    try:
        yield
    finally:
        for path, mode in reversed(modes.items()):
            path.chmod(mode)


def test_a_data_folder_that_may_not_be_written_is_read(box: BlackBox) -> None:
    _asked(box)
    with _closed_to_writers(box.home / "data"):
        _assert_everything_looks(box, *BY_MODES)
        refused = box.call("approve", "asks-1", through=BY_MODES)
        assert refused.exit_code == 3
        assert f"the log in {box.home}/data/handrail.db cannot be written" in refused.err
    assert box.call("approve", "asks-1").exit_code == 0


@pytest.mark.system("disk")
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_disk_that_takes_nothing_more_is_read(tmp_path: Path, how: str) -> None:
    box = make_black_box(tmp_path)
    box.home.mkdir()
    with mounted(box.home, 4) as able:
        assert able
        _asked(box)
        assert fill(box.home).exists() if how == "full" else closed(box.home)
        _assert_everything_looks(box)
        refused = box.call("approve", "asks-1")
        assert refused.exit_code == 3
        said = "there is no room left for the log in" if how == "full" else "cannot be written: Read-only file system"
        assert said in refused.err
        assert f"{box.home}/data/handrail.db" in refused.err
