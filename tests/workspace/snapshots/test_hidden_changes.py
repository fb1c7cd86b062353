"""A file that is there is compared, whatever the index and the rules say that an agent wrote."""

import os
import subprocess
from pathlib import Path

import pytest

from support.security.hidden_changes import FILES, FORGED, WAYS
from support.workspace.git_room import GitRoom, commit, fill


@pytest.fixture
def tested(shop: GitRoom) -> GitRoom:
    fill(shop.repo, FILES)
    commit(shop.repo)
    return shop


def _shell(where: Path, script: str) -> None:
    env = {**os.environ, "FORGED": FORGED}
    done = subprocess.run(["/bin/sh", "-c", script], cwd=where, env=env, check=False, capture_output=True)
    assert not done.returncode, done.stderr.decode()


@pytest.mark.parametrize("way", WAYS)
def test_a_change_is_seen_in_the_step_that_made_it(tested: GitRoom, way: str) -> None:
    script, path = WAYS[way]
    tree, where = tested.prepare()
    before = tested.spaces.snapshot(tree, "r1")
    _shell(where, script)
    after = tested.spaces.snapshot(tree, "r1", before.id)
    assert after.tree != before.tree or after.omitted != before.omitted
    assert path in [each.path for each in tested.spaces.changes(tree, before.id)]
    assert path in [each.path for each in tested.spaces.changes(tree, before.id, after.id)]
    found = {each.path: each.change for each in tested.spaces.changes(tree, before.id)}
    # No snapshot holds the files of a nested repository, so there is no patch of them.
    assert found[path] == "repository" or path in tested.spaces.diff(tree, before.id)
