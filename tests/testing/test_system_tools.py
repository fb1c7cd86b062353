"""Tests that need tools of the machine: skipped where one is missing, failed where it should have been installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import system_tools
from support.places import TESTS

INNER = """
pytest_plugins = ["support.system_tools", "support.durations"]
"""
TEST = """
import pytest

@pytest.mark.system("zsh")
def test_with_zsh(): raise AssertionError("it ran")

@pytest.mark.system
def test_without_tools(): pass
"""


def run(folder: Path, text: str = TEST, name: str = "test_inner.py", **environ: str) -> str:
    """Run tests where there is no program at all; give what is printed."""
    (folder / "conftest.py").write_text(INNER)
    (folder / name).write_text(text)
    words = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", name]
    env = {"PATH": str(folder), "PYTHONPATH": str(TESTS), "TMPDIR": os.environ["TMPDIR"], **environ}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_tool_that_is_missing_skips_the_test(tmp_path: Path) -> None:
    said = run(tmp_path)
    assert "1 passed, 1 skipped" in said
    assert "zsh is not installed" in said


def test_what_the_machine_cannot_have_is_skipped_in_the_system_tests_and_printed_at_the_end(tmp_path: Path) -> None:
    said = run(tmp_path, HANDRAIL_SYSTEM="1")
    assert "1 passed, 1 skipped" in said
    told = said.partition("what this machine could not have")[2]
    assert "zsh is not installed, and only root can install the package zsh, with apt-get: 1 tests" in told


def test_what_could_have_been_installed_fails_the_system_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "apt-get").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(system_tools, "SYSTEM", True)
    system_tools.missing.cache_clear()
    with pytest.raises(pytest.fail.Exception, match="zsh is not installed: `make test-system` needs it"):
        system_tools.require("zsh")
    system_tools.missing.cache_clear()


def test_a_test_of_a_real_agent_must_be_one_of_the_system_tests(tmp_path: Path) -> None:
    said = run(tmp_path, TEST.replace('@pytest.mark.system("zsh")', ""), "test_agent_real.py")
    assert "test_agent_real.py::test_with_zsh needs @pytest.mark.system" in said
