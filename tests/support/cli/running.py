"""Runs in a repository: workflows that are trusted, calls that are masked, processes of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import Result

from handrail.operations.driving.background_driver import find_background_driver
from handrail.sources.folders import user_folders
from support.cli.shop import Shop

HANDRAIL = str(Path(sys.executable).parent / "handrail")
USER = "ann"
ASKING = """\
name: NAME
steps:
  - {name: draft, command: 'echo draft', output: text}
  - {name: ok, type: approval, message: 'Is "${text}" good?', revise: draft, max: 1}
  - {name: ship, command: 'echo shipped'}
"""
SLOW = """\
name: NAME
steps:
  - {name: first, command: 'echo first >> trace'}
  - {name: wait, command: 'echo wait >> trace; test -e go || exec sleep 300'}
  - {name: last, command: 'echo last >> trace'}
"""
WIDTH = "110"
MASKS = (
    (re.compile(r" · works in \S+"), ""),
    (re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z| \d\d:\d\d:\d\d)"), "TIME"),
    (re.compile(r"(?<= )(\d+h\d\dm|\d+m\d\ds|\d+(\.\d)?s)\b"), "0.0s"),
    (re.compile(r"pinned [0-9a-f]{4}"), "pinned 0000"),
    (re.compile(r"\bct_[\w-]+"), "TOKEN"),
    (re.compile(r"(?<=connected agent )[0-9a-f]{8}"), "NAME"),
    (re.compile(r"process \d+( on \S+(?=\)))?"), "process PID"),
)


@dataclass(frozen=True, slots=True)
class Runs:
    """A shop whose workflows run."""

    shop: Shop

    def add(self, name: str, text: str) -> None:
        """Write a workflow and trust it."""
        self.shop.workflow(name, text)
        done = self.shop.call("trust", name, "--yes")
        assert done.exit_code == 0, done.output

    def call(self, *args: str, **environ: str) -> Result:
        """Call a command."""
        return self.shop.call(*args, **{"LOGNAME": USER, "COLUMNS": WIDTH, **environ})

    def json(self, *args: str, code: int = 0) -> Any:
        """Call a command with --json and read its one document."""
        result = self.call(*args, "--json")
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    def text(self, *args: str, code: int = 0, **environ: str) -> str:
        """Call a command and give what it says, times, versions and processes masked."""
        result = self.call(*args, **environ)
        assert result.exit_code == code, result.output
        return self.masked(result.output)

    def diagnosis(self, *args: str, code: int = 0) -> list[str]:
        """Call the doctor and give what it says after the tools, which differ from machine to machine."""
        lines = self.text("doctor", *args, code=code).splitlines()
        return lines[next(at for at, line in enumerate(lines) if line.startswith("log ")) :]

    def masked(self, text: str) -> str:
        """Mask what differs from run to run."""
        for pattern, word in MASKS:
            text = pattern.sub(word, text)
        return text.replace(str(self.shop.root), "SHOP").replace(str(self.shop.home), "HOME")

    def environ(self) -> dict[str, str]:
        """Give the environment of a process of its own."""
        return {"PATH": os.environ["PATH"], "HANDRAIL_HOME": str(self.shop.home), "LOGNAME": USER, "TERM": "xterm"}

    def process(self, *args: str) -> "subprocess.Popen[str]":
        """Start the command as a process of its own, without a terminal."""
        return subprocess.Popen(
            [HANDRAIL, *self.shop.in_place(args)],
            cwd=self.shop.root,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def completed(self, typed: str) -> str:
        """Give what the shell would offer after what was typed."""
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_HANDRAIL_COMPLETE": "bash_complete"}
        ran = subprocess.run(
            [HANDRAIL], cwd=self.shop.root, env={**self.environ(), **words}, capture_output=True, text=True, check=False
        )
        return ran.stdout

    def end_driver(self) -> None:
        """End the background driver of this home, if there is one."""
        running = find_background_driver(user_folders(self.environ()))
        if running is not None:
            os.kill(running.pid, signal.SIGTERM)
            until(lambda: find_background_driver(user_folders(self.environ())) is None)

    def trace(self) -> list[str]:
        """Give what the steps wrote into the file `trace`."""
        file = self.shop.root / "trace"
        return file.read_text().split() if file.exists() else []


def until(holds: Callable[[], bool], patience: float = 60.0) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < ends, "it never came to hold"
        time.sleep(0.02)
