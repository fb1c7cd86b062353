"""A step that makes the person's own git start programs later is noticed before its work is delivered."""

import json

from support.security.black_box import Answer, BlackBox

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
    run(box, "git commit -qam Work; git push -qu origin HEAD; git branch other; git branch -qt third other; git tag v1")
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
    run(
        box,
        "git config http.extraHeader 'Authorization: hunter2'; git config remote.x.url https://ann:hunter2@example.org",
    )
    refused = box.call("apply", "work-1")
    assert "http.extraheader" in refused.text
    assert "remote.x.url" in refused.text
    assert "hunter2" not in refused.text
