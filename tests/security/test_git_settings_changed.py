"""A step that makes the person's own git start programs later is noticed before its work is delivered."""

import json

import pytest

from support.security.black_box import Answer, BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORK = "name: work\nsteps:\n  - {name: work, prompt: 'Do the work, please'}\n"
CHANGE = "date +%N >> app.txt"
GIT_FOLDER = 'd="$(git rev-parse --git-common-dir)"'

ATTACKS = {
    "core.sshcommand": "git config core.sshCommand ./evil",
    "filter.evil.clean": "git config filter.evil.clean ./evil",
    "include.path": f"{GIT_FOLDER}; echo '[core]' > \"$d/more\"; git config include.path more",
    "core.pager": "git config extensions.worktreeConfig true; git config --worktree core.pager ./evil",
    "hook pre-commit": f'{GIT_FOLDER}; mkdir -p "$d/hooks"; echo x > "$d/hooks/pre-commit"',
    "info/attributes": f'{GIT_FOLDER}; mkdir -p "$d/info"; echo "* filter=lfs" >> "$d/info/attributes"',
}


def run(box: BlackBox, script: str) -> Answer:
    """Let an agent run shell commands in its step."""
    box.write_own("workflows/work/workflow.yaml", WORK)
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"run": f"{CHANGE}; {script}", "repeat": True}}))
    done = box.call("run", "work", "--agent", "scripted", "--script", str(given))
    assert done.exit_code == 0, done.text
    return done


def test_apply_names_what_changed_and_waits_for_a_person(box: BlackBox) -> None:
    run(box, "; ".join(ATTACKS.values()))
    refused = box.call("apply", "work-1")
    assert refused.exit_code == 3, refused.text
    assert [name for name in ATTACKS if name not in refused.text] == []
    assert "changed since the run was set up" in refused.text
    assert (box.repository / "app.txt").read_text() == "one\ntwo\n"


def test_a_person_accepts_the_changes_once(box: BlackBox) -> None:
    run(box, ATTACKS["core.sshcommand"])
    assert box.call("apply", "work-1").exit_code == 3
    assert box.call("apply", "work-1", "--accept-git-changes").exit_code == 0
    assert box.call("apply", "--undo").exit_code == 0
    assert box.call("apply", "work-1").exit_code == 0
    box.git("config", "core.editor", "./evil")
    assert "core.editor" in box.call("apply", "work-1").text


def test_merge_is_refused_before_anything_is_committed(box: BlackBox) -> None:
    run(box, ATTACKS["filter.evil.clean"])
    before = box.git("for-each-ref", "refs/heads")
    box.git("switch", "-qc", "elsewhere")
    refused = box.call("merge", "work-1")
    assert refused.exit_code == 3, refused.text
    assert "filter.evil.clean = ./evil (new)" in refused.text
    assert box.git("for-each-ref", "refs/heads/main", "refs/heads/work") == before
    accepted = box.call("merge", "work-1", "--accept-git-changes")
    assert accepted.exit_code == 0, accepted.text


def test_ordinary_work_with_git_needs_nobody(box: BlackBox) -> None:
    box.git("init", "-q", "--bare", str(box.base / "origin.git"))
    box.git("remote", "add", "origin", str(box.base / "origin.git"))
    run(
        box,
        "git commit -qam Work; git push -qu origin HEAD; git branch other; git branch -qt third other; git tag v1;"
        " git remote add fork https://example.org/fork; git push -q origin v1",
    )
    assert "git start programs" not in box.call("status").text
    applied = box.call("apply", "work-1")
    assert applied.exit_code == 0, applied.text


def test_what_the_set_up_configures_is_known(box: BlackBox) -> None:
    box.write(".handrail/config.toml", '[worktrees]\nsetup = ["git config core.hooksPath .husky"]\n')
    box.commit()
    assert box.call("trust", "--yes", ".").exit_code == 0
    run(box, "true")
    assert box.git("config", "core.hooksPath") == ".husky"
    assert box.call("apply", "work-1").exit_code == 0


def test_values_that_may_be_secret_are_not_shown(box: BlackBox) -> None:
    box.git("remote", "add", "origin", "https://example.org/shop")
    address = "git config remote.origin.url https://ann:hunter2@example.org"
    run(box, f"git config http.extraHeader 'Authorization: hunter2'; {address}")
    refused = box.call("apply", "work-1")
    assert "http.extraheader" in refused.text
    assert "remote.origin.url" in refused.text
    assert "hunter2" not in refused.text


ASKED = """
name: work
steps:
  - {name: work, prompt: 'Do the work, please'}
  - {name: ship, type: approval, message: 'Ship it?'}
"""
TOLD = "git settings of the repository that start programs were changed and not yet accepted"


def ask(box: BlackBox, script: str, workflow: str = ASKED) -> Answer:
    """Let an agent run shell commands in a step before an approval."""
    box.write_own("workflows/work/workflow.yaml", workflow)
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"run": f"{CHANGE}; {script}", "repeat": True}}))
    asked = box.call("run", "work", "--agent", "scripted", "--script", str(given))
    assert asked.exit_code == 3, asked.text
    return asked


