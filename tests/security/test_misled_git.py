"""What leads git elsewhere changes nothing there: a `.git` of another folder, forged histories, variables, links."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from support.security.black_box import Answer, BlackBox
from support.security.forged_graph import forge_graph

pytestmark = pytest.mark.system  # takes long: many processes of its own


def start(box: BlackBox, *commands: str) -> Answer:
    """Run a workflow of the person's own, each step of which is a command."""
    steps = "".join(f"  - {{name: s{number}, command: {json.dumps(each)}}}\n" for number, each in enumerate(commands))
    box.write_own("workflows/w/workflow.yaml", f"name: w\nsteps:\n{steps}")
    return box.call("run", "w")


def workspace_of(box: BlackBox) -> Path:
    return Path(box.call("show", "w-1", "--json").document["workspace"])


def state_of(box: BlackBox, *folders: Path) -> list[str]:
    """What git says of some checkouts, and what their indexes hold."""
    looks = (("status", "--porcelain", "-b"), ("ls-files", "-s"), ("rev-parse", "HEAD"))
    return [box.git(*words, cwd=folder) for folder in folders for words in looks]


# a worktree that claims to be another ---------------------------------------------------------------------------

LED = {
    "a file that names the user's worktree": "echo 'gitdir: {repo}/.git/worktrees/linked' > .git",
    "a file that names the user's checkout": "echo 'gitdir: {repo}/.git' > .git",
    "a link to the folder of the user's worktree": "rm .git; ln -s {repo}/.git/worktrees/linked .git",
    "a link to the file of the user's worktree": "rm .git; ln -s {base}/linked/.git .git",
    "a link to the user's checkout": "rm .git; ln -s {repo}/.git .git",
}
MUCH = ("a file that names the user's checkout", "a link to the user's checkout")


@pytest.mark.parametrize("how", [pytest.param(each, marks=pytest.mark.system if each in MUCH else ()) for each in LED])
def test_a_worktree_that_leads_git_to_the_users_own_is_left_alone(box: BlackBox, how: str) -> None:
    linked = box.base / "linked"
    box.git("worktree", "add", "-q", "-b", "mine", str(linked))
    (linked / "uncommitted.txt").write_text("mine")
    box.write("staged.txt", "mine")
    box.git("add", "staged.txt")
    before = state_of(box, box.repository, linked)
    answer = start(box, "echo x > x.txt", LED[how].format(repo=box.repository, base=box.base), "true")
    assert answer.exit_code == 3, answer.text
    assert "not the git folder that was created for this worktree" in answer.text, answer.text
    assert "commondir" not in answer.text, answer.text
    tree = workspace_of(box)
    entry = box.repository / ".git/worktrees/w-1"
    assert f"rm {tree}/.git; echo 'gitdir: {entry}' > {tree}/.git" in answer.text, answer.text
    for words in ("rewind w-1 s1", "rewind w-1 s0", "apply w-1", "merge w-1", "discard w-1", "clean"):
        box.call(*words.split())
        assert state_of(box, box.repository, linked) == before, words
    assert (linked / "uncommitted.txt").read_text() == "mine"
    assert (box.repository / "staged.txt").read_text() == "mine"


def test_what_a_step_did_to_its_git_file_can_be_put_right(box: BlackBox) -> None:
    answer = start(box, "echo x > x.txt", f"echo 'gitdir: {box.repository}/.git' > .git")
    entry = box.repository / ".git/worktrees/w-1"
    assert f"echo 'gitdir: {entry}' > {workspace_of(box)}/.git" in answer.text
    (workspace_of(box) / ".git").write_text(f"gitdir: {entry}\n")
    assert [each["path"] for each in box.call("diff", "w-1", "--json").document["files"]] == ["x.txt"]
    assert box.call("discard", "w-1").exit_code == 0
    assert box.git("show", "refs/handrail/w-1:x.txt") == "x"


# histories that lie ----------------------------------------------------------------------------------------------


def test_a_forged_commit_graph_does_not_make_work_look_merged(box: BlackBox) -> None:
    box.write("second.txt", "second\n")
    box.commit()
    assert start(box, "echo work > work.txt; git add -A; git commit -qm work").exit_code == 0
    line = tuple(box.git("rev-parse", name) for name in ("main", "main~1", "work/w-1"))
    trees = {commit: box.git("rev-parse", f"{commit}^{{tree}}") for commit in line}
    forge_graph(box.repository / ".git/objects", trees, line)
    assert "work/w-1" in box.git("branch", "--merged", "main"), "git itself believes it"
    tree = workspace_of(box)
    box.call("clean")
    assert tree.is_dir()
    box.git("switch", "-qc", "elsewhere")
    merged = box.call("merge", "w-1")
    assert merged.exit_code == 0, merged.text
    assert box.git("-c", "core.commitGraph=false", "show", "main:work.txt") == "work"


