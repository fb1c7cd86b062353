"""A small disk for the tests of full and read-only disks, mounted without being root where that is allowed."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.cli.running import HANDRAIL, Runs

MOUNT = 'mount -t tmpfs -o size=3m,mode=0700 tmpfs "$0" && echo mounted && exec cat'
FILL = """
import os, sys
path, left = sys.argv[1], int(sys.argv[2])
found = os.statvfs(os.path.dirname(path))
with open(path, "wb") as file:
    file.write(bytes(max(found.f_bavail * found.f_bsize - left, 0)))
"""
WITHOUT_POWERS = """
import ctypes, os, sys
if os.geteuid() == 0:
    # Without these two even root may only do what a folder's mode allows.
    for power in (1, 2):
        assert ctypes.CDLL(None).prctl(24, power, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
FILE_LIMIT = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on its output."""
        return json.loads(self.out)


def run_process(runs: Runs, *args: str, through: tuple[str, ...] = ()) -> Ran:
    """Run the command as a process of its own, through another program if given."""
    ran = subprocess.run(
        [*through, HANDRAIL, *runs.shop.in_place(args)],
        cwd=runs.shop.root,
        env=runs.environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Ran(ran.returncode, runs.masked(ran.stdout), runs.masked(ran.stderr))


def without_powers(runs: Runs, *args: str) -> Ran:
    """Run the command as a user whom the modes of files and folders hold, whoever runs the tests."""
    return run_process(runs, *args, through=(sys.executable, "-c", WITHOUT_POWERS))


def with_file_limit(runs: Runs, limit: int, *args: str) -> Ran:
    """Run the command where no file may grow beyond a size."""
    return run_process(runs, *args, through=(sys.executable, "-c", FILE_LIMIT, str(limit)))


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """Three megabytes that hold everything of Handrail, seen only by what is called through here."""

    runs: Runs
    through: tuple[str, ...]

    def call(self, *args: str) -> Ran:
        """Run the command."""
        return run_process(self.runs, *args, through=self.through)

    def fill(self, left: int = 0) -> None:
        """Leave so many bytes free."""
        self._do(sys.executable, "-c", FILL, str(self.runs.shop.home / "ballast"), str(left))

    def free(self) -> None:
        """Make room again."""
        self._do("rm", str(self.runs.shop.home / "ballast"))

    def mode(self, mode: str) -> None:
        """Make it read-only (`ro`) or writable (`rw`)."""
        self._do("mount", "-o", f"remount,{mode}", str(self.runs.shop.home))

    def _do(self, *words: str) -> None:
        subprocess.run([*self.through, *words], check=True, capture_output=True)


@contextmanager
def small_disk(runs: Runs) -> Generator[SmallDisk | None]:
    """Mount the disk in a name space that ends with the process which holds it; None where that is not allowed."""
    Path(runs.shop.home).mkdir(exist_ok=True)
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, str(runs.shop.home)]
    try:
        holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        yield None
        return
    with holder:
        assert holder.stdout is not None
        mounted = holder.stdout.readline() == b"mounted\n"
        enter = ("nsenter", "--preserve-credentials", "--user", "--mount", "--target", str(holder.pid))
        # Whoever enters is in the root folder at first.
        here = ("sh", "-c", 'cd "$0" && exec "$@"', str(runs.shop.root))
        try:
            yield SmallDisk(runs, (*enter, *here)) if mounted else None
        finally:
            holder.kill()
