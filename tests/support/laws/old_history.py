"""A home with runs of an older Handrail, unpacked where it was made: its events hold that path, and hashes of it."""

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.places import SUPPORT

ARCHIVE = SUPPORT / "laws" / "history" / "28cdf23.tar.xz"
ROOT = Path("/tmp/handrail-history")
"""The place of the user's repository `shop`, and of Handrail's data."""
LOCK = Path("/tmp/handrail-history.lock")
HANDRAIL = str(Path(sys.executable).parent / "handrail")


@dataclass(frozen=True, slots=True)
class OldHistory:
    """Calls of the command line as the user whose runs these are."""

    root: Path = ROOT

    @property
    def environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        home, data = str(self.root / "home"), str(self.root / "handrail")
        return {"PATH": path, "HOME": home, "HANDRAIL_HOME": data, "LOGNAME": "ada", "COLUMNS": "110"}

    def call(self, *words: str, code: int = 0) -> str:
        cwd = self.root / "shop"
        done = subprocess.run(
            [HANDRAIL, *words], cwd=cwd, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout


@contextmanager
def old_history() -> Generator[OldHistory]:
    """Unpack the history, for one test at a time on this machine, and remove it afterwards."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(ROOT, ignore_errors=True)
        ROOT.mkdir(mode=0o700)
        try:
            with tarfile.open(ARCHIVE) as archive:
                archive.extractall(ROOT)
            yield OldHistory()
        finally:
            shutil.rmtree(ROOT, ignore_errors=True)
