"""Small things that surprised people in their first hour, each through the installed program.

`HANDRAIL_UNDER_TEST=/path/to/handrail pytest tests/first_use` tries another installation.
"""

import os

import pytest

from support.first_use.shells import Shells
from support.security.black_box import BlackBox
from support.security.screen import on_screen

pytestmark = pytest.mark.system  # takes long: many processes of its own

LISTS = """\
name: lists
input:
  languages: DECLARED
steps:
  - name: say
    command: echo "${languages | join('+')}"
"""
ORDERED = """\
name: ordered
steps:
  - name: build
    type: parallel-agents
    for_each: [{id: a, after: [b]}, {id: b, after: [OTHER]}]
    after: item.after
    prompt: Build the part.
"""
TAKEN = """\
name: taken
steps:
  - {name: look, type: approval, message: Go on?}
  - {name: polish, prompt: Polish the page., agent: claude/sonnet}
"""
MAKEFILE = "test:\n\ttrue\nlint:\n\tno-such-linter\n"
CONFIG = """\
[agent]
# Who does the work.

[checks]
# What must pass before work is done.

[worktrees]
# How a new worktree is set up.
"""
PROVIDER = """\
model_provider = "ours"
[model_providers.ours]
name = "Ours"
base_url = "http://127.0.0.1:9/v1"
env_key = "OUR_KEY"
"""
CODEX = '#!/bin/sh\n[ "$1" = --version ] && { echo codex-cli 0.163.0; exit; }\necho "Not logged in" >&2\nexit 1\n'


def test_enter_leaves_a_check_out_that_cannot_run_here(box: BlackBox) -> None:
    box.write("Makefile", MAKEFILE)
    box.commit()
    with on_screen(box, "init") as screen:
        screen.wait_for("Write this? [")
        screen.type("\n")
        assert screen.end() == 0
    lines = (box.repository / ".handrail" / "config.toml").read_text().splitlines()
    assert 'test = "make test"' in lines
    assert 'lint = "make lint"' not in lines


def test_keys_that_a_second_init_adds_stand_below_the_comment_that_explains_them(box: BlackBox) -> None:
    box.write("Makefile", MAKEFILE)
    box.write(".handrail/config.toml", CONFIG)
    box.commit()
    box.call("trust", ".handrail/config.toml", "--yes")
    assert box.call("init", "--yes").exit_code == 0
    lines = (box.repository / ".handrail" / "config.toml").read_text().splitlines()
    assert lines.index("# What must pass before work is done.") < lines.index('test = "make test"')


def test_the_help_of_completion_shows_a_line_for_each_shell(box: BlackBox) -> None:
    lines = [line.strip() for line in box.call("completion", "--help").out.splitlines()]
    assert "\\b" not in "".join(lines)
    assert all(any(line.startswith(f"{shell}:") for line in lines) for shell in ("bash", "zsh", "fish"))


@pytest.mark.parametrize(("other", "words"), [("a", "a → b → a"), ("zzz", "'zzz'")])
def test_an_order_of_parts_that_cannot_be_kept_is_found_before_the_run(box: BlackBox, other: str, words: str) -> None:
    box.write_own("workflows/ordered/workflow.yaml", ORDERED.replace("OTHER", other))
    for command in ("validate", "simulate", "run"):
        said = box.call(command, "ordered")
        assert (said.exit_code, words in said.text) == (4, True), said.text


@pytest.mark.parametrize(
    "declared",
    [
        '"[string] = [de, fr]"',
        "{type: [string], default: [de, fr]}",
        "{type: '[string]', default: [de, fr]}",
        "{type: list, default: [de, fr]}",
    ],
)
def test_a_list_can_be_declared_in_every_way_that_looks_right(box: BlackBox, declared: str) -> None:
    box.write_own("workflows/lists/workflow.yaml", LISTS.replace("DECLARED", declared))
    assert box.call("validate", "lists").exit_code == 0, box.call("validate", "lists").text
    assert box.call("run", "lists").exit_code == 0
    assert box.call("show", "lists-1", "say", "--json").document["steps"][0]["stdout"].strip() == "de+fr"


def test_a_list_without_quotes_is_answered_with_the_line_that_works(box: BlackBox) -> None:
    box.write_own("workflows/lists/workflow.yaml", LISTS.replace("DECLARED", "[string] = [de, fr]"))
    said = box.call("validate", "lists")
    assert "indentation" not in said.text
    line = said.text.partition('languages: "')[2].partition("\n")[0]
    box.write_own("workflows/lists/workflow.yaml", LISTS.replace("DECLARED", f'"{line}'))
    assert box.call("validate", "lists").exit_code == 0, said.text


def test_a_python_workflow_that_is_not_trusted_is_not_called_invalid(box: BlackBox) -> None:
    box.write(".handrail/workflows/mine/workflow.py", "import handrail\n")
    said = box.call("list").out
    (line,) = [line for line in said.splitlines() if line.startswith("mine ")]
    assert "invalid" not in line
    assert "trust" in line


def test_only_the_tables_that_a_configuration_has_need_trust(box: BlackBox) -> None:
    box.write_own("workflows/plain/workflow.yaml", "name: plain\nsteps: [{name: a, command: 'true'}]\n")
    box.write(".handrail/config.toml", '[agent]\ndefault = "claude/sonnet"\n')
    said = box.call("run", "plain")
    assert said.exit_code == 3
    assert "[agent]" in said.err
    assert "[worktrees]" not in said.err


def test_an_agent_with_another_service_is_not_called_logged_out(box: BlackBox) -> None:
    program = box.base / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(CODEX)
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    assert "not logged in" in box.call("doctor", PATH=path).out
    config = box.base / "person" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(PROVIDER)
    assert "not logged in" not in box.call("doctor", PATH=path, OUR_KEY="a-key-of-ours").out


def test_an_approval_of_a_run_that_is_held_does_not_claim_that_its_agent_works(shells: Shells) -> None:
    shells.box.write_own("workflows/taken/workflow.yaml", TAKEN)
    assert shells.call("ann", "run", "taken").exit_code == 3
    assert shells.call("ann", "take", "taken-1").exit_code == 0
    said = shells.call("ann", "approve", "taken-1").text
    assert "approved" in said
    assert "▸ polish" not in said
    assert shells.calls == 0
