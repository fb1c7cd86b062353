"""The next steps of commands that look at a run's work, keep it or let go of it, typed as printed."""

import shutil
from pathlib import Path

import pytest

from support.cli.running import ASKING, Runs
from support.cli.team import Team
from support.next_steps.follow import follow, in_process

pytestmark = pytest.mark.system  # takes long: many processes of its own

EDITS = "name: NAME\nsteps:\n  - {name: edit, command: 'echo changed > app.txt'}\n"
ASKS = EDITS + "  - {name: ok, type: approval, message: Go?, show: [diff]}\n  - {name: last, command: 'echo last'}\n"
LONG = ASKS.replace("echo changed", "seq 5000").replace("[diff]", "[steps.edit.diff]")
OPENS = EDITS + "  - {name: pr, type: pull-request, title: Change it}\n"
AGENT = "name: NAME\nsteps:\n  - {name: work, prompt: Do the work., agent: scripted}\n  - {name: x, command: 'true'}\n"
PARENT = (
    "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: ask}\n  - {name: after, command: 'echo after'}\n"
)
KID = "name: NAME\nsteps:\n  - {name: one, command: 'test -e go'}\n  - {name: two, command: 'echo two'}\n"


def edited(team: Team, name: str = "edits", text: str = EDITS, code: int = 0) -> str:
    team.add(name, text)
    return team.run(name, code=code)


def test_a_run_that_ended_names_how_its_changes_are_looked_at(team: Team) -> None:
    follow(
        in_process(team.runs), edited(team), "handrail diff {} --stat, then apply, merge or discard it", shows="app.txt"
    )


def test_a_pull_request_without_a_remote_is_merged(team: Team) -> None:
    said = edited(team, "opens", OPENS)
    follow(in_process(team.runs), said, "handrail merge {}", shows="Merged")
    assert team.read("app.txt") == "changed\n"


def test_nothing_that_was_applied_is_looked_at_first(team: Team) -> None:
    edited(team)
    said = team.text("apply", "edits-1", "--undo", code=2)
    follow(in_process(team.runs), said, "handrail diff {}", shows="+changed")


def test_apply_asks_which_run(team: Team) -> None:
    edited(team)
    which, undo = team.text("apply", code=2), team.text("apply", "--undo", code=2)
    run = {"RUN": "edits-1"}
    follow(in_process(team.runs), which, "handrail apply RUN, or handrail apply --undo", fill=run, shows="Applied")
    follow(
        in_process(team.runs), which, "handrail apply RUN, or handrail apply --undo", at=1, shows="Undid the changes"
    )
    follow(in_process(team.runs), undo, "handrail apply RUN", fill=run, shows="Applied")


def test_the_rest_of_a_long_difference_is_shown_by_the_command_below_it(team: Team) -> None:
    edited(team, "asks", LONG, code=3)
    follow(in_process(team.runs), team.text("show", "asks-1"), "handrail diff {} {}", shows="+4999")


def test_a_stopped_run_leads_to_why(team: Team) -> None:
    edited(team, "asks", ASKS, code=3)
    team.text("stop", "asks-1")
    follow(in_process(team.runs), team.text("status"), "handrail why {}", shows="edit")


@pytest.mark.parametrize(
    "words", [("show", "edits-1", "edit", "--transcript"), ("show", "edits-1", "edit", "--prompt")]
)
def test_a_step_without_an_agent_is_shown_as_it_is(team: Team, words: tuple[str, ...]) -> None:
    edited(team)
    follow(in_process(team.runs), team.text(*words, code=2), "handrail show {} {}", shows="edit")


def test_prompt_and_transcript_are_those_of_a_step(team: Team) -> None:
    team.add("agent", AGENT, default={"say": "Done so.", "repeat": True})
    team.run("agent")
    step = {"STEP": "work"}
    said = team.text("show", "agent-1", "--prompt", code=2)
    follow(in_process(team.runs), said, "handrail show {} STEP --prompt", fill=step, shows="Do the work.")
    said = team.text("show", "agent-1", "--transcript", code=2)
    follow(in_process(team.runs), said, "handrail show {} STEP --transcript", fill=step, shows="Done so.")


