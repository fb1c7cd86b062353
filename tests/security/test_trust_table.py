"""What of a repository runs before it is trusted, after that, and once a file has changed since."""

from collections.abc import Callable

import pytest

from support.security.black_box import BlackBox

pytestmark = pytest.mark.system  # takes long

Plant = Callable[[BlackBox, str], str]
"""Writes a repository's files, which leave a mark when they run; gives the name of the workflow to run."""
FLOW = ".handrail/workflows/flow/workflow.yaml"
PYTHON = """\
import pathlib
from handrail import Script, Workflow

pathlib.Path("MARK").touch()


def resolve(context):
    return Workflow(name="flow", steps=[Script(name="s", command="true")])
"""


def _command(box: BlackBox, mark: str) -> str:
    box.write(FLOW, f'name: flow\nsteps: [{{name: s, command: "{box.mark(mark)}"}}]\n')
    return "flow"


def _used(box: BlackBox, mark: str) -> str:
    box.write(FLOW, "name: flow\nsteps: [{name: a, use: helper}]\n")
    box.write(".handrail/workflows/helper.yaml", f'name: helper\nsteps: [{{name: s, command: "{box.mark(mark)}"}}]\n')
    return "flow"


def _called(box: BlackBox, mark: str) -> str:
    _used(box, mark)
    box.write(FLOW, "name: flow\nsteps: [{name: a, workflow: helper}]\n")
    return "flow"


def _named(box: BlackBox, mark: str) -> str:
    _used(box, mark)
    box.write_own("workflows/mine.yaml", "name: mine\nsteps: [{name: a, use: 'repository:helper'}]\n")
    return "mine"


def _python(box: BlackBox, mark: str) -> str:
    box.write(".handrail/workflows/flow/workflow.py", PYTHON.replace("MARK", str(box.loot / mark)))
    return "flow"


def _check(box: BlackBox, mark: str) -> str:
    box.write_own("workflows/mine.yaml", "name: mine\nsteps: [{name: g, type: gate, checks: project}]\n")
    box.write(".handrail/config.toml", f'[checks]\nall = "{box.mark(mark)}"\n')
    return "mine"


def _setup(box: BlackBox, mark: str) -> str:
    box.write_own("workflows/mine.yaml", 'name: mine\nsteps: [{name: s, command: "true"}]\n')
    box.write(".handrail/config.toml", f'[worktrees]\nsetup = ["{box.mark(mark)}"]\n')
    return "mine"


@pytest.mark.parametrize("plant", [_command, _used, _called, _named, _python, _check, _setup])
def test_a_repository_runs_what_was_trusted_and_nothing_else(box: BlackBox, plant: Plant) -> None:
    name = plant(box, "trusted")
    box.commit()
    box.call("run", name)
    assert box.traces() == [], "before trust"
    assert box.call("trust", ".", "--yes").exit_code == 0
    answer = box.call("run", name)
    assert (answer.exit_code, box.traces()) == (0, ["trusted"]), answer.text
    plant(box, "changed")
    box.commit()
    box.call("run", name)
    assert box.traces() == ["trusted"], "once a file has changed"
