"""The help: a dozen commands on one small screen, every command on a page of its own, other names, mistyped words."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from handrail.cli.command_table import ALIASES, DAILY, GROUPS, HIDDEN, RUNS, SECTIONS, WORKFLOWS
from handrail.cli.main import cli
from support.cli.shop import Shop

BUILT_BY_OTHERS = {"test", "simulate", "init", "demo"}


def said(*args: str, columns: int = 80, code: int = 0) -> str:
    result = CliRunner().invoke(cli, args, env={"COLUMNS": str(columns), "LINES": "24"})
    assert result.exit_code == code, result.output
    return result.output


def widest(text: str) -> int:
    return max(len(line) for line in text.splitlines())


def test_the_help_shows_the_dozen_and_the_groups_on_one_small_screen() -> None:
    text = said("--help")
    assert text == snapshot("""\
Usage: handrail [OPTIONS] [COMMAND] [ARGS]...

  Run coding agents along workflows you can trust, stop and rewind.

Commands:
  init     Detect this repository's agent, checks and set-up, and save them.
  run      Run a workflow here, and show each step as it happens.
  status   Show which runs need you, are running or have ended.
  logs     Show everything that happened in a run.
  diff     Show what a run or one of its steps changed.
  approve  Approve what a run is waiting for, and continue it.
  revise   Send the work back with a comment, and continue.
  reject   Reject what a run is waiting for.
  resume   Continue a run; finished steps are not repeated.
  stop     Stop a run for good.
  rewind   Go back to before a step, and continue from there.
  doctor   Check the required tools and the recorded data.

Groups:
  workflow  The commands about workflows: `handrail workflow list`.
  issues    The issues of this repository: `handrail issues list`.

All commands: handrail help commands. Topics: handrail help. One command:
handrail help run.
""")
    assert len(text.splitlines()) <= 24
    assert widest(text) <= 80


def test_the_help_fits_a_narrow_terminal_without_breaking_words() -> None:
    text = said("--help", columns=40)
    assert text == snapshot("""\
Usage: handrail [OPTIONS] [COMMAND]
                [ARGS]...

  Run coding agents along workflows you
  can trust, stop and rewind.

Commands:
  init     Detect this repository's
           agent, checks and set-up, and
           save them.
  run      Run a workflow here, and show
           each step as it happens.
  status   Show which runs need you, are
           running or have ended.
  logs     Show everything that happened
           in a run.
  diff     Show what a run or one of its
           steps changed.
  approve  Approve what a run is waiting
           for, and continue it.
  revise   Send the work back with a
           comment, and continue.
  reject   Reject what a run is waiting
           for.
  resume   Continue a run; finished
           steps are not repeated.
  stop     Stop a run for good.
  rewind   Go back to before a step, and
           continue from there.
  doctor   Check the required tools and
           the recorded data.

Groups:
  workflow  The commands about
            workflows: `handrail
            workflow list`.
  issues    The issues of this
            repository: `handrail issues
            list`.

All commands: handrail help commands.
Topics: handrail help. One command:
handrail help run.
""")
    assert widest(text) <= 40
    assert set(text.split()) == set(said("--help").split())


def test_the_help_of_a_command_fits_a_narrow_terminal_too() -> None:
    assert widest(said("status", "--help", columns=40)) <= 40


def test_the_page_of_all_commands_names_each_once() -> None:
    text = said("help", "commands")
    assert text == snapshot("""\
Start:
  init     Detect this repository's agent, checks and set-up, and save them.
  demo     See how it works in 20 seconds, in a temporary repository.
  run      Run a workflow here, and show each step as it happens.
  connect  Connect an agent or an editor to Handrail, or undo it.
  mcp      Serve workflows to a connected agent over MCP.

Look:
  status   Show which runs need you, are running or have ended.
  inbox    Show what needs you.
  logs     Show everything that happened in a run.
  show     Show a run's steps, or one step with its output.
  why      Explain why steps ran, were skipped or repeated.
  attach   Watch a run's agents at work, in tmux.
  diff     Show what a run or one of its steps changed.
  blame    Show which run and step, or which person, wrote a line.
  cost     Show cost, tokens and time, per step and in total.
  compare  Show runs side by side: outcome, cost, time, changes.

Answer:
  approve  Approve what a run is waiting for, and continue it.
  revise   Send the work back with a comment, and continue.
  reject   Reject what a run is waiting for.
  answer   Answer a run's question, and continue it.
  tell     Send a message to a run's agent while it works.

Steer:
  resume   Continue a run; finished steps are not repeated.
  stop     Stop a run for good.
  rewind   Go back to before a step, and continue from there.
  fork     Copy a run, as it is or as it was before a step.
  prefer   Set how autonomous a guided run is, and its risk level.
  take     Hand a run over to an agent connected over MCP.
  release  Return a run to Handrail, which continues it.

Keep or discard the work:
  apply       Apply a run's changes to your checkout, uncommitted.
  merge       Merge a run's branch into the one it started from.
  pr          Push a run's branch, and open or update its pull request.
  discard     Remove a run's worktree and branch (a backup ref is kept).
  clean       Remove leftovers of runs that are no longer needed.
  export      Export a run to a single file.
  import-run  Import a run that was exported.

