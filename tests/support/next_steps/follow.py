"""Types a printed next step as a person would, and holds it to what it says."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from support.cli.running import Runs
from support.next_steps.templates import find_printed
from support.security.black_box import BlackBox


@dataclass(frozen=True, slots=True)
class Typed:
    """How a typed line ended."""

    line: str
    code: int
    text: str


Shell: TypeAlias = Callable[[str], Typed]


def follow(
    shell: Shell,
    said: str,
    template: str,
    *,
    shows: str,
    at: int = 0,
    code: int = 0,
    fill: Mapping[str, str] | None = None,
) -> Typed:
    """Type a command of a next step that was printed; it must end so, and show these words.

    `fill` has what only a person knows, such as which workflow; everything else is typed as it was printed. A
    test compares the templates in calls of this function with those of the source, so they are written out in full.
    """
    printed = find_printed(template, said)
    assert printed is not None, f"{template!r} was not printed, but:\n{said}"
    line = printed[at]
    for word, value in (fill or {}).items():
        assert word in line, f"{line!r} leaves no {word} to fill in"
        line = line.replace(word, value)
    done = shell(line)
    assert done.code == code, f"`{line}` ended with {done.code}:\n{done.text}"
    assert shows in done.text, f"`{line}` does not show {shows!r}:\n{done.text}"
    return done


def in_process(runs: Runs, **environ: str) -> Shell:
    """Type commands in the folder of a test, without a process for each."""

    def type_line(line: str) -> Typed:
        name, *words = shlex.split(line)
        assert name == "handrail", line
        done = runs.shop.call(*words, **{"LOGNAME": "ann", "COLUMNS": "110", **environ})
        return Typed(line, done.exit_code, done.output)

    return type_line


def in_box(box: BlackBox, **environ: str) -> Shell:
    """Type commands of the installed program, in the repository of a black box."""

    def type_line(line: str) -> Typed:
        name, *words = shlex.split(line)
        assert name == "handrail", line
        done = BlackBox(box.base, {**box.environ, **environ}).call(*words)
        return Typed(line, done.exit_code, done.text)

    return type_line


def in_a_shell(runs: Runs, **environ: str) -> Shell:
    """Type lines in a real shell, with the program on its PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def type_line(line: str) -> Typed:
        env = {**runs.environ(), "HOME": os.environ["HOME"], "PATH": path, **environ}
        done = subprocess.run(
            ["sh", "-c", line], cwd=runs.shop.root, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        return Typed(line, done.returncode, done.stdout + done.stderr)

    return type_line
