"""Completion in the shells: commands, options, workflows, runs and the steps of a run; with the real bash."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.cli.running import ASKING, Runs
from support.cli.team import Team

BIN = str(Path(sys.executable).parent)
FAN = """\
name: NAME
steps:
  - name: build
    type: parallel-agents
    for_each: [auth, web]
    key: item
    steps:
      - {name: test, command: 'true'}
  - {name: ok, type: approval, message: Go?}
"""


def offered(runs: Runs, typed: str) -> list[str]:
    """Give what completion offers, without its kind."""
    return [line.partition(",")[2] for line in runs.completed(typed).splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_for_each_shell(runs: Runs, shell: str) -> None:
    script = runs.text("completion", shell)
    assert "_HANDRAIL_COMPLETE" in script
    assert f"{shell}_complete" in script


@pytest.mark.parametrize(
    "shell", ["bash", *(pytest.param(each, marks=pytest.mark.system(each)) for each in ("zsh", "fish"))]
)
def test_the_script_is_one_that_the_shell_reads(runs: Runs, shell: str) -> None:
    script = runs.text("completion", shell)
    read = subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, check=False, capture_output=True)
    assert (read.returncode, read.stderr) == (0, "")


def test_an_unknown_shell_is_refused_with_those_there_are(runs: Runs) -> None:
    text = runs.text("completion", "tcsh", code=2)
    assert "'bash', 'zsh', 'fish'" in text


def test_commands_options_and_topics_complete(runs: Runs) -> None:
    assert offered(runs, "handrail re") == ["revise", "reject", "resume", "rewind", "release"]
    assert offered(runs, "handrail workflow l") == ["list", "lint"]
    assert offered(runs, "handrail status --a") == ["--all"]
    assert offered(runs, "handrail help exit") == ["exit-codes"]
    assert offered(runs, "handrail completion z") == ["zsh"]


def test_workflows_and_runs_complete(runs: Runs) -> None:
    runs.add("ask-them", ASKING)
    runs.text("run", "ask-them", code=3)
    assert offered(runs, "handrail run ask") == ["ask-them"]
    assert offered(runs, "handrail approve a") == ["ask-them-1"]
    assert offered(runs, "handrail ps a") == ["ask-them-1"]


def test_nothing_is_offered_and_nothing_made_where_there_are_no_runs(runs: Runs) -> None:
    assert offered(runs, "handrail resume a") == []
    assert offered(runs, "handrail rewind a-1 b") == []
    assert not (runs.shop.home / "data").exists()


def test_steps_of_the_run_that_was_typed_complete_with_those_of_its_items(team: Team) -> None:
    team.add("fan", FAN)
    team.run("fan", code=3)
    runs = team.runs
    expected = ["build", "build[auth]/test", "build[web]/test", "build[auth]", "build[web]"]
    for command in ("show", "logs", "why", "diff", "fork", "rewind"):
        assert sorted(offered(runs, f"handrail {command} fan-1 b")) == sorted(expected)
    assert offered(runs, "handrail show @last o") == ["ok"]
    assert offered(runs, "handrail show nothing o") == []
    assert offered(runs, "handrail show f") == ["fan-1"]
    assert sorted(offered(runs, "handrail show fan-1.")) == sorted(
        [each["run"] for each in team.json("show", "fan-1", "test")["steps"]]
    )


def test_the_real_bash_completes(runs: Runs) -> None:
    runs.add("ask-them", ASKING)
    program = (
        'eval "$(handrail completion bash)"\n'
        "complete -p handrail >/dev/null || exit 3\n"
        'ask() { COMP_WORDS=(handrail "$@"); COMP_CWORD=$#; COMPREPLY=(); _handrail_completion handrail; '
        'echo "${COMPREPLY[*]}"; }\n'
        "ask rev\nask run ask\nask status --js\n"
    )
    environ = {**runs.environ(), "PATH": f"{BIN}:/usr/bin:/bin"}
    ran = subprocess.run(
        ["bash", "--norc", "-c", program], cwd=runs.shop.root, env=environ, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ["revise", "ask-them", "--json"]
