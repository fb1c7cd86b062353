"""The real Claude Code in the sandbox: it works, talks to its model, and reaches nothing of the machine."""

from pathlib import Path

import pytest

from handrail.testing.models.scripts import Say, Shell
from support.agents.claude_steps import step, write
from support.agents.opened_rooms import Open, opened
from support.agents.real_agents import real_agents

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex", "bwrap")


def test_claude_code_with_full_access_writes_nothing_outside_of_its_work_tree(opened: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    hook = f"echo x > {tmp_path}/shop/.git/hooks/post-commit"
    tries = (Shell(f"touch {outside}"), Shell(hook), Shell("git add -A; git commit -qm inside"))
    room = opened(a=[write("a.txt", "hello\n"), *tries, Say("All done.")])
    state = room.run(step("a", "access: full, sandbox: bwrap, output: said"))
    assert (state.status, state.message, state.names.get("said")) == ("succeeded", "", "All done.")
    assert (room.tree(state.run) / "a.txt").read_text() == "hello\n"
    assert not outside.exists()
    assert not (room.repo / ".git" / "hooks" / "post-commit").exists()
