"""A workflow to watch on a terminal, and the ways to start it there."""

from pathlib import Path
from typing import Any

from support.cli.screens import Screen
from support.cli.team import Team

FIX = """\
name: fix
budget: {usd: 6, minutes: 90}
steps:
  - {name: reproduce, prompt: Find the cause now., done_when: [{exists: cause.txt}], retry: 1}
  - name: confirm
    type: approval
    message: 'Cause: session TTL is read in minutes, written in seconds (medium)'
    revise: reproduce
    max: 2
  - name: checks
    type: gate
    checks: {test: 'test -e fixed', lint: 'true'}
    fix: {prompt: Make the checks pass., max: 3}
"""
FOUND = {"files": {"cause.txt": "minutes\n"}, "usage": {"cost": 0.12}}

GATES = ("go", "go-a", "go-b", "go-c")
"""Files that agents wait for."""


def waits_for(gate: Path) -> str:
    """Give a command that goes on when a file is there."""
    return f"until test -e ~/{gate.name}; do sleep 0.02; done"


def fix(team: Team, **more: Any) -> Path:
    """Add the workflow; its agent goes on when the file that is given back is there."""
    gate = team.root.parent / "go"
    slow = {**FOUND, "run": [waits_for(gate)]}
    script = {
        "reproduce": [{"say": "hm", "usage": {"cost": 0.05}}, slow, FOUND],
        "checks/fix": [{"run": "touch fixed"}],
    }
    team.add("fix", FIX, **script, **more)
    return gate


def environ(team: Team) -> dict[str, str]:
    """Give an environment in which the folder of the test is the home folder, so that paths have one length."""
    home = team.root.parent
    (home / ".gitconfig").write_bytes((home / "person" / ".gitconfig").read_bytes())
    return {**team.runs.environ(), "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "TERM": "xterm-256color"}


def watch(team: Team, *args: str, columns: int = 80, rows: int = 24, **more: str) -> Screen:
    """Start a command on a terminal."""
    return Screen(args, cwd=team.root, env={**environ(team), **more}, columns=columns, rows=rows)


def run(team: Team, name: str, *args: str, columns: int = 80, rows: int = 24, **more: str) -> Screen:
    """Run a workflow on a terminal."""
    script = str(team.root.parent / f"{name}.script.yaml")
    words = ("run", name, "--agent", "scripted", "--script", script, *args)
    return watch(team, *words, columns=columns, rows=rows, **more)


def told(team: Team, screen: Screen) -> str:
    """Give what is on the screen, with the folder of the test masked."""
    return screen.shown(TMP=str(team.root.parent))
