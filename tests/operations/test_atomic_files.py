"""Files are replaced at once or not at all."""

from pathlib import Path

import pytest

from handrail.errors import EnvironmentFault, UsageError
from handrail.operations.atomic_files import refuse_link_elsewhere, replace_file


def test_a_new_file_gets_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    replace_file(tmp_path / "new", b"x")
    assert (tmp_path / "new").read_bytes() == b"x"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"before")
    path.chmod(0o755)
    replace_file(path, b"after")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"after", 0o755)


def test_a_failure_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(EnvironmentFault, match="folder cannot be written: is a directory"):
        replace_file(tmp_path / "folder", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_link_inside_its_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    assert refuse_link_elsewhere(tmp_path / "link") == (tmp_path / "real").resolve()


def test_a_link_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "real").touch()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "real")
    with pytest.raises(UsageError, match="leads to"):
        refuse_link_elsewhere(tmp_path / "in" / "link")