def test_compare_asks_for_two_runs(team: Team) -> None:
    edited(team)
    team.run("edits")
    said = team.text("compare", "edits-1", code=2)
    follow(
        in_process(team.runs), said, "handrail compare RUN RUN", fill={"RUN RUN": "edits-1 edits-2"}, shows="edits-2"
    )


def test_a_step_of_a_called_workflow_goes_back_with_its_caller(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    said = runs.text("rewind", "parent-1", "kid/draft", code=2)
    follow(in_process(runs), said, "handrail {} {}{}", code=3, shows="draft")
    runs.text("approve", "parent-1")
    said = runs.text("rewind", "parent-1", "kid/draft", code=2)
    follow(in_process(runs), said, "handrail rewind {} {}, which starts all of it over", code=3, shows="needs you")


def test_a_failed_step_of_a_called_workflow_goes_on_with_its_caller(runs: Runs) -> None:
    runs.add("ask", KID)
    runs.add("parent", PARENT)
    runs.text("run", "parent", code=3)
    said = runs.text("rewind", "parent-1", "kid/one", code=2)
    runs.shop.write("go", "")
    follow(in_process(runs), said, "handrail resume {}, which starts over what failed", shows="parent-1 succeeded")


def test_an_imported_run_is_released_and_one_that_is_over_is_shown(team: Team, tmp_path: Path) -> None:
    edited(team, "asks", ASKS, code=3)
    (tmp_path / "a.json").write_text(team.runs.call("export", "asks-1").stdout)
    said = team.text("import-run", str(tmp_path / "a.json"))
    asked = follow(in_process(team.runs), said, "handrail {} {}", code=3, shows="asks-2")
    follow(in_process(team.runs), asked.text, "handrail release {} --yes", code=3, shows="needs you")


def test_an_imported_run_that_is_over_is_copied(team: Team, tmp_path: Path) -> None:
    edited(team)
    (tmp_path / "a.json").write_text(team.runs.call("export", "edits-1").stdout)
    follow(in_process(team.runs), team.text("import-run", str(tmp_path / "a.json")), "handrail {} {}", shows="edits-2")
    said = team.text("diff", "edits-2", code=2)
    follow(in_process(team.runs), said, "handrail fork {}{}, then release the copy", shows="edits-3 is a copy")
    assert "edits-3" in team.runs.call("release", "edits-3", "--yes").output


def test_a_file_that_is_no_bundle_is_exported_again(team: Team, tmp_path: Path) -> None:
    edited(team)
    (tmp_path / "a.json").write_text("{}")
    said = team.text("import-run", str(tmp_path / "a.json"), code=2)
    follow(in_process(team.runs), said, "export the run again: handrail export RUN", fill={"RUN": "edits-1"}, shows="{")


def test_an_imported_run_is_released_in_a_checkout(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(team, "asks", ASKS, code=3)
    (tmp_path / "a.json").write_text(team.runs.call("export", "asks-1").stdout)
    team.text("import-run", str(tmp_path / "a.json"))
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    said = team.runs.call("release", "asks-2", "--yes").output
    monkeypatch.chdir(team.root)
    follow(in_process(team.runs), said, "go to a checkout of it, then: handrail release {}", code=3, shows="asks-2")


def test_a_run_whose_repository_is_gone_is_set_aside(team: Team) -> None:
    edited(team)
    shutil.move(team.root / ".git", team.root.parent / "elsewhere.git")
    said = team.runs.call("discard", "edits-1").output
    follow(
        in_process(team.runs),
        said,
        "put it back, then try again; or: handrail discard {} --set-aside, which leaves the files in a folder",
        shows="edits-1",
    )


def test_the_changed_settings_of_git_are_accepted_or_undone(team: Team) -> None:
    edited(team)
    team.git("config", "core.fsmonitor", "/bin/true")
    said = team.runs.call("merge", "edits-1").output
    follow(
        in_process(team.runs),
        said,
        "check them in {} and undo them, or: handrail {} {} --accept-git-changes",
        shows="Merged",
    )
