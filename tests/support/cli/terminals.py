"""A command in a terminal of its own: what it shows, and with which code it ends."""

import os
import pty
import select
import subprocess
from dataclasses import dataclass

from support.cli.running import HANDRAIL, Runs

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command showed, and its exit code."""

    code: int
    text: str


def shown_on_terminal(runs: Runs, *args: str, typed: bytes = b"", **environ: str) -> Shown:
    """Call a command in a terminal of 80 columns, where something was typed already."""
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    env = {**runs.environ(), "COLUMNS": "80", "LINES": "24", **environ}
    process = subprocess.Popen(
        [HANDRAIL, *runs.shop.in_place(args)], cwd=runs.shop.root, stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    text = _read_all(ours)
    os.close(ours)
    return Shown(process.wait(PATIENCE), text)


def _read_all(file: int) -> str:
    read = b""
    while select.select([file], [], [], PATIENCE)[0]:
        try:
            more = os.read(file, 65536)
        except OSError:
            # The other side is closed.
            break
        if not more:
            break
        read += more
    return read.decode().replace("\r\n", "\n")
