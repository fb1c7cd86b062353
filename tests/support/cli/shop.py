"""A repository to call the command line in."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from handrail.cli.main import cli
from handrail.sources.folders import repository_root

GOOD = """\
name: NAME
description: Ask an agent, then check.
input:
  task: string
  base: string = main
steps:
  - name: work
    prompt: Do {{ task }}.
    output: done
  - name: tests
    command: make test
"""
BROKEN = "name: NAME\nsteps:\n  - name: work\n    prompt: Do it now.\n    acess: read\n"


@dataclass(frozen=True, slots=True)
class Shop:
    """A repository, a user's folder, and calls of the command line from inside them."""

    root: Path
    home: Path

    def write(self, path: str, text: str) -> Path:
        """Write a file of the repository."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="")
        return file

    def workflow(self, name: str, text: str = GOOD) -> Path:
        """Write a workflow of the repository tier."""
        return self.write(f".handrail/workflows/{name}/workflow.yaml", text.replace("NAME", name))

    def user_workflow(self, name: str, text: str = GOOD) -> Path:
        """Write a workflow of the user tier."""
        file = self.home / "workflows" / name / "workflow.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(text.replace("NAME", name), "utf-8")
        return file

    def leave_repository(self) -> None:
        """Let the folder be in no repository; a sandbox of an agent may have left the mark of one above it."""
        (self.root / ".git").rmdir()
        above = repository_root(self.root)
        if above is not None:
            pytest.skip(f"{above} above the temporary folder looks like a repository")

    def call(self, *args: str, **environ: str) -> Result:
        """Call a command."""
        env = {"HANDRAIL_HOME": str(self.home), "HANDRAIL_DEV": None, "WORKRAIL_DEV": None, "NO_COLOR": None, **environ}
        return CliRunner().invoke(cli, self.in_place(args), env=env)

    def in_place(self, args: Sequence[str]) -> tuple[str, ...]:
        """Let runs work on a folder that only looks like a repository as it is: most tests need no more."""
        mark = self.root / ".git"
        plain = mark.is_dir() and not (mark / "HEAD").exists()
        return (*args, "--in", ".") if plain and len(args) > 1 and args[0] == "run" and "--in" not in args else (*args,)

    def json(self, *args: str, code: int = 0, **environ: str) -> Any:
        """Call a command with --json and read its one document."""
        result = self.call(*args, "--json", **environ)
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)
