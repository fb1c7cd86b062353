"""The cassette agent's process: changes the worktree as the recorded call did, prints its lines, ends as it did."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn, TypedDict

TIMEOUT = 120.0
CANNOT_REPLAY = 3


class Task(TypedDict):
    """What to play."""

    head: dict[str, object]
    lines: list[str]
    patch: str
    exit_code: int | None
    signal: int | None


def main() -> NoReturn:
    """Play the task in the folder that the first argument names, in the workspace that the second names."""
    task: Task = json.loads((Path(sys.argv[1]) / "task.json").read_bytes())
    if task["patch"]:
        _change(task["patch"], sys.argv[2])
    out = sys.stdout.buffer
    out.write(json.dumps(task["head"]).encode() + b"\n")
    for line in task["lines"]:
        out.write(line.encode("utf-8", "surrogateescape") + b"\n")
    out.flush()
    if task["signal"] is not None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), task["signal"])
    sys.exit(task["exit_code"] or 0)


def _change(patch: str, workspace: str) -> None:
    """Apply a patch; one that was applied before a crash is left as it is."""
    top = _git(["rev-parse", "--show-toplevel"], workspace)
    root = top.stdout.decode(errors="surrogateescape").strip() if not top.returncode else workspace
    told = patch.encode("utf-8", "surrogateescape")
    done = _git(["apply", "--whitespace=nowarn", "-"], root, told)
    if done.returncode and _git(["apply", "--reverse", "--check", "--whitespace=nowarn", "-"], root, told).returncode:
        sys.stderr.buffer.write(b"the recorded changes do not fit the files as they stand:\n" + done.stderr)
        sys.exit(CANNOT_REPLAY)


def _git(words: list[str], folder: str, told: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    command = ["git", *words]
    return subprocess.run(command, cwd=folder, input=told, capture_output=True, timeout=TIMEOUT, check=False)  # noqa: S603


if __name__ == "__main__":
    main()
