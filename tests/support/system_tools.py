"""What some tests need beside Python, git and make: programs, real agents, a disk that may be mounted.

1. Such a test is marked `@pytest.mark.system("tmux")`, with the names of the tools of `TOOLS` that it needs. A test
   that needs none of them but a lot of time is marked `@pytest.mark.system`.
2. `make test` leaves these tests out. `make test-system` installs the tools and runs them with HANDRAIL_SYSTEM=1: a
   tool that is missing is a failure then. Only what the machine cannot have is skipped, and printed at the end.
"""

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from handrail.testing.small_disks import mounted
from handrail.workspace.sandbox import unusable
from support.agents import real_agents

SYSTEM = bool(os.environ.get("HANDRAIL_SYSTEM"))
NPM = "HANDRAIL_TEST_NPM"
"""The variable with the folder `node_modules/.bin` in which the agents of npm are."""
_MOUNT = 'mount -t tmpfs tmpfs "$0"'


def _program(name: str) -> str:
    return "" if shutil.which(name) else f"{name} is not installed"


def _sandbox() -> str:
    return _program("bwrap") or unusable()


def _disk() -> str:
    with tempfile.TemporaryDirectory() as folder, mounted(Path(folder), 1) as able:
        return "" if able else "no disk may be mounted here"


def _own_disk() -> str:
    with tempfile.TemporaryDirectory() as folder:
        words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, folder]
        found = shutil.which("unshare") and subprocess.run(words, capture_output=True, check=False).returncode == 0
    return "" if found else "no disk may be mounted in a name space here"


def _root() -> str:
    return "" if os.geteuid() == 0 else "the tests do not run as root"


def _agent(name: str) -> str:
    return "" if real_agents.program(name) else f"{name} is not among the installed requirements"


def _npm_agent(name: str) -> str:
    folder = os.environ.get(NPM)
    return "" if folder and (Path(folder) / name).exists() else f"{NPM} does not point to a folder with {name}"


TOOLS: dict[str, Callable[[], str]] = {
    "bwrap": _sandbox,
    "tmux": lambda: _program("tmux"),
    "zsh": lambda: _program("zsh"),
    "fish": lambda: _program("fish"),
    "faketime": lambda: _program("faketime"),
    "git-lfs": lambda: _program("git-lfs"),
    "go": lambda: _program("go"),
    "node": lambda: _program("node"),
    "cargo": lambda: _program("cargo"),
    "disk": _disk,
    "disk of a name space": _own_disk,
    "root": _root,
    "claude": lambda: _agent("claude"),
    "codex": lambda: _agent("codex"),
    "gemini": lambda: _npm_agent("gemini"),
    "opencode": lambda: _npm_agent("opencode"),
    "conformance": lambda: _npm_agent("conformance"),
}
"""How to find out why a tool cannot be used; an empty text where it can."""
_INSTALLED = {
    "bwrap": "bubblewrap",
    **{name: name for name in ("tmux", "zsh", "fish", "faketime", "git-lfs", "cargo")},
    "go": "golang-go",
    "node": "nodejs",
}
"""The packages of the programs that are installed where the tests run as root."""
_GRANTED = {"bwrap", "disk", "disk of a name space", "root"}
"""What a machine may forbid."""


@cache
def missing(tool: str) -> str:
    """Say why a tool cannot be used; nothing where it can."""
    return TOOLS[tool]()


def unavailable(tool: str) -> str:
    """Say why the machine cannot have a tool that is missing; nothing where it could."""
    package = _INSTALLED.get(tool)
    if package is not None and _program(tool):
        able = os.geteuid() == 0 and shutil.which("apt-get")
        return "" if able else f"{missing(tool)}, and only root can install the package {package}, with apt-get"
    return missing(tool) if tool in _GRANTED else ""


def require(tool: str) -> None:
    """Skip the test where a tool is missing; let it fail where the tool should have been installed."""
    reason = missing(tool)
    if not reason:
        return
    if SYSTEM and not unavailable(tool):
        pytest.fail(f"{reason}: `make test-system` needs it", pytrace=False)
    pytest.skip((unavailable(tool) if SYSTEM else "") or reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test of a real agent that `make test` would run."""
    for item in items:
        if item.path.stem.endswith("_real") and item.get_closest_marker("system") is None:
            raise pytest.UsageError(f"{item.nodeid} needs @pytest.mark.system")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the tools of a test before its fixtures are made."""
    for marker in item.iter_markers("system"):
        for tool in marker.args:
            require(tool)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the machine could not have, with the number of tests that did not run for it."""
    if not SYSTEM:
        return
    reports: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple))
    terminalreporter.section("what this machine could not have")
    for reason, count in sorted(reasons.items()) or [("everything was there", 0)]:
        terminalreporter.line(f"{reason.removeprefix('Skipped: ')}{f': {count} tests' if count else ''}")
