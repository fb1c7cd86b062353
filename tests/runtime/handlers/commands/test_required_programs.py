"""Which missing programs stop a run before its first agent, and which may still come to be there."""

from pathlib import Path

import pytest

from handrail.errors import ProcessFault
from handrail.model.history.run_state import Frame, RunState
from handrail.model.workflow.plan import Plan
from handrail.runtime.handlers.commands.required_programs import first_program, require_programs
from support.compiler.native_plans import plan_of

NEEDED = {
    "lint-it app.txt": "lint-it",
    "CI=1 LANG=C lint-it": "lint-it",
    "lint-it && other": "lint-it",
    "  lint-it \\\n  --all\n": "lint-it",
    "g++ x.cc > out": "g++",
}
NOT_CERTAIN = (
    "./lint-it",
    "bin/lint-it x",
    "$LINT x",
    '"lint it" x',
    "lint-it || true",
    "lint-it | tail -1",
    "lint-it; true",
    "lint-it\nother",
    "lint-it &",
    "lint-it() { :; }",
    "lint-it () { :; }",
    "if lint-it; then exit 1; fi",
    "for x in a b; do lint-it; done",
    "! lint-it",
    "( lint-it )",
    "{ lint-it; }",
    "[ -e x ]",
    "[[ -e x ]]",
    "test -e x",
    "cd web && lint-it",
    "command -v lint-it",
    "PATH=$PWD/bin:$PATH lint-it",
    "PATH=/opt/x lint-it",
    "A=$(b) lint-it",
    "X=1",
    ". ./env && lint-it",
    "# a remark\nlint-it",
    "",
)
WORK = "  - {name: work, prompt: Do the work.}\n"
LAST = "  - {name: last, command: lint-it}\n"
STOPS = (
    WORK + LAST,
    "  - {name: work, prompt: Do it., done_when: [{fails: lint-it}]}\n",
    "  - {name: first, command: make}\n" + WORK + LAST,
    WORK + "  - {name: check, type: gate, checks: {lint: lint-it}}\n",
    WORK + "  - name: rounds\n    type: loop\n    for: 2\n    max_iterations: 2\n    steps:\n    " + LAST,
    "  - {name: work, prompt: 'Do it, and install nothing.'}\n" + LAST,
)
GOES_ON = (
    WORK + "  - {name: last, command: lint-it, when: 'false'}\n",
    WORK + "  - {name: tools, command: make tools}\n" + LAST,
    WORK + "  - {name: over, type: end, when: 'false'}\n" + LAST,
    WORK + "  - {name: last, command: lint-it, repeatable: false}\n",
    WORK + "  - {name: last, command: lint-it, env: {PATH: /opt/x}}\n",
    WORK + "  - name: each\n    type: loop\n    for_each: [1]\n    max_iterations: 2\n    steps:\n    " + LAST,
    "  - {name: work, prompt: Install lint-it.}\n" + LAST,
    "  - {name: work, prompt: Do it., done_when: [{fails: lint-it, exit: 127}]}\n",
    WORK + "  - {name: last, command: make all}\n",
)


def plan(steps: str) -> Plan:
    return plan_of(f"name: flow\nsteps:\n{steps}")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the only program there is."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "make").symlink_to("/bin/sh")
    return tmp_path / "bin"


def look(steps: str, path: str, workspace: str = "/tree") -> None:
    found = plan(steps)
    at = next(number for number, step in enumerate(found.steps) if step.name == "work")
    state = RunState(
        run="flow-1",
        status="running",
        plan="",
        definition="",
        workflow="flow",
        inputs={},
        workspace=workspace,
        started_at=0.0,
        stack=(Frame("", at),),
    )
    require_programs(found, state, {"PATH": path})


@pytest.mark.parametrize(("script", "program"), NEEDED.items())
def test_the_first_program_of_a_plain_command_is_needed(script: str, program: str) -> None:
    assert first_program(script) == program


@pytest.mark.parametrize("script", NOT_CERTAIN)
def test_of_other_commands_nothing_is_certain(script: str) -> None:
    assert first_program(script) is None


@pytest.mark.parametrize("steps", STOPS)
def test_a_program_that_the_run_surely_needs_is_named(steps: str, programs: Path) -> None:
    with pytest.raises(ProcessFault, match="needs the program lint-it, which was not found"):
        look(steps, str(programs))


@pytest.mark.parametrize("steps", GOES_ON)
def test_what_may_not_be_needed_or_may_be_installed_stops_nothing(steps: str, programs: Path) -> None:
    look(steps, str(programs))


@pytest.mark.parametrize("path", ["", "node_modules/.bin:/bin", "/tree/.venv/bin:/bin"])
def test_a_path_into_the_worktree_may_lead_to_programs_later(path: str) -> None:
    look(WORK + LAST, path)
