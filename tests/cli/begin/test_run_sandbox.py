"""Runs that ask for a sandbox: refused before they start where none can be made, tested and described without one."""

import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.team import Team

STEP = "name: NAME\nsteps:\n  - {name: work, prompt: Do the work now please., MORE}\n"
BWRAP = STEP.replace("MORE", "tmux: true, sandbox: bwrap")
TEST = "name: it works\nturns: {work: {say: done}}\nexpect: {path: [work]}\n"


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with git and a shell, and neither tmux nor bubblewrap."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    return programs


def forbids(programs: Path) -> None:
    """Put a bubblewrap there that the machine forbids to make namespaces."""
    program = programs / "bwrap"
    said = "bwrap: No permissions to create new namespace"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.9.0 && exit\necho "{said}" >&2\nexit 1\n')
    program.chmod(0o755)


def test_a_step_that_asks_for_it_is_refused_with_the_reason_and_what_helps(team: Team, bare: Path) -> None:
    team.add("build-it", STEP.replace("MORE", "sandbox: bwrap"))
    assert team.run("build-it", code=1) == snapshot("""\
error: step 'work' asks for `sandbox: bwrap`: bubblewrap is not installed: there is no `bwrap` on the PATH
next: install it (Linux: apt install bubblewrap, dnf install bubblewrap), or write `sandbox: none`
""")
    forbids(bare)
    assert team.run("build-it", code=1) == snapshot("""\
error: step 'work' asks for `sandbox: bwrap`: bubblewrap does not work here: No permissions to create new namespace
next: allow user namespaces on this machine (`bwrap --ro-bind / / true` must work), or write `sandbox: none`
""")
    assert team.text("status") == "no runs yet; handrail run WORKFLOW starts one\n"


def test_a_configuration_that_asks_for_it_counts_for_steps_that_say_nothing(team: Team, bare: Path) -> None:
    team.add("build-it", STEP.replace(", MORE", ""))
    config = team.runs.shop.write(".handrail/config.toml", '[agent]\nsandbox = {kind = "bwrap", network = false}\n')
    said = team.run("build-it", "--in", ".", code=3)
    assert "the sandbox of [agent] in .handrail/config.toml needs your trust" in said
    assert team.runs.call("trust", str(config), "--yes").exit_code == 0
    assert "step 'work' asks for `sandbox: bwrap`: bubblewrap is not installed" in team.run("build-it", code=1)
    team.add("free", STEP.replace("MORE", "sandbox: none"))
    assert "free-1 succeeded" in team.run("free")
    assert bare.is_dir()


def test_the_doctor_tells_that_it_is_there_and_forbidden(team: Team, bare: Path) -> None:
    forbids(bare)
    lines = team.text("doctor").splitlines()
    assert any("bwrap 0.9.0 ✗" in line for line in lines)
    assert "bwrap: bubblewrap does not work here: No permissions to create new namespace" in lines


def test_a_workflow_is_tested_where_there_is_neither_tmux_nor_a_sandbox(team: Team, bare: Path) -> None:
    team.add("build-it", BWRAP)
    team.runs.shop.write(".handrail/workflows/build-it/tests/first.yaml", TEST)
    assert "1 passed" in team.text("test", "build-it")
    assert bare.is_dir()
