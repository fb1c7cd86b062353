"""The real Codex in Handrail's sandbox, which takes the place of its own one: each access is kept."""

import pytest

from handrail.testing.models.scripts import Say, Shell
from support.agents.codex_steps import step
from support.agents.opened_rooms import Open, opened, real_agents

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex", "bwrap")
WRITES = Shell('echo x > inside.txt; echo x > "$HOME/outside.txt"; echo x > ../beside.txt; git status --short')


def test_codex_writes_in_its_work_tree_alone_and_nowhere_where_it_may_only_read(opened: Open) -> None:
    scripts = {access: [WRITES, Say("All done.")] for access in ("read", "edit", "full")}
    room = opened(**scripts)
    runs = {each: room.start(step(each, f"access: {each}, sandbox: bwrap, output: said")) for each in scripts}
    room.drive()
    states = {access: room.state(run) for access, run in runs.items()}
    assert {access: (each.status, each.message) for access, each in states.items()} == dict.fromkeys(
        scripts, ("succeeded", "")
    )
    written = {access: (room.tree(run) / "inside.txt").exists() for access, run in runs.items()}
    assert written == {"read": False, "edit": True, "full": True}
    assert not (room.home.home / "outside.txt").exists()
    assert not [path for run in runs.values() for path in room.tree(run).parent.glob("beside.txt")]
