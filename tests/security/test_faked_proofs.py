"""Proofs and differences look at the files: nothing that an agent writes into git's index or rules hides a change."""

import json

import pytest

from support.security.black_box import Answer, BlackBox
from support.security.hidden_changes import FILES, FORGED, WAYS

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORKFLOW = """\
name: proven
steps:
  - name: work
    prompt: Do the work, please
    done_when:
      - unchanged: tests/**
"""
PLAIN = "name: plain\nsteps:\n  - {name: work, prompt: 'Do the work, please'}\n"
CHOSEN = (
    *("edits it", "sets assume-unchanged", "sets skip-worktree", "forges what the index says of the file"),
    *(
        "ignores everything",
        "ignores it from within",
        "ignores it in info/exclude",
        "hides it in a repository of its own",
    ),
)
"""The others are tried without the whole program: see `tests/workspace/snapshots/test_hidden_changes.py`."""
MORE = ("edits it", "ignores everything", "ignores it in info/exclude")
"""What `make test-system` adds."""


@pytest.fixture
def tested(box: BlackBox) -> BlackBox:
    """A repository with a test that an agent must leave alone."""
    for path, text in FILES.items():
        box.write(path, text)
    box.commit("Tests")
    box.write_own("workflows/proven/workflow.yaml", WORKFLOW)
    box.write_own("workflows/plain/workflow.yaml", PLAIN)
    return box


def run(box: BlackBox, name: str, script: str) -> Answer:
    """Let an agent run shell commands."""
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"run": script, "repeat": True}}))
    words = ("run", name, "--agent", "scripted", "--script", str(given))
    return box.call(*words, HANDRAIL_PASS_ENV="FORGED", FORGED=FORGED)


@pytest.mark.parametrize(
    "way", [pytest.param(each, marks=pytest.mark.system if each in MORE else ()) for each in CHOSEN]
)
def test_an_agent_cannot_hide_a_change_from_a_proof(tested: BlackBox, way: str) -> None:
    script, path = WAYS[way]
    done = run(tested, "proven", script)
    assert done.exit_code not in (0, 2), done.text
    assert path in tested.call("show", "proven-1", "work").text
    assert path in tested.call("diff", "proven-1").text


@pytest.mark.parametrize("way", ["sets assume-unchanged", "ignores it from within"])
def test_what_was_hidden_is_shown_applied_and_kept(tested: BlackBox, way: str) -> None:
    script, path = WAYS[way]
    assert run(tested, "plain", script).exit_code == 0
    text = tested.git("hash-object", path, cwd=next(tested.home.glob("data/worktrees/*/plain-1")))
    assert tested.call("apply", "plain-1").exit_code == 0
    assert (tested.repository / path).is_file()
    assert tested.git("hash-object", path) == text
    assert tested.call("apply", "--undo", "plain-1").exit_code == 0
    assert tested.call("discard", "plain-1").exit_code == 0
    assert tested.git("rev-parse", f"refs/handrail/plain-1:{path}") == text


def test_a_proof_names_what_it_skipped_as_ignored(tested: BlackBox) -> None:
    tag = "Signature: 8a477f597d28d172789f06886806bc55"
    cache = f"mkdir tests/made; cd tests/made; echo '*' > .gitignore; echo '{tag}' > CACHEDIR.TAG; touch conftest.py"
    tested.write(".gitignore", "*.log\n")
    tested.commit("Rules")
    done = run(tested, "proven", f"touch other.log; echo x > tests/a.log; {cache}")
    assert done.exit_code == 0, done.text
    proof = tested.call("show", "proven-1", "work", "--json").text
    assert "ignored by git, not checked: tests/made/, tests/a.log" in proof
    assert "other.log" not in proof
    assert "ignored by git, not checked: tests/made/, tests/a.log" in tested.call("show", "proven-1", "work").text
