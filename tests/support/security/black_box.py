"""Calls the installed program, as a person would, in a repository that somebody else may have written.

The program under test is a variable: `HANDRAIL_UNDER_TEST=/path/to/handrail pytest tests/security` tries another
installation, such as an older version in which an attack is known to succeed.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = os.environ.get("HANDRAIL_UNDER_TEST") or str(Path(sys.executable).with_name("handrail"))
PATIENCE = 120
"""Seconds after which a call is given up; none should take more than a few."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended."""

    exit_code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything it printed."""
        return self.out + self.err

    @property
    def document(self) -> Any:
        """The JSON document on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class BlackBox:
    """One person with a home, a data folder and a repository with one commit."""

    base: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def repository(self) -> Path:
        """The checkout in which commands are called."""
        return self.base / "repo"

    @property
    def home(self) -> Path:
        """HANDRAIL_HOME."""
        return self.base / "handrail"

    @property
    def loot(self) -> Path:
        """A folder in which an attack leaves its traces; it is empty while nothing got through."""
        return self.base / "loot"

    @property
    def env(self) -> dict[str, str]:
        """The environment of every command: a person's, and nothing of the machine that runs the tests."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.base / "person"), "HANDRAIL_HOME": str(self.home)}
        fixed = {"LOGNAME": "ann", "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", "HANDRAIL_DRIVER_IDLE": "0.2"}
        return {**own, **fixed, **self.environ}

    def call(
        self, *words: str, stdin: str = "", cwd: Path | None = None, through: tuple[str, ...] = (), **environ: str
    ) -> Answer:
        """Call Handrail to its end, by way of another program if one is given; a call that does not end has failed."""
        try:
            done = subprocess.run(
                [*through, PROGRAM, *words],
                cwd=cwd or self.repository,
                env={**self.env, **environ},
                input=stdin.encode(),
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            message = f"`handrail {' '.join(words)}` did not end within {PATIENCE} s; traces: {self.traces()}"
            raise AssertionError(message) from late
        return Answer(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """Call git in the checkout."""
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.repository, env=self.env, capture_output=True, check=True
        )
        return os.fsdecode(done.stdout).rstrip("\n")

    def write(self, path: str, text: str) -> Path:
        """Write a file of the repository."""
        return _write(self.repository / path, text)

    def write_own(self, path: str, text: str) -> Path:
        """Write a file of the person's own configuration, such as `workflows/mine/workflow.yaml`."""
        return _write(self.home / path, text)

    def commit(self, message: str = "Work") -> str:
        """Commit everything in the checkout."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def mark(self, name: str) -> str:
        """Give a shell command that leaves a trace of having run."""
        return f"touch {self.loot / name}"

    def traces(self) -> list[str]:
        """Name what got through."""
        return sorted(path.name for path in self.loot.iterdir())


def make_black_box(base: Path) -> BlackBox:
    """Make a person and a repository with one commit."""
    box = BlackBox(base)
    for folder in (box.repository, box.loot, base / "person"):
        folder.mkdir(parents=True)
    _write(base / "person" / ".gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n")
    box.git("init", "-q", "-b", "main")
    box.write("app.txt", "one\ntwo\n")
    box.commit("Start")
    return box


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
