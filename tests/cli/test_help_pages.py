"""Topics: they are there, fit the terminal, and name only what exists."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from handrail.cli import help as help_module
from handrail.cli.command_table import ALIASES, GROUPS, RUNS, WORKFLOWS
from handrail.cli.help import TOPICS, topic_text
from handrail.cli.help_pages import render_page
from handrail.cli.main import cli
from support.cli.running import Runs
from support.cli.terminals import shown_on_terminal

NAMED = re.compile(r"handrail ([a-z][a-z-]*)((?: [^\s`|]+)*)")
BUILT_BY_OTHERS = {"test", "simulate", "init", "demo"}


def said(*args: str, columns: int = 80) -> str:
    result = CliRunner().invoke(cli, args, env={"COLUMNS": str(columns), "LINES": "24"})
    assert result.exit_code == 0, result.output
    return result.output


def test_the_topics_are_listed_each_with_a_line() -> None:
    assert said("help") == snapshot("""\
Topics, for example: handrail help runs:
  workflows    what a workflow is, where workflows come from, how they are
               written
  runs         what a run is, how it is named, how it continues
  steps        addresses of steps: tries, rounds, items, called workflows
  approvals    what needs you, and how you answer
  budgets      limits on dollars, tokens, calls and minutes; usage limits
  worktrees    where runs work, and what happens to their changes
  trust        why you are asked before a workflow runs
  exit-codes   what a command's exit code means
  environment  variables that Handrail reads, and those that commands see
  files        where Handrail stores its files
  json         the documents that --json prints
  testing      trying a workflow without a model

Every command takes --help. Topics: handrail help. All commands: handrail help
commands.
""")


def test_every_page_has_a_topic_and_every_topic_a_page() -> None:
    folder = Path(str(help_module.__file__)).parent / "topics"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(TOPICS)


@pytest.mark.parametrize("name", TOPICS)
@pytest.mark.parametrize("columns", [40, 80])
def test_a_page_fits_the_terminal_and_loses_nothing(name: str, columns: int) -> None:
    text = said("help", name, columns=columns)
    code = [line for line in topic_text(name).split("```")[1::2] for line in line.splitlines()]
    assert [
        line for line in text.splitlines() if len(line) > columns and line.strip() not in map(str.strip, code)
    ] == []
    assert "#" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("name", TOPICS)
def test_every_command_and_option_that_a_page_names_exists(name: str) -> None:
    context = click.Context(cli)
    for command, rest in NAMED.findall(topic_text(name)):
        assert command in {*RUNS, *WORKFLOWS, *GROUPS, *ALIASES}, command
        options = [word.rstrip(".,") for word in rest.split() if word.startswith("-")]
        if command in BUILT_BY_OTHERS or not options:
            continue
        found = cli.get_command(context, command)
        assert found is not None
        known = {each for param in found.params for each in param.opts}
        assert set(options) <= known, (command, options)


@pytest.mark.parametrize("name", TOPICS)
def test_every_topic_that_a_page_names_exists(name: str) -> None:
    assert set(re.findall(r"handrail help ([a-z-]+)", topic_text(name))) <= {*TOPICS, "commands"}


def test_a_page_is_headings_prose_tables_and_code() -> None:
    assert said("help", "exit-codes") == snapshot("""\
EXIT CODES

  0    done
  1    it failed or was stopped, or the machine reported an error: permissions,
       a broken file
  2    usage error: an unknown command, option, workflow, run or step
  3    it needs you: an approval, a question, trust, a problem to fix; or it
       waits until a certain time
  4    the workflow is invalid
  5    the budget is spent, or the agent's usage limit is reached
  130  paused, by Ctrl-C

  After 3, 5 and 130 nothing is lost: `handrail resume` continues the run.

  `handrail run`, `resume`, `rewind`, `approve`, `revise` and `answer` exit with
  the code for the state of the run. `handrail status` and the other read-only
  commands exit with 0, whatever they find; `handrail doctor` exits with 1 if
  something is wrong.

  An error is written to stderr, with the next command below it. With `--json`,
  it is a document on stdout: `{"error": {"code", "message", "next"}}`.
""")


def test_a_page_on_a_narrow_terminal() -> None:
    assert said("help", "budgets", columns=40) == snapshot("""\
BUDGETS

  A workflow, or one of its steps, can
  limit what may be spent:

    budget: {usd: 6, tokens: 2000000, agent_calls: 20, minutes: 90}

  The budget of a run includes all runs
  that it starts. Minutes count work,
  not waiting for people. Before a run
  starts, Handrail shows the minimum and
  maximum number of agent calls, and the
  most that may be spent.

  At the limit, the run needs you (exit
  code 5), and `handrail resume RUN`
  grants the same amount again. With
  `at_limit: finish`, no further agent
  starts, but the remaining commands
  still run.

WHAT WAS SPENT

  `handrail cost RUN` shows dollars,
  tokens, calls and time, per step and
  in total, against the budget. A price
  that is only partly known is marked
  with `~`; one that is not known at all
  is `unknown`, never zero.

USAGE LIMITS

  When an agent's own usage limit is
  reached, the run waits until the time
  that the agent names, and continues
  automatically while something drives
  it: the terminal in which you watch
  it, or the background driver.
  `handrail resume RUN` tries
  immediately.
""")


def test_a_topic_that_is_a_command_too_says_so() -> None:
    assert said("help", "trust").endswith("\nThe command of that name: handrail trust --help\n")


def test_lists_keep_their_items_and_code_is_not_broken() -> None:
    lists, code = "- one two\n  three\n- four", "```\nlong line that is not broken at all\n\n  end\n```"
    page = f"# Title\n\n{lists}\n\n{code}\n\nLast\nwords.\n"
    assert render_page(page, 24) == snapshot("""\
TITLE

  - one two three
  - four

    long line that is not broken at all

      end

  Last words.
""")


def test_a_long_page_goes_through_the_pager_on_a_terminal(runs: Runs, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged\ncat\n")
    pager.chmod(0o755)
    assert shown_on_terminal(runs, "help", "runs", PAGER=str(pager)).text.startswith("paged\nRUNS\n")
    assert not shown_on_terminal(runs, "help", PAGER=str(pager)).text.startswith("paged")
