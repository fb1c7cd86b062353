"""Fixtures of the command line's tests."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.cli.fresh import Fresh, make_machine
from support.cli.live_room import GATES
from support.cli.running import Runs
from support.cli.shop import Shop
from support.cli.team import Team


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return Shop(root, tmp_path / "home")


@pytest.fixture
def runs(shop: Shop) -> Generator[Runs]:
    found = Runs(shop)
    yield found
    found.end_driver()


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Team]:
    """A repository with one commit, and git without the configuration of the machine."""
    home, root = tmp_path / "person", tmp_path / "repo"
    home.mkdir()
    root.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n", "utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(root)
    made = Team(Runs(Shop(root, tmp_path / "home")), root)
    made.git("init", "-q", "-b", "main")
    made.write("app.txt", "one\ntwo\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "Start")
    yield made
    made.runs.end_driver()
    # Agents that wait for a file go on, whatever became of their run.
    for name in GATES:
        (tmp_path / name).touch()


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fresh:
    """A repository without a commit, on a machine with few programs and no agent."""
    person, root = tmp_path / "person", tmp_path / "shop"
    person.mkdir()
    root.mkdir()
    (person / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n", "utf-8")
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PATH", str(make_machine(tmp_path / "bin")))
    monkeypatch.chdir(root)
    made = Fresh(Shop(root, tmp_path / "home"), tmp_path / "bin")
    made.git("init", "-q", "-b", "main")
    return made
