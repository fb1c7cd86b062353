"""Whose word a command is, where it takes a sandbox, a tmux server or the shells of real agents to find out."""

import shlex
import subprocess
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handrail.testing.models.scripts import Say, Shell
from support.agents.opened_rooms import Open, opened, real_agents
from support.security.black_box import PROGRAM, BlackBox, make_black_box
from support.security.shell_agent import ShellAgent, make_shell_agent

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system


@pytest.fixture
def agent(box: BlackBox) -> ShellAgent:
    return make_shell_agent(box)


PRETENDS = """\
cat > HERE/pretend.py <<'END'
import os, sqlite3, subprocess, sys
env = {"PATH": os.environ["PATH"], "HANDRAIL_HOME": "DATA", "HOME": os.environ["HOME"], "LOGNAME": "ann"}
print(subprocess.run(["PROGRAM", "approve", "deploy-1"], env=env).returncode)
try:
    with sqlite3.connect("DATA/data/handrail.db") as log:
        log.execute("DELETE FROM events")
    print("wrote")
except sqlite3.Error as error:
    print(error)
END
env -i PATH="$PATH" HOME="$HOME" setsid PYTHON HERE/pretend.py > HERE/pretended 2>&1
"""


@pytest.fixture
def seen_in_sandboxes() -> Generator[ShellAgent]:
    """A box in a folder that a sandbox shows, read-only; it has a temporary folder of its own."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield make_shell_agent(make_black_box(Path(folder)))


@pytest.mark.system("bwrap")
def test_in_a_sandbox_nobody_can_pretend_to_be_the_person(seen_in_sandboxes: ShellAgent) -> None:
    agent = seen_in_sandboxes
    python = str(PROGRAM).replace("handrail", "python")
    script = PRETENDS.replace("PYTHON", shlex.quote(python)).replace("PROGRAM", PROGRAM)
    ended = agent.act(script.replace("HERE", "$PWD").replace("DATA", str(agent.box.home)), more="sandbox: bwrap")
    assert ended.exit_code == 0, ended.text
    (tree,) = (agent.box.home / "data" / "worktrees").glob("*/work-1")
    said = (tree / "pretended").read_text()
    assert "attempt to write a readonly database" in said
    assert "wrote" not in said
    assert "0" not in said.splitlines()
    assert agent.still_waits()


@pytest.mark.system("tmux")
def test_a_tmux_server_that_an_agent_started_is_below_its_step(agent: ShellAgent) -> None:
    call = shlex.quote(f"env -i PATH=$PATH {agent.program} approve deploy-1; tmux wait-for -S done")
    tmux = f"tmux -L h{agent.box.base.name[-8:]}"
    agent.act(f"{tmux} -f /dev/null new-session -d {call.replace('tmux ', tmux + ' ')} && {tmux} wait-for done\n")
    assert agent.still_waits()
    assert "tried `handrail approve deploy-1`" in agent.box.call("why", "work-1").out


@pytest.mark.system("claude", "codex")
@pytest.mark.parametrize("how", ["agent: claude, access: full", "agent: codex, access: full"])
def test_a_real_agent_inside_a_step_is_no_person(agent: ShellAgent, opened: Open, how: str) -> None:
    """Its step belongs to another data folder, so that it is known by the variables that its shell sets alone."""
    room = opened(a=[Shell(f"{agent.program} approve deploy-1 > said 2>&1; true"), Say("done")])
    state = room.run(f"{{name: one, {how}, prompt: 'Go. [[s:a]]'}}")
    assert state.status == "succeeded"
    assert "is reserved for people" in (room.tree(state.run) / "said").read_text()
    assert agent.still_waits()
    name = how.partition(",")[0].removeprefix("agent: ")
    assert f"connected agent {name} tried `handrail approve deploy-1`" in agent.box.call("why", "deploy-1").out


def test_a_program_that_left_no_trace_passes_for_the_person(agent: ShellAgent) -> None:
    """What cannot be prevented outside a sandbox is stated, and this is how it looks: as from any other terminal."""
    clean = {name: agent.box.env[name] for name in ("PATH", "HOME", "HANDRAIL_HOME", "LOGNAME")}
    called = subprocess.run([PROGRAM, "approve", "deploy-1"], env=clean, cwd=agent.box.repository, check=False)
    assert called.returncode == 0
    assert agent.box.traces() == ["shipped"]
