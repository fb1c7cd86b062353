"""Agents that run in the sandbox that their step, or the repository's configuration, asks for."""

import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.model.workflow.settings import AgentPolicy
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.handlers.agents.host import AgentHost
from handrail.testing.memory_host import MemorySandbox, MemoryWindows
from support.runtime.steps_room import StepsRoom

STEP = "name: w\nsteps:\n  - {name: work, prompt: Do the work now please., MORE}\n"
BWRAP = STEP.replace("MORE", "sandbox: bwrap")
COMMIT = "git add -A && git -c user.name=Ada -c user.email=ada@example.org commit -qm inside && echo committed"


def lines(shop: StepsRoom, run: str) -> str:
    """Give all that the agents of a run printed."""
    return "".join(path.read_text() for path in (shop.folder / "data" / "runs" / run).glob("*/agent.*/stdout"))


@pytest.mark.system("bwrap")
def test_an_agent_in_the_sandbox_works_in_its_tree_and_nowhere_else(shop: StepsRoom) -> None:
    hook = f"echo x > {shop.repo}/.git/hooks/post-commit"
    turn = {"files": {"new.txt": "new\n"}, "run": [COMMIT, "git config a.b c", hook, "touch ~/x"], "say": "done"}
    state = shop.run(BWRAP, {"work": [turn]})
    assert state.status == "succeeded", state.message
    assert (state.status, shop.calls(state.run, "work")[0].spec["sandbox"]) == ("succeeded", "bwrap")
    assert (shop.tree(state.run) / "new.txt").read_text() == "new\n"
    assert "committed" in lines(shop, state.run)
    assert lines(shop, state.run).count("Read-only file system") == 3
    assert not (Path.home() / "x").exists()


@pytest.mark.system("bwrap")
def test_the_configuration_asks_for_all_steps_and_a_step_may_do_without(shop: StepsRoom) -> None:
    shop.agents = AgentPolicy(sandbox="bwrap", network=False)
    turn = {"run": "wc -l < /proc/net/dev", "say": "done"}
    state = shop.run(STEP.replace(", MORE", ""), {"work": [turn]})
    spec = shop.calls(state.run, "work")[0].spec
    assert (state.status, spec["sandbox"], spec["network"]) == ("succeeded", "bwrap", "off")
    assert '"output": "3\\n"' in lines(shop, state.run)
    free = shop.run(STEP.replace("MORE", "sandbox: none"), {"work": [turn]})
    assert "sandbox" not in shop.calls(free.run, "work")[0].spec


@pytest.mark.system("bwrap")
def test_an_agent_in_the_sandbox_is_adopted_after_kill_9_and_ended_by_a_stop(shop: StepsRoom) -> None:
    turn = {"run": "touch began; until test -e go; do sleep 0.02; done", "background": "sleep 300", "say": "done"}
    run = shop.start(BWRAP, {"work": [turn]})
    driver = shop.drive_elsewhere()
    shop.until(lambda: bool(list((shop.folder / "data").glob("worktrees/*/*/began"))))
    driver.kill()
    driver.wait()
    shop.during(
        lambda: runs.stop(shop.writer, run, "ann"),
        lambda: bool(list((shop.folder / "data").glob("worktrees/*/*/began"))),
    )
    assert shop.state(run).status == "cancelled"
    assert [each.attempt for each in shop.calls(run, "work")] == [1]


def test_without_bubblewrap_the_step_is_not_made_and_a_person_is_told(
    shop: StepsRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = shop.folder / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    state = shop.run(BWRAP, {"work": [{"say": "done"}]})
    assert (state.status, state.message, state.next_step) == snapshot(
        (
            "blocked",
            "step 'work': bubblewrap is not installed: there is no `bwrap` on the PATH",
            "install it (Linux: apt install bubblewrap, dnf install bubblewrap), or write `sandbox: none`",
        )
    )
    assert lines(shop, state.run) == ""


def test_a_call_is_confined_to_its_tree_and_to_the_folders_of_its_agent(tmp_path: Path) -> None:
    sandbox, own = MemorySandbox(), tmp_path / "own"
    host = AgentHost(sandbox, MemoryWindows(), lambda agent, env: (own / env["HOME"] / agent,))
    manner = {"sandbox": "bwrap", "network": "off", "access": "read"}
    places = tmp_path / "tree", tmp_path / "input"
    assert host.wrap(("claude", "-p"), manner, "claude", {"HOME": "ann"}, places) == ("sandbox", "claude", "-p")
    (confined,) = sandbox.confined
    assert (confined.workspace, confined.writable) == (tmp_path / "tree", (own / "ann" / "claude",))
    assert (confined.network, confined.closed) == (False, True)
    assert tmp_path / "input" in confined.readable


def test_a_call_without_a_sandbox_is_started_as_it_is(tmp_path: Path) -> None:
    sandbox = MemorySandbox()
    host = AgentHost(sandbox, MemoryWindows(), lambda _, __: ())
    assert host.wrap(("claude",), {"sandbox": "none"}, "claude", {}, (tmp_path, tmp_path)) == ("claude",)
    assert sandbox.confined == []


def test_what_the_machine_does_not_have_is_refused_with_what_helps() -> None:
    lacking = AgentHost(MemorySandbox("no sandbox here"), MemoryWindows("no windows here"), lambda _, __: ())
    told = [lacking.hindrance({"sandbox": "bwrap"}), lacking.hindrance({"tmux": "true"}), lacking.hindrance({})]
    assert [each and (each.why, each.hint) for each in told] == [
        ("no sandbox here", "make it usable"),
        ("no windows here", "install them, or write `tmux: false`"),
        None,
    ]
