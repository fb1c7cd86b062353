"""Runs the commands of a page, in their order, in a repository that holds the files the page shows."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support.docs.pages import ROOT, Block

USER_FILE = "user "
"""Files with this before their path are the user's own, not the repository's."""


@dataclass(frozen=True, slots=True)
class Command:
    """A line after `$`, and the output that the page shows for it."""

    line: str
    expected: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A repository and a user's folder in which a page is tried out."""

    root: Path
    home: Path

    def write(self, block: Block) -> None:
        """Put a file where the page says it is."""
        name = block.notes["file"]
        base = self.home if name.startswith(USER_FILE) else self.root
        path = base / name.removeprefix(USER_FILE)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        if "folder" in block.notes:
            (base / block.notes["folder"]).mkdir(parents=True)

    def run(self, line: str) -> tuple[int, str]:
        """Run a command line as a person would; give its exit code and all that it prints."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        env = {"PATH": path, "HANDRAIL_HOME": str(self.home), "HOME": str(self.home), "NO_COLOR": "1"}
        if not (self.root / ".git" / "HEAD").exists():
            # The pages are read in a repository; most are tried out in a folder that only looks like one.
            line = re.sub(r"\bhandrail run (?=\S)", "handrail run --in . ", line)
        done = subprocess.run(
            ["sh", "-c", f"{line} 2>&1"], cwd=self.root, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, re.sub(r" · works in \S+", "", done.stdout)


def commands(block: Block) -> list[Command]:
    """Split a console block at its prompts."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{block} shows output before the first command"
    pairs = (part.partition("\n") for part in parts[1:])
    return [Command(line.strip(), expected) for line, _, expected in pairs]


def fits(expected: str, printed: str) -> bool:
    """Tell whether output is as shown; `...` stands for anything."""
    wanted = ".*".join(re.escape(part) for part in _trimmed(expected).split("..."))
    return re.fullmatch(wanted, _trimmed(printed), re.DOTALL) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def make_targets() -> set[str]:
    """Give the targets of the Makefile."""
    return set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