def test_it_is_said_right_after_the_step_wherever_the_run_is_shown(box: BlackBox) -> None:
    said = ask(box, "; ".join(ATTACKS.values()))
    assert TOLD in said.text
    for words in (["status"], ["status", "work-1"], ["why", "work-1"], ["logs", "work-1"], ["inbox"]):
        shown = " ".join(box.call(*words).text.split())
        assert TOLD in shown, words
        assert "core.sshcommand" in shown or "core.pager" in shown, words
    shown = box.call("show", "work-1").text
    assert [name for name in ATTACKS if f"git        {name}" not in shown] == []


def test_an_approval_names_it_for_programs_too(box: BlackBox) -> None:
    ask(box, ATTACKS["core.sshcommand"])
    inbox = json.loads(box.call("inbox", "--json").text)
    assert inbox["inbox"][0]["says"].splitlines() == ["Ship it?", f"{TOLD}: core.sshcommand = ./evil (new)"]
    assert inbox.get("notices") == [{"run": "work-1", "says": f"{TOLD}: core.sshcommand = ./evil (new)"}]
    assert json.loads(box.call("show", "work-1", "--json").text)["git_changes"] == ["core.sshcommand = ./evil (new)"]


def test_an_approval_of_a_run_names_what_a_workflow_changed_that_it_called(box: BlackBox) -> None:
    box.write_own("workflows/inner/workflow.yaml", WORK.replace("name: work\nsteps", "name: inner\nsteps"))
    ask(box, ATTACKS["core.sshcommand"], ASKED.replace("prompt: 'Do the work, please'", "workflow: inner"))
    assert "core.sshcommand" in json.loads(box.call("inbox", "--json").text)["inbox"][0]["says"]


def test_a_step_that_does_not_touch_them_is_not_blamed(box: BlackBox) -> None:
    ask(box, "git commit -qam Work")
    assert "git start programs" not in "".join(box.call(*words).text for words in (["status"], ["why", "work-1"]))
    assert json.loads(box.call("inbox", "--json").text).get("notices") == []


def test_once_a_person_accepted_it_nothing_says_it_any_more(box: BlackBox) -> None:
    ask(box, ATTACKS["core.sshcommand"])
    assert box.call("apply", "work-1", "--accept-git-changes").exit_code == 0
    assert "git start programs" not in box.call("status").text
    assert "git_changes" not in json.loads(box.call("show", "work-1", "--json").text)


def test_a_later_run_does_not_take_for_known_what_nobody_accepted(box: BlackBox) -> None:
    run(box, ATTACKS["core.sshcommand"])
    assert box.call("discard", "work-1").exit_code == 0
    asked = ask(box, "true")
    assert "core.sshcommand" in asked.text
    refused = box.call("apply", "work-2")
    assert (refused.exit_code, "core.sshcommand" in refused.text) == (3, True)
    assert box.call("apply", "work-2", "--accept-git-changes").exit_code == 0
    assert box.call("apply", "--undo").exit_code == 0
    run(box, "true")
    assert box.call("apply", "work-3").exit_code == 0


def test_a_step_that_leads_git_elsewhere_for_its_settings_is_stopped_at(box: BlackBox) -> None:
    asked = ask(box, f'{GIT_FOLDER}; cp -r "$d" ../other; echo "$PWD/../other" > "$d/commondir"')
    assert "makes git read its settings and hooks from elsewhere" in asked.text
    (box.repository / ".git/commondir").unlink()
    resumed = box.call("resume", "work-1")
    assert "needs you: Ship it?" in resumed.text


def test_a_secret_that_a_filter_of_the_repository_would_encrypt_reaches_no_branch(box: BlackBox) -> None:
    box.git("config", "filter.crypt.clean", "tr a-z n-za-m")
    box.write(".gitattributes", "*.key filter=crypt\n")
    box.commit()
    said = run(box, "echo hunter > new.key")
    assert "the filter 'crypt' (*.key) is configured only in the repository" in said.text
    assert "git config --global filter.crypt.clean" in box.call("show", "work-1").text
    box.git("switch", "-qc", "elsewhere")
    for words in (["merge", "work-1"], ["apply", "work-1"]):
        refused = box.call(*words)
        assert refused.exit_code != 0, refused.text
        assert "new.key in" in refused.text
        assert "unfiltered" in refused.text
    assert "new.key" not in box.git("log", "--branches", "--format=", "--name-only")
    assert not (box.repository / "new.key").exists()


def test_in_a_checkout_of_the_person_it_is_said_too(box: BlackBox) -> None:
    box.write_own("workflows/work/workflow.yaml", ASKED)
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"run": ATTACKS["core.sshcommand"], "repeat": True}}))
    asked = box.call("run", "work", "--in", str(box.repository), "--agent", "scripted", "--script", str(given))
    assert (asked.exit_code, TOLD in asked.text) == (3, True), asked.text
