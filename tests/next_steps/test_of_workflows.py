"""The next steps that commands about workflows print, typed as printed."""

import os

import pytest

from support.cli.running import Runs
from support.cli.team import Team
from support.next_steps.follow import follow, in_a_shell, in_process

pytestmark = pytest.mark.system  # takes long: many processes of its own

PLAIN = "name: NAME\ndescription: Say one.\nsteps:\n  - {name: one, command: 'echo one'}\n"
BROKEN = "name: NAME\nsteps:\n  - {name: one, comand: 'echo one'}\n"
TASK = "name: NAME\ninput: {task: string}\nsteps:\n  - {name: one, command: 'echo \"${task}\"'}\n"
CALLS = "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: broken}\n"


def test_list_names_what_is_invalid_and_what_needs_trust(runs: Runs) -> None:
    runs.shop.workflow("plain", PLAIN)
    untrusted = runs.text("run", "plain", code=3)
    follow(in_process(runs), untrusted, "read it, then: handrail trust {}", code=3, shows="plain/workflow.yaml")
    runs.shop.workflow("broken", BROKEN)
    broken = runs.text("list")
    follow(in_process(runs), broken, "handrail validate {}", code=4, shows="comand")
    follow(in_process(runs), runs.text("run", "broken", code=4), "handrail validate {}", code=4, shows="comand")


def test_python_that_is_not_trusted_is_shown_by_trust(runs: Runs) -> None:
    runs.shop.write(".handrail/workflows/py/workflow.py", "import handrail\n")
    said = runs.text("list")
    follow(in_process(runs), said, ": handrail trust {}", code=3, shows="import handrail")
    follow(in_process(runs), said, "handrail trust {}", code=3, shows="import handrail")


def test_without_a_terminal_trust_is_given_with_yes(runs: Runs) -> None:
    runs.shop.workflow("plain", PLAIN)
    follow(in_process(runs), runs.text("trust", "plain", code=3), "handrail trust {} --yes", shows="rusted")
    assert "succeeded" in runs.text("run", "plain")


