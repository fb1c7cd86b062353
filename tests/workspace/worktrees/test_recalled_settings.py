"""What the last look at the settings saw is repeated only while a new look would see the same."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.git_workspaces import GitWorkspaces
from support.workspace.git_room import GitRoom, fill, git


class Scene(NamedTuple):
    """A user's repository, and the folder in which a run works."""

    room: GitRoom
    path: Path


def _write_hook(room: GitRoom, text: str) -> None:
    fill(room.repo, {".git/hooks/pre-commit": text})
    (room.repo / ".git/hooks/pre-commit").chmod(0o755)


def _set_for_worktree(path: Path) -> None:
    git(path, "config", "extensions.worktreeConfig", "true")
    git(path, "config", "--worktree", "core.pager", "evil")


SUBMODULE = {".git/modules/x/HEAD": "ref: x\n", ".git/modules/x/hooks/pre-push": "1"}
CHANGES: dict[str, Callable[[Scene], object]] = {
    "nothing": lambda at: at,
    "a file of the worktree": lambda at: fill(at.path, {"a.txt": "1"}),
    "a setting": lambda at: git(at.path, "config", "core.pager", "evil"),
    "a setting of the worktree": lambda at: _set_for_worktree(at.path),
    "a setting of another worktree": lambda at: _set_for_worktree(at.room.prepare("r2")[1]),
    "a hook": lambda at: _write_hook(at.room, "#!/bin/sh\n"),
    "another hook of the same length": lambda at: _write_hook(at.room, "#!/bin/ed\n"),
    "attributes": lambda at: fill(at.room.repo, {".git/info/attributes": "* filter=x\n"}),
    "a submodule": lambda at: fill(at.room.repo, SUBMODULE),
    "settings from elsewhere": lambda at: fill(at.room.repo, {".git/commondir": "/nowhere\n"}),
    "a file that is named": lambda at: fill(at.room.repo, {"more.cfg": "[core]\n\tpager = evil\n"}),
}


def _look(spaces: GitWorkspaces, tree: Tree) -> tuple[str, ...] | str:
    try:
        return spaces.look_at_settings(tree)
    except WorkspaceFault as fault:
        return str(fault)


@pytest.mark.parametrize("is_owned", [True, False])
@pytest.mark.parametrize("name", CHANGES)
def test_a_repeated_look_sees_what_a_new_one_would(shop: GitRoom, name: str, is_owned: bool) -> None:
    git(shop.repo, "config", "include.path", "../more.cfg")
    tree = shop.prepare()[0] if is_owned else shop.borrowed()
    shop.spaces.record_settings(tree)
    if name.startswith("another hook"):
        _write_hook(shop, "#!/bin/sh\n")
    found = [shop.spaces.look_at_settings(tree) for _ in range(3)]
    assert shop.spaces.recall_settings(tree) == found[-1]
    CHANGES[name](Scene(shop, Path(tree.path)))
    repeated = shop.spaces.recall_settings(tree)
    assert repeated is None or repeated == _look(GitWorkspaces(shop.data), tree)
    assert (repeated is None) == (name not in ("nothing", "a file of the worktree"))


def test_a_step_that_was_looked_at_so_is_over(shop: GitRoom) -> None:
    tree, path = shop.prepare()
    shop.spaces.record_settings(tree)
    mark = shop.spaces.places.private_folder(path) / "step"
    for _ in range(3):
        shop.spaces.note_step(tree)
        assert mark.stat().st_size
        shop.spaces.look_at_settings(tree)
    shop.spaces.note_step(tree)
    assert shop.spaces.recall_settings(tree) == ()
    assert not mark.stat().st_size


def test_without_a_record_nothing_is_repeated(shop: GitRoom) -> None:
    tree, _ = shop.prepare()
    for _ in range(3):
        assert shop.spaces.look_at_settings(tree) == ()
    assert shop.spaces.recall_settings(tree) is None
