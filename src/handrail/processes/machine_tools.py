"""Finds the tools that the machine has."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from handrail.ports.programs import InstalledProgram, ProgramAnswer, ProgramCall

VERSION = re.compile(r"\d+(\.\d+)+")
NEUTRAL_FOLDER = "/"
"""The folder in which tools are run: in a repository, an agent would read its settings."""
TIMEOUT = 10.0
"""Timeout for a tool to print its version, in seconds."""
LONG_TIMEOUT = 8.0
"""Timeout for a tool to answer a question that takes it longer, in seconds."""
MAX_OUTPUT = 64 * 1024 * 1024
"""The most bytes of an answer that are read."""


def find_tools(names: Iterable[str]) -> dict[str, InstalledProgram | None]:
    """Look for tools, all at once; None for a missing one."""
    wanted = tuple(names)
    with ThreadPoolExecutor(max_workers=len(wanted)) as pool:
        return dict(zip(wanted, pool.map(_find, wanted), strict=True))


def _find(name: str) -> InstalledProgram | None:
    path = _path_of(name)
    if path is None:
        return None
    asks = "-V" if name == "tmux" else "--version"
    try:
        ran = subprocess.run(  # noqa: S603 (a tool of the user, by its full path)
            [path, asks],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=NEUTRAL_FOLDER,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return InstalledProgram(None)
    found = VERSION.search(ran.stdout)
    return InstalledProgram(found.group() if found is not None and ran.returncode == 0 else None)


def exit_code_of(command: str, words: Iterable[str], environ: Mapping[str, str] | None = None) -> int | None:
    """Run a tool, in our environment or another; return its exit code, None where it is missing or too slow."""
    ran = _run(command, words, environ)
    return None if ran is None else ran.returncode


def output_of(command: str, words: Iterable[str], environ: Mapping[str, str] | None = None) -> str | None:
    """Run a tool and return what it prints; None where it is missing, too slow or fails."""
    ran = _run(command, words, environ)
    return None if ran is None or ran.returncode else ran.stdout.decode("utf-8", "replace")


def _run(
    command: str, words: Iterable[str], environ: Mapping[str, str] | None
) -> "subprocess.CompletedProcess[bytes] | None":
    path = _path_of(command, None if environ is None else environ.get("PATH"))
    if path is None:
        return None
    try:
        return subprocess.run(  # noqa: S603 (a tool of the user, by its full path)
            [path, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=NEUTRAL_FOLDER,
            env=environ,
            timeout=LONG_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def ask_program(call: ProgramCall) -> ProgramAnswer | None:
    """Call a program of the user in our environment and return its whole answer; None if it is not installed."""
    path = _path_of(call.name)
    if path is None:
        return None
    # Files, and not pipes: what the program starts and leaves behind cannot keep us waiting for their end.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            ran = subprocess.run(  # noqa: S603 (a program of the user, by its full path)
                [path, *call.words],
                input=call.text.encode("utf-8", "replace"),
                stdout=output,
                stderr=errors,
                cwd=call.folder,
                timeout=call.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _no_answer(f"it did not answer within {call.timeout:.0f} seconds")
        except (OSError, ValueError) as error:
            return _no_answer(f"it could not be started: {error}")
        if max(output.tell(), errors.tell()) > MAX_OUTPUT:
            return _no_answer(f"it printed more than {MAX_OUTPUT // 1024**2} MiB")
        return ProgramAnswer(exit_code=ran.returncode, output=_read(output), errors=_read(errors))


def _no_answer(problem: str) -> ProgramAnswer:
    return ProgramAnswer(exit_code=-1, output="", errors="", problem=problem)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT).decode("utf-8", "replace")


def _path_of(name: str, path: str | None = None) -> str | None:
    """Find a tool on the PATH, whose entries may be relative to this folder."""
    path = shutil.which(name, path=path)
    return None if path is None else os.path.abspath(path)  # noqa: PTH100 - links must not be resolved
