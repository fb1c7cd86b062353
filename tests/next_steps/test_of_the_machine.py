"""The next steps of init, doctor, demo and of damage that is found, typed as printed."""

import sqlite3
from pathlib import Path

import pytest

from support.cli.fresh import Fresh
from support.cli.running import ASKING, Runs
from support.cli.team import Team
from support.next_steps.follow import Shell, Typed, follow, in_process

pytestmark = pytest.mark.system  # takes long: many processes of its own

PLAIN = "name: NAME\nsteps:\n  - {name: one, command: 'echo one'}\n"
TASK = "name: NAME\ninput: {task: string}\nsteps:\n  - {name: one, command: 'echo \"${task}\"'}\n"
NEEDS = "name: NAME\nsteps:\n  - {name: checks, type: gate, checks: project}\n"
ONE = "name: NAME\nsteps:\n  - {name: list, type: script, command: '${project.outdated}'}\n"
MAKEFILE = "test:\n\ttrue\n"


def typed_in(fresh: Fresh) -> Shell:
    return in_process(Runs(fresh.shop))


def says_yes(shell: Shell) -> Shell:
    """Add `--yes` to what is typed, in the place of the person who would say so on a terminal."""

    def type_line(line: str) -> Typed:
        return shell(f"{line} --yes")

    return type_line


def test_doctor_names_init_demo_and_the_workflow_of_the_repository(runs: Runs) -> None:
    said = runs.text("doctor")
    follow(in_process(runs), said, "handrail init, or handrail demo", code=1, shows="not inside a git repository")
    runs.shop.write(".handrail/config.toml", "")
    said = runs.text("doctor")
    follow(in_process(runs), said, "handrail list, then handrail run NAME", shows="fix-bug")
    runs.add("task", TASK)
    follow(in_process(runs), runs.text("doctor"), "handrail run {}{}", shows="task-1 succeeded")
    fill = {"NAME": "task"}
    follow(in_process(runs), said, "handrail list, then handrail run NAME", at=1, fill=fill, code=2, shows="--input")


def test_the_runs_of_doctor_need_no_task_where_none_is_asked_for(runs: Runs) -> None:
    runs.shop.write(".handrail/config.toml", "")
    runs.add("plain", PLAIN)
    follow(in_process(runs), runs.text("doctor"), "handrail run {}{}", shows="plain-1 succeeded")


def test_without_a_terminal_init_is_called_with_yes(fresh: Fresh) -> None:
    fresh.commit(Makefile=MAKEFILE)
    said = fresh.shop.call("init").output
    follow(typed_in(fresh), said, "handrail init --yes", shows="Wrote")


def test_the_bare_command_names_init(fresh: Fresh) -> None:
    fresh.commit(Makefile=MAKEFILE)
    follow(says_yes(typed_in(fresh)), fresh.shop.call().output, "handrail init", shows="Wrote")


def test_a_repository_without_a_commit_gets_one(fresh: Fresh) -> None:
    said = fresh.shop.call("init", "--yes").output
    printed = 'git add -A && git commit --allow-empty -m "Start", then: handrail init'
    assert printed in said
    fresh.git("add", "-A")
    fresh.git("commit", "--allow-empty", "-qm", "Start")
    follow(
        says_yes(typed_in(fresh)),
        said,
        'git add -A && git commit --allow-empty -m "Start", then: handrail init',
        shows="Wrote",
    )


def test_a_configuration_that_cannot_be_read_is_corrected_first(fresh: Fresh) -> None:
    fresh.commit(Makefile=MAKEFILE)
    fresh.shop.write(".handrail/config.toml", "[checks\n")
    said = fresh.init().output
    fresh.shop.write(".handrail/config.toml", "")
    follow(says_yes(typed_in(fresh)), said, "fix it, then: handrail init", shows="Wrote")


def test_a_check_that_was_left_out_comes_back_when_it_passes(fresh: Fresh) -> None:
    fresh.commit(Makefile="test:\n\ttrue\nlint:\n\ttest -e good\n")
    said = fresh.init().output
    fresh.commit(good="")
    follow(
        says_yes(typed_in(fresh)),
        said,
        "{} {} left out and runs will not check it; fix that and run handrail init again, or:",
        shows="lint: make lint",
    )


def test_an_agent_that_is_installed_later_is_found_by_another_init(fresh: Fresh) -> None:
    fresh.commit(Makefile=MAKEFILE)
    said = fresh.init().output
    fresh.program("claude", "echo 2.1.325")
    follow(
        says_yes(typed_in(fresh)),
        said,
        "none found: install {} or {}, then run handrail init again",
        shows="claude, access edit",
    )


