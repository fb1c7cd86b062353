"""A native workflow is pulled too: the agent's steps by the connected agent, everything else by the engine."""

import subprocess

from handrail.operations.runs import lifecycle as runs
from support.pull.room import Pull

MIXED = """\
name: NAME
input: {who: string = you}
steps:
  - {name: draft, prompt: 'Greet {{ who }}.', output: draft}
  - {name: count, command: 'echo 42', output: number}
  - {name: ok, type: approval, message: 'Is it good?'}
  - {name: use, prompt: 'Use {{ number }}.'}
"""


def test_a_native_workflow_is_walked_without_an_agent_of_its_own_being_installed(pull: Pull) -> None:
    pull.add(MIXED, "mixed")
    first = pull.start("mixed", who="Ada")
    assert first.address == "draft"
    assert "Greet `Ada`." in first.pending["prompt"]
    waits = pull.advance(first)
    assert waits.codes == ["USER_ONLY_DEPENDENCY"]
    assert f"handrail approve {first.run}" in waits.text
    size = pull.size()
    assert pull.advance(waits).codes == ["USER_ONLY_DEPENDENCY"]
    assert pull.size() == size
    runs.answer(pull.writer, first.run, "approve", "ann")
    pull.drive()
    last = pull.rehydrate(waits)
    assert last.address == "use"
    assert "Use `42`." in last.pending["prompt"]
    done = pull.advance(last)
    assert done.complete
    assert (done.texts, done.data) == (pull.advance(last).texts, pull.advance(last).data)
    assert pull.advance(last, "again").warnings == ["TOKEN_ALREADY_USED"]
    pull.assert_sound()


def test_an_approval_tells_the_connected_agent_which_settings_of_git_a_step_changed(pull: Pull) -> None:
    for words in (
        ["init", "-q"],
        ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "Begin", "--allow-empty"],
    ):
        subprocess.run(["git", *words], cwd=pull.workspace, check=True, capture_output=True)
    pull.add(MIXED.replace("'echo 42'", "'git config core.sshCommand ./evil'"), "mixed")
    waits = pull.advance(pull.start("mixed", who="Ada"))
    assert waits.codes == ["USER_ONLY_DEPENDENCY"]
    assert "core.sshcommand = ./evil (new)" in waits.text


KEYED = """\
name: NAME
concurrency: {key: one, if_running: HOW}
steps:
  - {name: draft, prompt: 'Greet them.'}
"""


def test_a_connected_agent_waits_for_the_run_that_has_the_key(pull: Pull) -> None:
    pull.add(KEYED.replace("HOW", "queue"), "keyed")
    first = pull.start("keyed")
    pull.drive()
    begun = pull.rehydrate(first)
    assert begun.address == "draft"
    second = pull.start("keyed")
    pull.drive()
    waits = pull.rehydrate(second)
    assert waits.codes == ["RUN_WAITS"]
    assert f"queued behind {first.run}: same concurrency key 'one'" in waits.text
    assert pull.advance(begun).complete
    pull.drive()
    assert pull.rehydrate(second).address == "draft"
    pull.assert_sound()


def test_a_connected_agent_is_told_that_its_run_was_skipped(pull: Pull) -> None:
    pull.add(KEYED.replace("HOW", "skip"), "keyed")
    first = pull.start("keyed")
    pull.drive()
    skipped = pull.start("keyed")
    assert skipped.complete
    assert f"skipped: {first.run} has the same concurrency key 'one' and is still running" in skipped.text