def test_replaced_objects_and_grafts_hide_no_change(box: BlackBox) -> None:
    box.write("tests/t.py", "assert False\n")
    box.commit()
    script = (
        "old=$(git rev-parse HEAD:tests/t.py); before=$(git rev-parse HEAD); echo 'assert True' > tests/t.py;"
        " git replace -f $old $(git hash-object -w tests/t.py); git add -A; git commit -qm x;"
        " git replace -f $before HEAD; info=$(git rev-parse --git-common-dir)/info; mkdir -p $info;"
        " git rev-parse HEAD > $info/grafts"
    )
    step = "{name: a, agent: scripted, prompt: Do it now., done_when: [{unchanged: 'tests/**'}]}"
    box.write_own("workflows/w/workflow.yaml", f"name: w\nsteps:\n  - {step}\n")
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"run": script, "repeat": True}}))
    assert box.call("run", "w", "--script", str(given)).exit_code != 0
    assert "+assert True" in box.call("diff", "w-1").out


# where git is told to work ---------------------------------------------------------------------------------------


@pytest.mark.system
def test_variables_of_git_in_the_callers_environment_change_nothing(box: BlackBox) -> None:
    victim = box.base / "victim"
    box.git("clone", "-q", str(box.repository), str(victim))
    program = box.base / "evil"
    program.write_text(f"#!/bin/sh\n{box.mark('variable')}\ncat\n")
    program.chmod(0o755)
    settings = {"core.fsmonitor": str(program), "filter.x.clean": str(program), "diff.external": str(program)}
    box.write(".gitattributes", "* filter=x\n")
    box.commit()
    environ = {
        "GIT_DIR": f"{victim}/.git",
        "GIT_WORK_TREE": str(victim),
        "GIT_COMMON_DIR": f"{victim}/.git",
        "GIT_INDEX_FILE": f"{box.repository}/.git/index",
        "GIT_OBJECT_DIRECTORY": f"{victim}/.git/objects",
        **dict.fromkeys(("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_PAGER"), str(program)),
        "GIT_NAMESPACE": "ns",
        "GIT_PREFIX": "sub/",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_REPLACE_REF_BASE": "refs/x/",
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(settings.values())},
    }
    called = replace(box, environ=environ)
    before = state_of(box, box.repository, victim)
    work = "git rev-parse --show-toplevel > top.txt; git add -A; git commit -qm agent; echo three >> app.txt"
    box.write_own("workflows/w/workflow.yaml", f"name: w\nsteps: [{{name: a, command: {json.dumps(work)}}}]\n")
    for words in ("run w", "diff w-1", "apply w-1", "apply w-1 --undo"):
        answer = called.call(*words.split())
        assert (answer.exit_code, box.traces()) == (0, []), answer.text
    assert state_of(box, box.repository, victim) == before
    tree = workspace_of(box)
    assert (tree / "top.txt").read_text().strip() == str(tree)
    assert (called.call("discard", "w-1").exit_code, box.traces()) == (0, [])


@pytest.mark.system
def test_a_checkout_whose_settings_name_another_folder_gets_its_own_files(box: BlackBox) -> None:
    victim = box.base / "victim"
    victim.mkdir()
    (victim / "app.txt").write_text("mine\n")
    box.git("config", "core.worktree", str(victim))
    start(box, "echo three >> app.txt; echo new > new.txt")
    for words in ("apply w-1", "apply w-1 --undo", "discard w-1"):
        box.call(*words.split())
        assert {path.name: path.read_text() for path in victim.iterdir()} == {"app.txt": "mine\n"}, words


# links -----------------------------------------------------------------------------------------------------------


def test_nothing_is_written_through_a_link_that_took_a_folders_place(box: BlackBox) -> None:
    outside = box.base / "outside"
    outside.mkdir()
    (outside / "d.txt").write_text("mine\n")
    box.write("deep/d.txt", "old\n")
    box.commit()
    work = f"rm -r deep; ln -s {outside} deep"
    assert start(box, "echo one > deep/d.txt; mkdir fresh; echo f > fresh/f.txt", work).exit_code == 0
    assert box.call("rewind", "w-1", "s1").exit_code == 0
    assert box.call("rewind", "w-1", "s0").exit_code == 0
    assert box.call("apply", "w-1").exit_code == 0
    assert box.call("apply", "w-1", "--undo").exit_code == 0
    assert (box.repository / "deep/d.txt").read_text() == "old\n"
    shutil.rmtree(box.repository / "deep")
    for name in ("deep", "fresh"):
        (box.repository / name).symlink_to(outside)
    box.call("apply", "w-1")
    box.call("apply", "w-1", "--undo")
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"d.txt": "mine\n"}


@pytest.mark.system
def test_a_link_in_the_place_of_a_worktree_leads_to_nothing_that_is_changed(box: BlackBox) -> None:
    victim = box.base / "victim"
    box.git("clone", "-q", str(box.repository), str(victim))
    (victim / "uncommitted.txt").write_text("mine")
    assert start(box, "echo x > x.txt").exit_code == 0
    tree = workspace_of(box)
    tree.rename(box.base / "moved")
    tree.symlink_to(victim)
    before = state_of(box, victim)
    for words in ("diff w-1", "rewind w-1 s0", "merge w-1", "discard w-1", "clean"):
        box.call(*words.split())
        assert state_of(box, victim) == before, words
    assert (victim / "uncommitted.txt").read_text() == "mine"
