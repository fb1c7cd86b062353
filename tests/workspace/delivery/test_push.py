"""A run's branch is pushed with the user's git; what others pushed is built upon and never overwritten."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from handrail.errors import PushRefused, WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.ports.delivery import PushConflict, Pushed, PushRequest
from handrail.processes.process_table import is_alive
from handrail.workspace.delivery.remote_git import RemoteGit
from support.cli.running import until
from support.workspace.git_room import GitRoom, commit, fill, git

REQUEST = PushRequest(branch="work/r1", remote="origin", message="Merge what was pushed")


@pytest.fixture
def remote(shop: GitRoom) -> Path:
    folder = shop.root / "remote.git"
    git(shop.root, "init", "-q", "--bare", "-b", "main", str(folder))
    git(shop.repo, "remote", "add", "origin", folder.as_uri())
    git(shop.repo, "push", "-q", "origin", "main")
    return folder


def work(shop: GitRoom, text: str = "one\n", run: str = "r1") -> Tree:
    """Let a run write a file and commit it."""
    tree, path = shop.prepare(run)
    fill(path, {"new.txt": text})
    shop.spaces.commit(tree, f"Write {text.strip()}")
    return tree


def person(shop: GitRoom, branch: str = "work/r1", **files: str) -> str:
    """Let a person push to the branch from a clone of theirs."""
    clone = shop.root / "clone"
    if not clone.exists():
        git(shop.root, "clone", "-q", str(shop.root / "remote.git"), str(clone))
    git(clone, "fetch", "-q")
    git(clone, "checkout", "-q", "-B", branch, f"origin/{branch}")
    new = commit(clone, "from a person", **files)
    git(clone, "push", "-q", "origin", branch)
    return new


def head(where: Path, ref: str = "work/r1") -> str:
    return git(where, "rev-parse", ref)


def test_a_branch_is_created_moved_forward_and_left_alone(shop: GitRoom, remote: Path) -> None:
    tree = work(shop)
    first = shop.spaces.push(tree, REQUEST)
    assert first == Pushed(commit=head(shop.repo), how="created")
    fill(Path(tree.path), {"more.txt": "more\n"})
    shop.spaces.commit(tree, "More")
    second = shop.spaces.push(tree, REQUEST)
    assert second == Pushed(commit=head(shop.repo), previous=first.commit, how="moved")
    assert shop.spaces.push(tree, REQUEST) == Pushed(commit=second.commit, previous=second.commit, how="unchanged")
    assert head(remote) == second.commit


def test_the_branch_can_have_another_name_at_the_remote(shop: GitRoom, remote: Path) -> None:
    shop.spaces.push(work(shop), replace(REQUEST, branch="work/nightly"))
    assert head(remote, "work/nightly") == head(shop.repo)
    assert git(remote, "for-each-ref", "refs/heads/work/r1") == ""


def test_what_a_person_pushed_is_fetched_and_built_upon(shop: GitRoom, remote: Path) -> None:
    tree = work(shop)
    shop.spaces.push(tree, REQUEST)
    theirs = person(shop, notes_md="by hand\n")
    fill(Path(tree.path), {"more.txt": "more\n"})
    shop.spaces.commit(tree, "More")
    pushed = shop.spaces.push(tree, replace(REQUEST, may_force=True))
    assert isinstance(pushed, Pushed)
    assert (pushed.how, pushed.merged) == ("moved", theirs)
    assert git(remote, "show", "work/r1:notes.md") == "by hand"
    assert git(remote, "show", "work/r1:more.txt") == "more"
    assert (Path(tree.path) / "notes.md").read_text() == "by hand\n"
    assert git(Path(tree.path), "status", "--porcelain") == ""


def test_a_conflict_with_a_person_changes_nothing(shop: GitRoom, remote: Path) -> None:
    tree = work(shop)
    shop.spaces.push(tree, REQUEST)
    theirs = person(shop, new_txt="theirs\n")
    fill(Path(tree.path), {"new.txt": "ours\n"})
    ours = shop.spaces.commit(tree, "Ours")
    found = shop.spaces.push(tree, replace(REQUEST, may_force=True))
    assert isinstance(found, PushConflict)
    assert (found.files, found.commit) == (("new.txt",), theirs)
    assert (head(remote), head(shop.repo)) == (theirs, ours)
    assert git(shop.repo, "cat-file", "-t", theirs) == "commit"


def test_what_we_pushed_ourselves_is_replaced_only_where_that_is_allowed(shop: GitRoom, remote: Path) -> None:
    tree = work(shop, "old\n")
    old = shop.spaces.push(tree, REQUEST)
    back_to_start(shop, tree, "new\n")
    kept = shop.spaces.push(tree, REQUEST)
    assert isinstance(kept, Pushed)
    assert (kept.how, kept.merged) == ("moved", "")
    assert git(remote, "show", "work/r1:new.txt") == "new"
    assert git(remote, "merge-base", "--is-ancestor", old.commit, "work/r1") == ""
    back_to_start(shop, tree, "newest\n")
    replaced = shop.spaces.push(tree, replace(REQUEST, may_force=True))
    assert isinstance(replaced, Pushed)
    assert (replaced.how, replaced.previous) == ("replaced", kept.commit)
    assert git(remote, "rev-list", "--count", "main..work/r1") == "1"


def back_to_start(shop: GitRoom, tree: Tree, text: str) -> None:
    """Let a run drop what it did, as a rewind does, and do something else."""
    git(Path(tree.path), "reset", "-q", "--hard", "main")
    fill(Path(tree.path), {"new.txt": text})
    shop.spaces.commit(tree, f"Write {text.strip()}")


def test_after_a_rewind_the_work_of_a_person_stays_and_the_dropped_work_does_not_return(
    shop: GitRoom, remote: Path
) -> None:
    tree = work(shop, "old\n")
    shop.spaces.push(tree, REQUEST)
    theirs = person(shop, notes_md="by hand\n")
    back_to_start(shop, tree, "new\n")
    pushed = shop.spaces.push(tree, replace(REQUEST, may_force=True))
    assert isinstance(pushed, Pushed)
    assert pushed.merged == theirs
    assert git(remote, "show", "work/r1:new.txt") == "new"
    assert git(remote, "show", "work/r1:notes.md") == "by hand"
    assert git(remote, "merge-base", "--is-ancestor", theirs, "work/r1") == ""


def test_somebody_who_pushes_before_every_push_of_ours_is_not_overtaken(
    shop: GitRoom, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = work(shop)
    shop.spaces.push(tree, REQUEST)
    fill(Path(tree.path), {"more.txt": "more\n"})
    shop.spaces.commit(tree, "More")
    plain, pushes = RemoteGit.find_branch, count(1)

    def find_after_a_push(reached: RemoteGit, branch: str) -> str:
        person(shop, notes_md=f"by hand {next(pushes)}\n")
        return plain(reached, branch)

    monkeypatch.setattr(RemoteGit, "find_branch", find_after_a_push)
    with pytest.raises(PushRefused, match="somebody else keeps pushing to work/r1"):
        shop.spaces.push(tree, REQUEST)
    assert git(remote, "log", "-1", "--format=%s", "work/r1") == "from a person"


def test_a_branch_is_built_upon_also_when_its_worktree_is_gone(shop: GitRoom, remote: Path) -> None:
    tree = work(shop)
    shop.spaces.push(tree, REQUEST)
    fill(Path(tree.path), {"more.txt": "more\n"})
    shop.spaces.commit(tree, "More")
    person(shop, notes_md="by hand\n")
    assert shop.spaces.release(tree, "r1")
    assert isinstance(shop.spaces.push(tree, REQUEST), Pushed)
    assert git(remote, "show", "work/r1:notes.md") == "by hand"
    assert git(remote, "show", "work/r1:more.txt") == "more"


def test_a_remote_that_refuses_is_quoted(shop: GitRoom, remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n")
    hook.chmod(0o755)
    tree = work(shop)
    with pytest.raises(PushRefused, match=r"refuses the branch: GH006: Protected branch update failed") as caught:
        shop.spaces.push(tree, REQUEST)
    assert (caught.value.exit_code, caught.value.next_step is not None) == (3, True)
    hook.unlink()
    assert isinstance(shop.spaces.push(tree, REQUEST), Pushed)


def test_a_remote_that_is_not_there_is_named_without_its_password(shop: GitRoom, remote: Path) -> None:
    del remote
    git(shop.repo, "remote", "set-url", "origin", "http://ann:hunter2@127.0.0.1:9/shop.git")
    with pytest.raises(PushRefused, match=r"http://127\.0\.0\.1:9/shop\.git cannot be reached") as caught:
        shop.spaces.push(work(shop), REQUEST)
    assert "hunter2" not in caught.value.message
    with pytest.raises(PushRefused, match="there is no remote 'other'"):
        shop.spaces.push(work(shop), replace(REQUEST, remote="other"))


def test_nothing_that_the_repository_configures_is_started(shop: GitRoom, remote: Path, tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho run >> {traces}\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-push").symlink_to(program)
    tree = work(shop)
    for key in ("core.sshCommand", "core.fsmonitor", "core.askPass", "credential.helper", "remote.origin.receivepack"):
        git(shop.repo, "config", key, str(program))
    git(shop.repo, "config", "core.hooksPath", str(hooks))
    git(shop.repo, "config", f"url.ext::{program}.insteadOf", remote.as_uri())
    assert isinstance(shop.spaces.push(tree, REQUEST), Pushed)
    assert not traces.exists()


def test_an_address_that_starts_a_program_is_refused(shop: GitRoom, remote: Path, tmp_path: Path) -> None:
    del remote
    git(shop.repo, "remote", "set-url", "origin", f"ext::sh -c touch% {tmp_path}/traces")
    with pytest.raises(PushRefused, match="only file, git, http, https and ssh are"):
        shop.spaces.push(work(shop), REQUEST)
    assert not (tmp_path / "traces").exists()


def test_addresses_are_rewritten_by_the_users_own_configuration(shop: GitRoom, remote: Path, git_home: Path) -> None:
    with (git_home / ".gitconfig").open("a") as file:
        file.write(f'[url "{remote.as_uri()}"]\n\tinsteadOf = shop:\n')
    git(shop.repo, "remote", "set-url", "origin", "shop:")
    assert isinstance(shop.spaces.push(work(shop), REQUEST), Pushed)
    assert head(remote) == head(shop.repo)


def test_a_forged_object_is_not_pushed(shop: GitRoom, remote: Path) -> None:
    tree = work(shop)
    blob = git(Path(tree.path), "rev-parse", "HEAD:new.txt")
    good = git(Path(tree.path), "hash-object", "-w", "--stdin", stdin=b"forged\n")
    objects = shop.repo / ".git" / "objects"
    target = objects / blob[:2] / blob[2:]
    target.chmod(0o644)
    target.write_bytes((objects / good[:2] / good[2:]).read_bytes())
    with pytest.raises(WorkspaceFault, match="does not match its name"):
        shop.spaces.push(tree, REQUEST)
    assert git(remote, "for-each-ref", "refs/heads/work") == ""


def test_a_request_shows_neither_its_token_nor_its_environment() -> None:
    shown = repr(replace(REQUEST, token="ghp_secret", variables={"A": "b"}))
    assert "ghp_secret" not in shown


PUSHER = """
import pickle, sys
from handrail.workspace.git_workspaces import GitWorkspaces
data, tree, request = pickle.load(sys.stdin.buffer)
GitWorkspaces(data).push(tree, request)
"""


@pytest.mark.system
@pytest.mark.parametrize(("hook", "how"), [("pre-receive", "created"), ("post-receive", "unchanged")])
def test_what_a_killed_push_left_behind_is_ended_and_its_outcome_looked_up(
    shop: GitRoom, remote: Path, hook: str, how: str
) -> None:
    git(remote, "config", "core.logAllRefUpdates", "true")
    program, begun = remote / "hooks" / hook, shop.root / "begun"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\nset -e\ntouch {begun}\nexec sleep 600\n")
    program.chmod(0o755)
    tree = work(shop)
    pusher = subprocess.Popen([sys.executable, "-c", PUSHER], stdin=subprocess.PIPE)
    assert pusher.stdin is not None
    pusher.stdin.write(pickle.dumps((shop.data, tree, REQUEST)))
    pusher.stdin.close()
    until(begun.exists)
    (record,) = shop.data.glob("indexes/*/push-*.json")
    orphan = json.loads(record.read_text())
    pusher.kill()
    pusher.wait()
    assert is_alive(orphan["pid"], orphan["born"])
    program.unlink()
    pushed = shop.spaces.push(tree, REQUEST)
    assert isinstance(pushed, Pushed)
    assert pushed.how == how
    assert not is_alive(orphan["pid"], orphan["born"])
    assert (remote / "logs/refs/heads/work/r1").read_text().count("\n") == 1
