"""What makes git start programs, in every place where git looks for it; and what is nobody's business."""

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
    *("submodule.x.active true", "lfs.repositoryformatversion 0", "pull.rebase true", "remote.origin.fetch +a:b"),
)


def begin(room: GitRoom) -> tuple[Tree, Path]:
    tree, path = room.prepare()
    room.spaces.record_settings(tree)
    return tree, path


def names(room: GitRoom, tree: Tree) -> list[str]:
    return [change.partition(" = ")[0].partition(" (")[0] for change in room.spaces.changed_settings(tree)]


def test_every_key_that_executes_is_seen(shop: GitRoom) -> None:
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
    assert shop.spaces.changed_settings(tree) == ()


@pytest.mark.parametrize("key", ["branch.main.remote", "branch.main.pushRemote", "remote.pushDefault"])
def test_an_address_in_the_place_of_a_remote_is_seen(shop: GitRoom, key: str) -> None:
    tree, _ = begin(shop)
    git(shop.repo, "config", key, "ext::evil")
    assert names(shop, tree) == [key.lower()]


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
    assert rich.spaces.changed_settings(tree) == ()
    change, expected = PLACES[place]
    change(rich, path)
    assert names(rich, tree) == expected
    rich.spaces.accept_settings(tree)
    assert rich.spaces.changed_settings(tree) == ()


def test_a_configuration_that_git_cannot_read_is_a_change(shop: GitRoom) -> None:
    tree, _ = begin(shop)
    _broken(shop, shop.repo)
    assert names(shop, tree) == ["configuration that git cannot read"]


def test_a_worktree_that_is_made_again_keeps_its_record(shop: GitRoom) -> None:
    tree, path = begin(shop)
    git(shop.repo, "config", "core.pager", "evil")
    path.rename(path.with_name("elsewhere"))
    begin(shop)
    assert shop.spaces.changed_settings(tree) == ("core.pager = evil (new)",)


def test_hooks_that_were_applied_are_known_and_others_are_not(rich: GitRoom) -> None:
    tree, _ = begin(rich)
    fill(rich.repo, {".githooks/applied": "a", ".githooks/other": "b"})
    rich.spaces.accept_settings(tree, [".githooks/applied"])
    assert names(rich, tree) == ["hook .githooks/other"]


def test_a_worktree_without_a_record_has_nothing_to_compare_with(shop: GitRoom) -> None:
    tree, _ = shop.prepare()
    git(shop.repo, "config", "core.pager", "evil")
    assert shop.spaces.changed_settings(tree) == ()
    shop.spaces.accept_settings(tree)
    assert shop.spaces.changed_settings(tree) == ()


def test_values_are_printable_and_short(shop: GitRoom) -> None:
    tree, _ = begin(shop)
    git(shop.repo, "config", "core.pager", "\x1b[2J" + "x" * 200)
    git(shop.repo, "config", "core.sshCommand", "fetch https://ann:secret@example.org")
    git(shop.repo, "config", "credential.helper", "!echo secret")
    found = " ".join(shop.spaces.changed_settings(tree))
    assert found.isprintable()
    assert "secret" not in found
    assert "x" * 100 not in found
