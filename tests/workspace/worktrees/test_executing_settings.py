"""What makes git start programs, in every place where git looks for it; and what is nobody's business."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.model.history.trees import Tree
from support.workspace.git_room import GitRoom, commit, fill, git

KEYS = """
core.hooksPath core.sshCommand core.editor core.pager core.fsmonitor core.askPass core.gitProxy
core.attributesFile alias.st pager.log sequence.editor interactive.diffFilter filter.x.clean filter.x.smudge
filter.x.process merge.x.driver diff.external diff.x.command diff.x.textconv merge.tool mergetool.x.cmd
difftool.x.path gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand credential.helper
credential.https://e.org.helper include.path includeIf.onbranch:x.path url.a.insteadOf url.a.pushInsteadOf
http.proxy http.https://e.org.sslVerify protocol.ext.allow remote.origin.url remote.origin.pushurl
remote.origin.uploadpack remote.x.receivepack remote.x.vcs uploadpack.packObjectsHook submodule.x.update
trailer.x.command tar.x.command hook.x.command lfs.customtransfer.x.path lfs.url lfs.standalonetransferagent
"""
ORDINARY = (
    *(
        "branch.x.remote origin",
        "branch.x.merge refs/heads/x",
        "branch.y.remote .",
        "user.name Ann",
        "core.autocrlf true",
    ),
    *("remote.fork.url https://example.org/fork", "remote.fork.pushurl git@example.org:fork", "branch.z.remote fork"),
    *("submodule.x.active true", "lfs.repositoryformatversion 0", "pull.rebase true", "remote.origin.fetch +a:b"),
)


def begin(room: GitRoom, run: str = "r1") -> tuple[Tree, Path]:
    tree, path = room.prepare(run)
    room.spaces.record_settings(tree)
    return tree, path


def names(room: GitRoom, tree: Tree) -> list[str]:
    return [change.partition(" = ")[0].partition(" (")[0] for change in room.spaces.find_changed_settings(tree)]


def test_every_key_that_executes_is_seen(shop: GitRoom) -> None:
    git(shop.repo, "config", "remote.origin.url", "https://example.org/shop")
    tree, _ = begin(shop)
    keys = KEYS.split()
    for key in keys:
        git(shop.repo, "config", "--file", ".git/config", key, "./evil")
    found = {name.lower() for name in names(shop, tree)}
    assert {key.lower() for key in keys} - found == set()


def test_ordinary_settings_are_not(shop: GitRoom) -> None:
    tree, path = begin(shop)
    for line in ORDINARY:
        git(shop.repo, "config", *line.split(" ", 1))
    git(path, "switch", "-qc", "another")
    shop.prepare("r2")
    assert shop.spaces.find_changed_settings(tree) == ()


@pytest.mark.parametrize("key", ["branch.main.remote", "branch.main.pushRemote", "remote.pushDefault"])
def test_an_address_in_the_place_of_a_remote_is_seen(shop: GitRoom, key: str) -> None:
    tree, _ = begin(shop)
    git(shop.repo, "config", key, "ext::evil")
    assert names(shop, tree) == [key.lower()]


@pytest.mark.parametrize("url", ["ext::sh -c evil", "-evil"])
def test_a_new_remote_that_is_a_command_is_seen(shop: GitRoom, url: str) -> None:
    tree, _ = begin(shop)
    git(shop.repo, "config", "remote.x.url", url)
    assert names(shop, tree) == ["remote.x.url"]


def test_another_remote_for_a_branch_that_had_one_is_seen(shop: GitRoom) -> None:
    git(shop.repo, "config", "branch.main.remote", "origin")
    tree, _ = begin(shop)
    git(shop.repo, "config", "remote.x.url", "https://example.org/x")
    git(shop.repo, "config", "branch.main.remote", "x")
    assert names(shop, tree) == ["branch.main.remote"]
    git(shop.repo, "config", "--unset", "branch.main.remote")
    assert names(shop, tree) == []


def _hook(room: GitRoom, _: Path) -> None:
    fill(room.repo / ".git/hooks", {"post-commit": "x", "other.sample": "x"})


def _mode(room: GitRoom, _: Path) -> None:
    (room.repo / ".git/hooks/known").chmod(0o755)


def _tracked_hooks(_: GitRoom, path: Path) -> None:
    fill(path, {".githooks/pre-push": "evil"})


def _ignored_hooks(room: GitRoom, _: Path) -> None:
    fill(room.repo, {".githooks/_/h": "evil"})


def _include(room: GitRoom, _: Path) -> None:
    fill(room.repo / ".git", {"included": "[core]\n\tpager = evil\n"})


def _later(room: GitRoom, _: Path) -> None:
    fill(room.repo / ".git", {"later": "[core]\n\tpager = evil\n"})


def _checkouts_own(room: GitRoom, _: Path) -> None:
    git(room.repo, "config", "extensions.worktreeConfig", "true")
    git(room.repo, "config", "--worktree", "core.editor", "evil")


def _worktrees_own(room: GitRoom, path: Path) -> None:
    git(room.repo, "config", "extensions.worktreeConfig", "true")
    git(path, "config", "--worktree", "core.editor", "evil")


def _submodule(room: GitRoom, _: Path) -> None:
    git(room.repo / ".git/modules/sub", "config", "--file", "config", "core.fsmonitor", "evil")
    fill(room.repo / ".git/modules/sub/hooks", {"pre-commit": "evil"})


def _broken(room: GitRoom, _: Path) -> None:
    fill(room.repo / ".git", {"config": "[core\n"})


def _removed(room: GitRoom, _: Path) -> None:
    (room.repo / ".git/hooks/known").unlink()


PLACES: dict[str, tuple[Callable[[GitRoom, Path], None], list[str]]] = {
    "hook": (_hook, ["hook post-commit"]),
    "mode": (_mode, ["hook known"]),
    "removed": (_removed, ["hook known"]),
    "hooks in the work tree": (_tracked_hooks, ["hook .githooks/pre-push in the work tree"]),
    "hooks in the checkout": (_ignored_hooks, ["hook .githooks/_/h"]),
    "include": (_include, ["core.pager", "file of include.path included"]),
    "conditional include": (_later, ["file of includeif.onbranch:later.path later"]),
    "worktree of the user": (_checkouts_own, ["core.editor"]),
    "worktree of the run": (_worktrees_own, ["core.editor of worktree r1"]),
    "submodule": (_submodule, ["core.fsmonitor of submodule sub", "hook pre-commit of submodule sub"]),
}


@pytest.fixture
def rich(shop: GitRoom) -> GitRoom:
    """A repository that has something of each kind already."""
    commit(shop.repo, _githooks__pre_push="ok")
    git(shop.repo, "init", "-q", "--bare", ".git/modules/sub")
    fill(shop.repo / ".git", {"hooks/known": "x", "included": "[user]\n\tname = Ann\n"})
    git(shop.repo, "config", "include.path", "included")
    git(shop.repo, "config", "includeIf.onbranch:later.path", "later")
    git(shop.repo, "config", "core.hooksPath", ".githooks")
    return shop


@pytest.mark.parametrize("place", PLACES)
def test_every_place_is_looked_at(rich: GitRoom, place: str) -> None:
    tree, path = begin(rich)
    assert rich.spaces.find_changed_settings(tree) == ()
    change, expected = PLACES[place]
    change(rich, path)
    assert names(rich, tree) == expected
    rich.spaces.accept_settings(tree)
    assert rich.spaces.find_changed_settings(tree) == ()


def test_a_configuration_that_git_cannot_read_is_a_change(shop: GitRoom) -> None:
    tree, _ = begin(shop)
    _broken(shop, shop.repo)
    assert names(shop, tree) == ["configuration that git cannot read"]


def test_a_worktree_that_is_made_again_keeps_its_record(shop: GitRoom) -> None:
    tree, path = begin(shop)
    git(shop.repo, "config", "core.pager", "evil")
    path.rename(path.with_name("elsewhere"))
    begin(shop)
    assert shop.spaces.find_changed_settings(tree) == ("core.pager = evil (new)",)


def test_hooks_that_were_applied_are_known_and_others_are_not(rich: GitRoom) -> None:
    tree, _ = begin(rich)
    fill(rich.repo, {".githooks/applied": "a", ".githooks/other": "b"})
    rich.spaces.accept_settings(tree, [".githooks/applied"])
    assert names(rich, tree) == ["hook .githooks/other"]


def test_a_worktree_without_a_record_has_nothing_to_compare_with(shop: GitRoom) -> None:
    tree, _ = shop.prepare()
    git(shop.repo, "config", "core.pager", "evil")
    assert shop.spaces.find_changed_settings(tree) == ()
    shop.spaces.accept_settings(tree)
    assert shop.spaces.find_changed_settings(tree) == ()


@pytest.mark.parametrize("place", PLACES)
def test_a_look_after_a_step_sees_what_a_comparison_sees(rich: GitRoom, place: str) -> None:
    tree, path = begin(rich)
    assert rich.spaces.look_at_settings(tree) == ()
    PLACES[place][0](rich, path)
    assert rich.spaces.look_at_settings(tree) == rich.spaces.find_changed_settings(tree) != ()
    assert rich.spaces.look_at_settings(tree) == rich.spaces.find_changed_settings(tree)


def test_a_look_sees_a_file_that_was_rewritten_at_the_same_time_and_size(rich: GitRoom) -> None:
    tree, _ = begin(rich)
    hook = rich.repo / ".git/hooks/known"
    before = hook.stat()
    rich.spaces.look_at_settings(tree)
    hook.write_text("y")
    os.utime(hook, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert rich.spaces.look_at_settings(tree) == ("hook known (changed)",)


def test_a_look_starts_no_program_where_nothing_was_written(rich: GitRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, path = begin(rich)
    rich.spaces.look_at_settings(tree)
    fill(path, {"new.txt": "n"})
    git(path, "add", "-A")
    git(path, "commit", "-qm", "work")
    monkeypatch.setenv("PATH", "/nowhere")
    assert rich.spaces.look_at_settings(tree) == ()


def test_what_a_step_changed_and_nobody_accepted_is_no_known_setting_of_a_later_run(shop: GitRoom) -> None:
    git(shop.repo, "config", "core.editor", "vi")
    tree, _ = begin(shop)
    git(shop.repo, "config", "core.pager", "evil")
    git(shop.repo, "config", "--unset", "core.editor")
    found = ("core.editor (removed)", "core.pager = evil (new)")
    assert shop.spaces.look_at_settings(tree) == found
    later = begin(shop, "r2")[0]
    assert shop.spaces.find_changed_settings(later) == shop.spaces.look_at_settings(later) == found
    shop.spaces.accept_settings(later)
    assert shop.spaces.look_at_settings(later) == ()
    assert shop.spaces.look_at_settings(begin(shop, "r3")[0]) == ()


@pytest.mark.parametrize("borrowed", [False, True])
def test_a_step_whose_driver_died_is_looked_at_when_the_next_run_is_set_up(shop: GitRoom, *, borrowed: bool) -> None:
    tree = shop.borrowed() if borrowed else begin(shop)[0]
    shop.spaces.record_settings(tree)
    shop.spaces.note_step(tree)
    git(shop.repo, "config", "core.pager", "evil")
    later = tree if borrowed else begin(shop, "r2")[0]
    shop.spaces.record_settings(later)
    assert shop.spaces.look_at_settings(later) == ("core.pager = evil (new)",)


def test_what_a_person_changes_between_two_runs_is_known_to_the_second(shop: GitRoom) -> None:
    tree, _ = begin(shop)
    shop.spaces.note_step(tree)
    shop.spaces.look_at_settings(tree)
    git(shop.repo, "config", "core.pager", "less")
    assert shop.spaces.look_at_settings(begin(shop, "r2")[0]) == ()


def test_what_a_person_undid_is_no_matter_for_a_later_run(shop: GitRoom) -> None:
    tree, _ = begin(shop)
    git(shop.repo, "config", "core.pager", "evil")
    shop.spaces.look_at_settings(tree)
    git(shop.repo, "config", "--unset", "core.pager")
    assert shop.spaces.look_at_settings(begin(shop, "r2")[0]) == ()
    git(shop.repo, "config", "core.pager", "less")
    assert shop.spaces.look_at_settings(begin(shop, "r3")[0]) == ()


def test_a_borrowed_checkout_is_looked_at_from_where_each_run_begins(shop: GitRoom) -> None:
    tree = shop.borrowed()
    shop.spaces.record_settings(tree)
    git(shop.repo, "config", "core.pager", "less")
    shop.spaces.record_settings(tree)
    assert shop.spaces.look_at_settings(tree) == ()
    git(shop.repo, "config", "core.pager", "evil")
    assert shop.spaces.look_at_settings(tree) == ("core.pager = evil (changed)",)
    shop.spaces.record_settings(tree)
    assert shop.spaces.look_at_settings(tree) == ("core.pager = evil (changed)",)


def test_values_are_printable_and_short(shop: GitRoom) -> None:
    tree, _ = begin(shop)
    git(shop.repo, "config", "core.pager", "\x1b[2J" + "x" * 200)
    git(shop.repo, "config", "core.sshCommand", "fetch https://ann:secret@example.org")
    git(shop.repo, "config", "credential.helper", "!echo secret")
    found = " ".join(shop.spaces.find_changed_settings(tree))
    assert found.isprintable()
    assert "secret" not in found
    assert "x" * 100 not in found