def test_what_was_never_reviewed_is_linted_and_stamped(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    said = runs.text("inspect", "plain")
    follow(in_process(runs), said, "(handrail lint {}, then handrail stamp {})", shows="1 workflow valid")
    follow(in_process(runs), said, "(handrail lint {}, then handrail stamp {})", at=1, shows="plain")


def test_a_new_workflow_is_tested_and_run(team: Team) -> None:
    said = team.text("new", "tidy")
    follow(
        in_process(team.runs),
        said,
        'handrail test {}, then edit it, and: handrail run {} "what to do"',
        shows="2 passed",
    )
    # There is no agent on this machine, which the run says before it begins.
    follow(
        in_process(team.runs, PATH="/usr/bin:/bin"),
        said,
        'handrail test {}, then edit it, and: handrail run {} "what to do"',
        at=1,
        code=2,
        shows="no agent is installed",
    )


def test_a_workflow_that_is_there_already_is_inspected(team: Team) -> None:
    team.text("new", "tidy")
    follow(in_process(team.runs), team.text("new", "tidy", code=2), "handrail inspect {}", shows="tidy  (repository")


def test_outside_a_repository_a_new_workflow_is_the_users_own(runs: Runs) -> None:
    runs.shop.leave_repository()
    said = runs.text("new", "tidy", code=2)
    done = follow(
        in_process(runs), said, "go to one, or: handrail new NAME --to user", fill={"NAME": "tidy"}, shows="tidy"
    )
    assert (runs.shop.home / "workflows/tidy/workflow.yaml").exists(), done.text


def test_the_schema_is_written_where_the_line_in_the_workflow_looks_for_it(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    said = runs.call("schema", "--help").output + runs.call("schema").stderr
    follow(
        in_a_shell(runs),
        said,
        "handrail schema > .handrail/workflow.schema.json, then start each workflow.yaml with this line:\n"
        "# yaml-language-server: $schema=../../workflow.schema.json",
        shows="",
    )
    assert (runs.shop.root / ".handrail/workflows/plain/../../workflow.schema.json").stat().st_size > 1000


def test_a_workflow_without_tests_gets_a_first_one(team: Team) -> None:
    team.add("plain", PLAIN)
    said = team.text("test", "plain", code=2)
    wrote = follow(
        in_process(team.runs),
        said,
        "write {} with {}, or have it written for you: handrail test --init {}",
        shows="wrote",
    )
    follow(in_process(team.runs), wrote.text, "wrote {}\nnext: handrail test {}", shows="1 passed")
    again = team.text("test", "--init", "plain", code=2)
    follow(in_process(team.runs), again, "handrail test {}", shows="1 passed")


def test_a_test_that_fails_names_the_command_that_keeps_it_and_then_its_log(team: Team) -> None:
    team.add("plain", PLAIN)
    text = "- name: it fails\n  expect: {status: failed}\n"
    (team.root / ".handrail/workflows/plain/tests").mkdir()
    (team.root / ".handrail/workflows/plain/tests/a.yaml").write_text(text)
    said = team.text("test", "plain", code=1)
    kept = follow(in_process(team.runs), said, "handrail test {} -k {} --keep", code=1, shows="it fails")
    follow(in_a_shell(team.runs), kept.text, "HANDRAIL_HOME={} handrail logs {}", shows="one")


def test_what_is_not_trusted_is_tested_as_it_is(team: Team) -> None:
    team.add("plain", PLAIN)
    team.text("test", "--init", "plain")
    team.runs.shop.workflow("plain", PLAIN + "    # changed\n")
    said = team.text("test", "plain", code=3)
    follow(in_process(team.runs), said, "{}, or test it as it is now: handrail test{} --trust", shows="1 passed")


def test_names_are_asked_for_where_there_is_nothing_to_test_or_validate(runs: Runs) -> None:
    said = runs.text("test", code=2)
    runs.add("plain", PLAIN)
    follow(
        in_process(runs),
        said,
        "name a workflow: handrail test NAME|PATH, or --library for the built-in ones",
        fill={"NAME|PATH": "plain"},
        code=2,
        shows="has no tests",
    )


def test_validate_asks_for_a_name(runs: Runs) -> None:
    said = runs.text("validate", code=2)
    runs.add("plain", PLAIN)
    follow(
        in_process(runs),
        said,
        "handrail validate NAME|PATH, or --library for the built-in workflows",
        fill={"NAME|PATH": "plain"},
        shows="1 workflow valid",
    )


def test_a_workflow_that_is_not_there_leads_to_the_list(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    said = runs.text("run", "nothing-like-it", code=2)
    follow(in_process(runs), said, "handrail list shows all workflows; searched: {}", shows="plain")


def test_a_task_without_a_workflow_is_given_to_one(runs: Runs) -> None:
    runs.add("fix-bug", TASK)
    said = runs.text("run", "it is broken", code=2)
    follow(in_process(runs), said, "handrail run {} {}", shows="fix-bug-1 succeeded")


@pytest.mark.parametrize("word", ["plan", "code", "review"])
def test_words_that_are_no_command_lead_to_run(runs: Runs, word: str) -> None:
    runs.add("task", TASK)
    said = runs.text(word, "x", code=2)
    follow(
        in_process(runs),
        said,
        'handrail run WORKFLOW "..." (handrail list shows the workflows)',
        fill={"WORKFLOW": "task", '"..."': '"do it"'},
        shows="task-1 succeeded",
    )
    follow(
        in_process(runs), said, 'handrail run WORKFLOW "..." (handrail list shows the workflows)', at=1, shows="task"
    )


def test_help_leads_to_more_help(runs: Runs) -> None:
    page, topics = runs.text("--help"), runs.text("help", "commands")
    follow(
        in_process(runs),
        page,
        "All commands: handrail help commands. Topics: handrail help. One command: handrail help run.",
        shows="Keep or discard the work",
    )
    follow(
        in_process(runs),
        page,
        "All commands: handrail help commands. Topics: handrail help. One command: handrail help run.",
        at=1,
        shows="Topics",
    )
    follow(
        in_process(runs),
        page,
        "All commands: handrail help commands. Topics: handrail help. One command: handrail help run.",
        at=2,
        shows="--detach",
    )
    said = topics + runs.text("help")
    follow(
        in_process(runs),
        said,
        "Every command takes --help. Topics: handrail help. All commands: handrail help commands.",
        shows="Topics",
    )
    follow(
        in_process(runs),
        said,
        "Every command takes --help. Topics: handrail help. All commands: handrail help commands.",
        at=1,
        shows="Keep or discard the work",
    )


def test_a_topic_with_the_name_of_a_command_leads_to_that_command(runs: Runs) -> None:
    from pathlib import Path

    import handrail

    topics = sorted(path.stem for path in (Path(handrail.__file__).parent / "cli/topics").glob("*.md"))
    said = "\n".join(runs.text("help", each) for each in topics)
    follow(in_process(runs), said, "The command of that name: handrail {} --help", shows="Usage: handrail")


def test_without_runs_the_first_steps_are_shown(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    fill = {"WORKFLOW": "plain"}
    follow(in_process(runs), runs.text(), "run a workflow; handrail list shows them all", shows="plain")
    said = runs.text("status")
    follow(in_process(runs), said, "no runs yet; handrail run WORKFLOW starts one", fill=fill, shows="succeeded")
    assert os.environ["HOME"]


def test_a_workflow_that_reads_its_issue_says_how_to_give_one(runs: Runs) -> None:
    runs.add("reads", "name: NAME\nsteps:\n  - {name: one, command: 'echo \"${issue.title}\"'}\n")
    said = runs.text("run", "reads", code=2)
    follow(
        in_process(runs),
        said,
        'describe the issue: handrail run {} "WHAT TO DO"',
        shows="succeeded",
        fill={"WHAT TO DO": "fix the login"},
    )


def test_what_nothing_fires_yet_is_started_by_hand(runs: Runs) -> None:
    runs.add("nightly", 'name: NAME\ntrigger: [{schedule: "17 3 * * *"}]\nsteps:\n  - {name: one, command: echo one}\n')
    said = runs.text("validate", "nightly")
    follow(in_process(runs), said, "start it yourself: handrail run {}", shows="succeeded")


def test_a_table_of_routing_says_to_name_the_workflow(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    runs.shop.write(".handrail/config.toml", '[routing]\ndefault = "plain"\n')
    said = runs.text("validate", code=4)
    (runs.shop.root / ".handrail" / "config.toml").unlink()
    follow(
        in_process(runs),
        said,
        "remove it; name the workflow when you start a run: handrail run WORKFLOW",
        shows="succeeded",
        fill={"WORKFLOW": "plain"},
    )
