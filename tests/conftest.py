"""How often laws are tried, and where tests write.

1. A spread of every law in every test run, many times more with HANDRAIL_SOAK=1.
2. Thousands of small logs that are synced to a disk wait for it half of the time: they are written to memory where the
   machine has a folder for that with room enough. Whoever sets TMPDIR says otherwise.
"""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from handrail.agents.profiles import ANY_AGENT, load_profiles
from handrail.trackers.github.api.variables import NAMES as GITHUB

pytest_plugins = ["support.system_tools", "support.durations"]

MEMORY = Path("/dev/shm")
ROOM = 2 << 30
"""Bytes; a whole run writes a tenth of it at one time."""

# How long an example takes on a busy machine says nothing about the law it tries.
_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", _UNHURRIED, max_examples=25)
settings.register_profile("soak", _UNHURRIED, max_examples=400)
settings.load_profile("soak" if os.environ.get("HANDRAIL_SOAK") else "usual")


def pytest_configure(config: pytest.Config) -> None:
    """Write to memory, and leave nothing of it behind; forget an agent, `nohup` or a token that started the tests."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for mark in {ANY_AGENT, *GITHUB, *(mark for each in load_profiles() for mark in each.shell_marks)}:
        os.environ.pop(mark, None)
    if "TMPDIR" not in os.environ and _is_roomy(MEMORY):
        folder = tempfile.mkdtemp(prefix="h-", dir=MEMORY)
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["TMPDIR"] = tempfile.tempdir = folder


def _is_roomy(folder: Path) -> bool:
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(folder)
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize > ROOM
