"""A real git repository of somebody with a name, in which a page is tried out."""

import os
import subprocess
from pathlib import Path

import pytest

from support.docs.commands import Shown, commands, fits
from support.docs.pages import blocks
from support.docs.shop import IDENTITY


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Make the folders of a repository and of a person whom git knows."""
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    found = Shown(tmp_path / "shop", tmp_path / "home")
    found.root.mkdir()
    found.home.mkdir()
    (found.home / ".gitconfig").write_text(IDENTITY, "utf-8")
    return found


def commit(shown: Shown) -> None:
    """Begin the repository with all files that are there."""
    env = {"HOME": str(shown.home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Start")):
        subprocess.run(["git", *words], cwd=shown.root, env=env, check=True, capture_output=True)


def begin(shown: Shown, page: str) -> None:
    """Begin the repository with the files that a page shows."""
    for block in blocks(page):
        if "file" in block.notes:
            shown.write(block)
    commit(shown)


def untrue(shown: Shown, page: str, installed: str = "") -> list[str]:
    """Run the commands of a page in their order; give those that print other than it shows, where it shows anything.

    Blocks with the note `with: PROGRAM` are for a repository that has it, and are run for it alone.
    """
    console = [
        block for block in blocks(page) if block.language == "console" and block.notes.get("with", "") == installed
    ]
    ran = [(block, each, shown.run(each.line)[1]) for block in console for each in commands(block)]
    return [
        f"{block}: $ {each.line}\n{printed}"
        for block, each, printed in ran
        if each.expected.strip() and not fits(each.expected, printed)
    ]
