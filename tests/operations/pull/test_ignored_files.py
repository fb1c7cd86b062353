"""A connected agent is held to ignored files as a launched one is: by what stood there before it was told its step."""

import subprocess

from support.pull.room import Pull, Said

STRICT = """\
name: NAME
steps:
  - name: work
    prompt: Do the work.
    done_when: [{unchanged: {paths: tests/**, ignored: true}}]
"""


def _begin(pull: Pull) -> Said:
    tests = pull.workspace / "tests"
    tests.mkdir()
    (tests / "old.log").write_text("1\n")
    (pull.workspace / ".gitignore").write_text("*.log\n")
    pull.add(STRICT, "strict")
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=pull.workspace, check=True)
    said = pull.start("strict")
    assert said.address == "work"
    return said


def test_an_ignored_file_that_a_connected_agent_made_is_named(pull: Pull) -> None:
    first = _begin(pull)
    (pull.workspace / "tests/new.log").write_text("x")
    pull.drive()
    said = pull.advance(first)
    assert not said.complete
    assert "must not change, but did: tests/new.log" in str(pull.events(first.run))
    pull.assert_sound()


def test_a_connected_agent_that_leaves_ignored_files_alone_completes_its_step(pull: Pull) -> None:
    first = _begin(pull)
    (pull.workspace / "README.md").write_text("new\n")
    assert pull.advance(first).complete
    pull.assert_sound()
