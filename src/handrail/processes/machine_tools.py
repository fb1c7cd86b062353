"""Finds the tools that the machine has."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from handrail.ports.programs import InstalledProgram

VERSION = re.compile(r"\d+(\.\d+)+")
NEUTRAL_FOLDER = "/"
"""The folder in which tools are run: in a repository, an agent would read its settings."""
TIMEOUT = 10.0
"""Timeout for a tool to print its version, in seconds."""
LONG_TIMEOUT = 8.0
"""Timeout for a tool to answer a question that takes it longer, in seconds."""


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


def _path_of(name: str, path: str | None = None) -> str | None:
    """Find a tool on the PATH, whose entries may be relative to this folder."""
    path = shutil.which(name, path=path)
    return None if path is None else os.path.abspath(path)  # noqa: PTH100 - links must not be resolved
