"""A real git repository in which workflows run with the scripted agent."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.cli.running import Runs

HASHES = (
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "HASH"),
    (re.compile(r"scripted-[0-9a-f]{16}"), "SESSION"),
    (re.compile(r"\S+/worktrees/repo-[0-9a-f]{8}/"), "WORKTREES/"),
    (re.compile(r"\([\d,]+ (?:kB|MB)\)"), "(0 kB)"),
    (re.compile(r"\b(\d+m\d\d|\d+\.\d|\d+)s\b"), "0.0s"),
)


def squeezed(text: str) -> list[str]:
    """Give the lines of a table without the spaces that bring its columns in line."""
    return [" ".join(line.split()) for line in text.splitlines()]


@dataclass(frozen=True, slots=True)
class Team:
    """Runs in a repository with a history, and the words to ask git about it."""

    runs: Runs
    root: Path

    def add(self, name: str, text: str, **script: Any) -> None:
        """Write a workflow and the script of its agent, commit both, and trust the workflow."""
        self.runs.add(name, text)
        self.script(name, script)
        self.git("add", "-A")
        self.git("commit", "-qm", f"Add {name}")

    def script(self, name: str, turns: dict[str, Any]) -> None:
        """Write what the scripted agent plays in runs of a workflow."""
        path = self.root.parent / f"{name}.script.yaml"
        path.write_text(json.dumps(turns or {"default": {"say": "done"}}), "utf-8")

    def run(self, name: str, *args: str, code: int = 0) -> str:
        """Run a workflow to where it ends or needs somebody."""
        script = str(self.root.parent / f"{name}.script.yaml")
        return self.text("run", name, "--agent", "scripted", "--script", script, *args, code=code)

    def text(self, *args: str, code: int = 0) -> str:
        """Call a command and give what it says, with everything masked that differs from run to run."""
        said = self.runs.text(*args, code=code)
        for pattern, word in HASHES:
            said = pattern.sub(word, said)
        return said

    def json(self, *args: str, code: int = 0) -> Any:
        """Call a command with --json and read its one document."""
        return self.runs.json(*args, code=code)

    def git(self, *words: str) -> str:
        """Call git in the checkout."""
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=False)
        assert not done.returncode, f"git {words}: {done.stderr.decode(errors='replace')}"
        return os.fsdecode(done.stdout).rstrip("\n")

    def write(self, path: str, text: str) -> None:
        """Write a file of the checkout."""
        (self.root / path).write_text(text, "utf-8")

    def read(self, path: str) -> str:
        """Read a file of the checkout."""
        return (self.root / path).read_text("utf-8")
