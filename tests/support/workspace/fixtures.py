"""Fixtures of the tests of worktrees and commands."""

from pathlib import Path

import pytest

from support.workspace.git_room import GitRoom
from support.workspace.process_room import Room


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


@pytest.fixture
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Git with a user of its own, and no configuration of the machine."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        '[user]\n\tname = Ada\n\temail = ada@example.org\n[protocol "file"]\n\tallow = always\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def shop(tmp_path: Path, git_home: Path) -> GitRoom:
    return GitRoom(tmp_path).make()
