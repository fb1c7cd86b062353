"""A run starts only if every file of the repository that it was made from is trusted as it was read."""

import pytest

from support.security.black_box import BlackBox
from support.security.mcp_stdio import call_tools

pytestmark = pytest.mark.system  # takes long

USES = "name: flow\nsteps: [{name: a, use: helper}]\n"
CALLS = "name: flow\nsteps: [{name: a, workflow: helper}]\n"


def helper(box: BlackBox, mark: str) -> None:
    text = f'name: helper\nsteps: [{{name: s, command: "{box.mark(mark)}"}}]\n'
    box.write(".handrail/workflows/helper.yaml", text)


def flow(box: BlackBox, text: str) -> None:
    """A workflow that a person has trusted together with what it uses, and a helper that was changed since."""
    box.write(".handrail/workflows/flow.yaml", text)
    helper(box, "first")
    assert box.call("trust", "flow", "--yes").exit_code == 0
    box.call("trust", "helper", "--yes")
    helper(box, "second")
    box.commit()


@pytest.mark.parametrize("text", [USES, CALLS], ids=["use", "call"])
def test_what_a_trusted_workflow_reaches_is_not_run_once_it_changed(box: BlackBox, text: str) -> None:
    flow(box, text)
    answer = box.call("run", "flow")
    assert (answer.exit_code, box.traces()) == (3, [])
    shown = box.call("trust", "flow", "--show").text
    assert box.mark("second") in shown.partition("---")[0], "the commands behind a name are listed"
    assert shown.count("+++ now/") == 1
    assert "+++ now/.handrail/workflows/helper.yaml" in shown
    assert (box.call("run", "flow", "--detach").exit_code, box.traces()) == (3, [])


def test_a_connected_agent_cannot_start_what_changed(box: BlackBox) -> None:
    flow(box, USES)
    wanted = {"workflowId": "flow", "workspacePath": str(box.repository), "goal": "go"}
    (answer,) = call_tools(box, [("start_workflow", wanted)]).answers
    assert answer["result"]["isError"], answer
    assert "UNTRUSTED" in str(answer)


def test_called_workflows_are_pinned_when_a_run_starts(box: BlackBox) -> None:
    ask = "{name: ask, type: approval, message: 'Go on?'}"
    box.write(".handrail/workflows/flow.yaml", f"name: flow\nsteps: [{ask}, {{name: a, workflow: middle}}]\n")
    box.write(".handrail/workflows/middle.yaml", "name: middle\nsteps: [{name: a, workflow: helper}]\n")
    helper(box, "first")
    for name in ("flow", "middle", "helper"):
        assert box.call("trust", name, "--yes").exit_code == 0
    box.commit()
    box.call("run", "flow")
    helper(box, "second")
    box.write(
        ".handrail/workflows/middle.yaml", f'name: middle\nsteps: [{{name: a, command: "{box.mark("third")}"}}]\n'
    )
    box.call("trust", "flow", "--yes")
    box.call("approve", "flow-1")
    box.call("resume", "flow-1")
    assert box.traces() == ["first"]


def test_an_untrusted_list_of_files_to_copy_is_not_used(box: BlackBox) -> None:
    look = f"test ! -e .env || {box.mark('env')}"
    box.write_own("workflows/mine.yaml", f'name: mine\nsteps: [{{name: s, command: "{look}"}}]\n')
    box.write(".gitignore", ".env\n")
    box.write(".worktreeinclude", "# what a worktree needs\n.env\n")
    box.commit()
    box.write(".env", "TOKEN=abc\n")
    answer = box.call("run", "mine")
    assert (answer.exit_code, box.traces()) == (0, [])
    assert answer.text.count(".worktreeinclude is not used") == 1
    assert box.call("trust", ".", "--yes").exit_code == 0
    answer = box.call("run", "mine")
    assert (answer.exit_code, box.traces()) == (0, ["env"])
    assert ".worktreeinclude" not in answer.text
    (box.loot / "env").unlink()
    box.write(".worktreeinclude", "# changed\n.env\n")
    box.commit()
    assert (box.call("run", "mine").exit_code, box.traces()) == (0, [])


def test_init_without_questions_trusts_only_what_it_wrote(box: BlackBox) -> None:
    helper(box, "was-there")
    box.write(".handrail/config.toml", f'[checks]\nall = "{box.mark("check")}"\n')
    box.commit()
    answer = box.call("init", "--yes", "--no-try")
    assert "handrail trust ." in answer.text
    assert box.call("run", "helper").exit_code == 3
    assert box.call("trust", ".handrail/config.toml", "--show", "--json").document["trusted"] is False
    assert box.call("trust", "fix-bug", "--show", "--json").document["files"]
    assert box.traces() == []


def test_a_linked_worktree_runs_what_is_trusted_in_its_repository_and_nothing_else(box: BlackBox) -> None:
    helper(box, "first")
    box.commit()
    box.call("trust", "helper", "--yes")
    linked = box.base / "linked"
    box.git("worktree", "add", "-q", str(linked))
    assert box.call("run", "helper", cwd=linked).exit_code == 0
    (linked / ".handrail/workflows/helper.yaml").write_text(
        f'name: helper\nsteps: [{{name: s, command: "{box.mark("second")}"}}]\n'
    )
    assert box.call("run", "helper", cwd=linked).exit_code == 3
    assert box.traces() == ["first"]


def test_the_whole_repository_is_trusted_at_once(box: BlackBox) -> None:
    box.write(".handrail/workflows/flow.yaml", USES)
    helper(box, "first")
    box.write(".handrail/config.toml", '[checks]\nall = "true"\n[worktrees]\nsetup = ["true"]\n')
    box.commit()
    shown = box.call("trust", ".", "--json", "--show").document
    assert {each["path"] for each in shown.get("files", ())} == {
        ".handrail/config.toml",
        ".handrail/workflows/flow.yaml",
        ".handrail/workflows/helper.yaml",
    }
    assert {each["command"] for each in shown["commands"]} == {box.mark("first"), "true"}
    assert box.call("trust", ".", "--yes").exit_code == 0
    assert (box.call("run", "flow").exit_code, box.traces()) == (0, ["first"])
    assert box.call("trust", ".", "--forget").out == "trust withdrawn\n"
    assert box.call("run", "flow").exit_code == 3