Workflows:
  new       Create a new workflow, with a prompt and a test.
  list      List the workflows that are available here.
  inspect   Show one workflow: inputs, steps, files, number of agent calls.
  validate  Check workflows: errors and warnings, each at its line.
  lint      Check workflows and suggest improvements.
  test      Run a workflow's tests, with scripted agents.
  simulate  Walk every branch of a workflow without running anything.
  compile   Compile a workflow and show its pinned version.
  schema    Print the JSON Schema of workflow.yaml for your editor.
  stamp     Record in a workflow that it meets the current authoring spec.
  trust     Review what a workflow may run, and trust it.
  import    Import workflows written for other tools.

Help:
  doctor      Check the required tools and the recorded data.
  notify      Send a test notification to yourself or a channel.
  help        Explain a topic or a command.
  completion  Print the completion script for your shell.

Groups:
  workflow  new list inspect validate lint test simulate compile schema stamp
            trust import
  issues    create list show ready update close dep comment claim release import
            export

Other names:
  ps  the same as status

Every command takes --help. Topics: handrail help. All commands: handrail help
commands.
""")
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted([*RUNS, *WORKFLOWS])
    assert widest(text) <= 80


def test_what_the_short_help_shows_is_there() -> None:
    assert set(DAILY) <= set(RUNS)
    assert len(DAILY) == 12
    for name in GROUPS:
        assert isinstance(cli.get_command(click.Context(cli), name), click.Group)


@pytest.mark.parametrize("name", sorted({*RUNS, *WORKFLOWS, *HIDDEN} - BUILT_BY_OTHERS))
def test_every_command_that_is_listed_can_be_loaded(name: str) -> None:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(("name", "target"), ALIASES.items())
def test_an_alias_does_the_same_and_says_so(name: str, target: str) -> None:
    text = said(name, "--help")
    assert f"The same as `handrail {target}`." in text
    assert text.partition("Options:")[2] == said(target, "--help").partition("Options:")[2]
    assert f"  {name} " not in said("--help")


@pytest.mark.parametrize("name", ["plan", "code", "review"])
def test_what_is_no_command_yet_says_what_to_use_instead(shop: Shop, name: str) -> None:
    result = shop.call(name, "add a discount")
    assert result.exit_code == 2
    assert f"there is no command '{name}'; use handrail run WORKFLOW" in " ".join(result.output.split())


def test_ps_is_status(shop: Shop) -> None:
    assert shop.call("ps").output == shop.call("status").output
    assert shop.json("ps") == {"runs": [], "cut": False, "older": None, "driver": None}


def test_help_of_a_command_is_what_the_command_says_itself() -> None:
    assert said("help", "run") == said("run", "--help")
    assert said("help", "workflow", "list") == said("workflow", "list", "--help")
    assert said("help", "ps") == said("ps", "--help")


@pytest.mark.parametrize("words", [("help", "wrkflows"), ("help", "run", "x"), ("stats",), ("status", "--jsn")])
def test_a_mistyped_word_gets_a_suggestion_or_the_way_to_the_help(words: tuple[str, ...]) -> None:
    text = said(*words, code=2)
    expected: dict[tuple[str, ...], str] = {
        ("help", "wrkflows"): snapshot("""\
error: there is no topic or command 'wrkflows', did you mean 'workflows'?
next: handrail --help
"""),
        ("help", "run", "x"): snapshot("""\
error: there is no topic or command 'run x', did you mean 'run'?
next: handrail --help
"""),
        ("stats",): snapshot("""\
error: there is no command 'stats', did you mean 'status'?
next: handrail --help
"""),
        ("status", "--jsn"): snapshot("""\
error: no such option '--jsn'. Did you mean '--json'?
next: handrail status --help
"""),
    }
    assert text == expected[words]


def test_the_help_starts_without_loading_a_command() -> None:
    program = (
        "import sys\nfrom handrail.cli.main import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*(name for name in sys.modules if name.startswith('handrail.')), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert sorted(ran.stderr.split()) == [
        f"handrail.cli{part}" for part in ("", ".command_table", ".lazy_group", ".main")
    ]


LIGHT = (
    *("model", "model.history", "model.history.run_lines"),
    *("ports", "ports.run_list", "wiring", "wiring.run_list"),
)


def test_status_starts_without_the_engine_and_the_log(shop: Shop) -> None:
    shop.workflow("done", "name: done\nsteps:\n  - {name: a, command: 'true'}\n")
    assert shop.call("trust", "done", "--yes").exit_code == 0
    assert shop.call("run", "done", "--in", ".").exit_code == 0
    program = (
        "import sys\nfrom handrail.cli.main import cli\n"
        "try:\n    cli.main(['status'])\nexcept SystemExit:\n    pass\n"
        "print(*(name for name in sys.modules if name.startswith('handrail.')), file=sys.stderr)\n"
    )
    environ = {"PATH": str(Path(sys.executable).parent), "HANDRAIL_HOME": str(shop.home)}
    ran = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    loaded = ran.stderr.split()
    assert ran.stdout.startswith("ENDED  done-1")
    light = {f"handrail.{name}" for name in LIGHT}
    heavy = (
        "engine",
        "model",
        "language",
        "compiler",
        "authoring",
        "wiring",
        "agents",
        "workspace",
        "processes",
        "ports",
    )
    assert [name for name in loaded if name.split(".")[1] in heavy and name not in light] == []