def test_what_was_there_before_is_shown_by_trust(fresh: Fresh) -> None:
    fresh.commit(Makefile=MAKEFILE)
    fresh.shop.workflow("theirs", PLAIN)
    said = fresh.init().output
    follow(
        typed_in(fresh), said, "{} {} not trusted yet: handrail trust . shows what to review", code=3, shows="theirs"
    )
    follow(says_yes(typed_in(fresh)), said, "handrail trust .", shows="rusted")


def test_a_changed_configuration_is_trusted_again(fresh: Fresh) -> None:
    fresh.commit(Makefile=MAKEFILE)
    fresh.init()
    fresh.shop.workflow("plain", PLAIN)
    fresh.shop.call("trust", "plain", "--yes")
    fresh.shop.write(".handrail/config.toml", fresh.config() + "\n")
    fresh.commit()
    follow(
        says_yes(typed_in(fresh)),
        fresh.config(),
        "# How Handrail works in this repository. Written by `handrail init`; edit it as you like.\n"
        "# After a change: handrail trust .handrail/config.toml",
        at=1,
        shows="rusted",
    )
    follow(
        says_yes(typed_in(fresh)),
        fresh.config(),
        "# How Handrail works in this repository. Written by `handrail init`; edit it as you like.\n"
        "# After a change: handrail trust .handrail/config.toml",
        shows="Checks",
    )


@pytest.mark.parametrize(("text", "command"), [(NEEDS, "checks"), (ONE, "outdated")])
def test_what_a_workflow_needs_is_found_by_init(fresh: Fresh, text: str, command: str) -> None:
    fresh.commit(Makefile=MAKEFILE)
    fresh.shop.workflow("needs", text)
    fresh.shop.call("trust", "needs", "--yes")
    said = fresh.shop.call("run", "needs").output
    assert command in said
    if command == "checks":
        follow(
            says_yes(typed_in(fresh)),
            said,
            "handrail init finds them for most projects; or write into {}:",
            shows="make test",
        )
    else:
        follow(
            says_yes(typed_in(fresh)),
            said,
            "handrail init finds it for most projects; or write into {}:",
            shows="Wrote",
        )


def query(runs: Runs, statement: str) -> None:
    connection = sqlite3.connect(runs.shop.home / "data" / "handrail.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def asked(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)


BROKEN = "UPDATE events SET payload = X'7b' WHERE seq = (SELECT max(seq) FROM events)"


def test_a_damaged_history_names_its_repair(runs: Runs) -> None:
    asked(runs)
    query(runs, BROKEN)
    follow(
        in_process(runs),
        runs.call("show", "ask-1").output,
        "run `handrail doctor --repair`: it keeps a copy of the file and recovers every intact event",
        shows="truncated ask-1 to 3 events, 1 set aside",
    )


def test_doctor_names_the_repair_and_then_the_status(runs: Runs) -> None:
    asked(runs)
    query(runs, BROKEN)
    done = follow(in_process(runs), runs.call("doctor").output, "handrail doctor --repair", shows="1 set aside")
    follow(in_process(runs), done.text, "handrail status", shows="ask-1")


def test_status_names_the_repair_of_a_run(runs: Runs) -> None:
    asked(runs)
    before = runs.text("status")
    query(runs, "UPDATE streams SET document = replace(document, 'ask', CAST(x'ff' AS TEXT))")
    follow(in_process(runs), runs.text("status"), "handrail doctor {} --repair", shows="log ")
    assert runs.text("status") == before


def test_a_damaged_run_that_was_stopped_is_discarded(team: Team) -> None:
    team.add("ask", ASKING)
    team.run("ask", code=3)
    query(team.runs, BROKEN)
    said = team.text("stop", "ask-1")
    follow(
        in_process(team.runs), said, "handrail discard {}, which keeps a backup ref of its files", shows="Kept under"
    )


def test_many_runs_are_listed_with_all(runs: Runs) -> None:
    runs.add("plain", PLAIN)
    for _ in range(11):
        runs.text("run", "plain")
    follow(in_process(runs), runs.text("status"), "and {} more: handrail status{} --all", shows="plain-1 ")
    newest = runs.text("status", "-n", "2")
    follow(in_process(runs), newest, "older: handrail status{} -n {} --before {}", shows="plain-9 ")
    nothing = runs.text("status", "--workflow", "other")
    follow(in_process(runs), nothing, "no run matches; handrail status shows all", shows="plain-11 ")


def test_a_folder_of_skills_is_named(runs: Runs, tmp_path: Path) -> None:
    said = runs.call("connect", "cursor", "--skill").output
    follow(
        in_process(runs),
        said,
        "handrail connect --skill DIR, with the folder where {} looks for them",
        fill={"DIR": f"{tmp_path}/skills --yes"},
        shows="skills",
    )
    assert (tmp_path / "skills").is_dir()
