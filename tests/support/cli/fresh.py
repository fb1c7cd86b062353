"""Repositories as a newcomer has them, and a machine whose programs are known."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import Result

from support.cli.running import MASKS
from support.cli.shop import Shop

PROGRAMS = ("git", "make", "sh", "sleep", "touch", "cat", "env", "echo", "true")


@dataclass(frozen=True, slots=True)
class Fresh:
    """A repository with one commit in which `init` was not called yet."""

    shop: Shop
    bin: Path
    """The only folder on PATH."""

    @property
    def root(self) -> Path:
        """The checkout."""
        return self.shop.root

    def commit(self, **files: str) -> None:
        """Write files, `__` in their names for a dot and a slash for itself, and commit everything."""
        for name, text in files.items():
            self.shop.write(name.replace("__", "."), text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Work")

    def program(self, name: str, script: str = "exit 0") -> None:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o755)

    def init(self, *args: str) -> Result:
        """Call init for a script."""
        return self.shop.call("init", "--yes", *args)

    def config(self) -> str:
        """Give the configuration that was written."""
        return (self.root / ".handrail" / "config.toml").read_text("utf-8")

    def git(self, *words: str) -> str:
        """Call git in the checkout."""
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=True)
        return os.fsdecode(done.stdout).rstrip("\n")

    def traces(self) -> dict[str, list[str]]:
        """Give what a trial could have left behind."""
        data = self.shop.home / "data"
        kept = [path for name in ("worktrees", "indexes", "locks", "trials") for path in (data / name).glob("*")]
        return {
            "refs": [
                ref for ref in self.git("for-each-ref", "--format=%(refname)").split() if ref != "refs/heads/main"
            ],
            "worktrees": self.git("worktree", "list", "--porcelain").split("\n\n")[1:],
            "files": [str(path) for path in kept],
            "config": [line for line in self.git("config", "--local", "--list").split("\n") if "handrail" in line],
        }


GREEN = "test:\n\t@echo 3 passed\nlint:\n\t@true\n"
RED = "test:\n\t@echo 1 failed; exit 1\nlint:\n\t@true\n"
NOTHING: dict[str, list[str]] = {"refs": [], "worktrees": [], "files": [], "config": []}


def said(output: str) -> str:
    """Mask times."""
    for pattern, word in MASKS:
        output = pattern.sub(word, output)
    return re.sub(r"\d+(\.\d)? s\b", "0 s", output)


def make_machine(folder: Path) -> Path:
    """Make a folder of programs: the usual ones, this Python, and no agent."""
    folder.mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 exec {sys.executable} "$@"\n', "utf-8")
    python.chmod(0o755)
    return folder
