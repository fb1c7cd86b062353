"""The keys of pull requests and issues, which are prepared for a person."""

import os
from pathlib import Path

from handrail.operations.views.run_document import run_document
from handrail.testing.memory_environments import MemoryEnvironment
from support.differences.proofs import Benches, Json, flow, proves

PULL: Json = {"name": "pr", "type": "pull-request", "title": "Paint the fence"}
WRITE: Json = {"name": "write", "command": "echo blue > fence.txt"}
ISSUES: Json = {"name": "file", "type": "create-issues", "from": "${tasks}"}
TASKS: Json = {"tasks": {"type": "list", "default": [{"title": "Mend the gate"}, {"title": "Oil the hinge"}]}}


def prepared(run: Benches, **more: object) -> str:
    """Run up to a pull request where GitHub's command line is there; give what a person reads, and its text."""
    program = run.folder / "bin" / "gh"
    program.parent.mkdir(exist_ok=True)
    program.touch(mode=0o755)
    bench = run.bench(git=True, environment=MemoryEnvironment({"PATH": f"{program.parent}:{os.environ['PATH']}"}))
    bench.call_git("remote", "add", "origin", "https://example.org/shop.git")
    trace = bench.run(flow(WRITE, {**PULL, **more}))
    return trace.told + next(bench.data.rglob("pull-request.md")).read_text("utf-8")


@proves("pull-request step.title", "pull-request step.body", "pull-request step.base", "pull-request step.draft")
@proves("pull-request step.labels", "pull-request step.reviewers")
def test_what_a_pull_request_shall_have_stands_in_the_command_for_a_person(run: Benches) -> None:
    plain = prepared(run)
    assert "Paint the fence" in plain
    for more, shown in (
        ({"title": "Oil the gate"}, "Oil the gate"),
        ({"body": "It was dull."}, "It was dull."),
        ({"base": "stable"}, "--base stable"),
        ({"draft": True}, "--draft"),
        ({"labels": ["colour"]}, "--label colour"),
        ({"reviewers": ["octocat"]}, "--reviewer octocat"),
    ):
        assert shown not in plain
        assert shown in prepared(run, **more)


@proves("create-issues step.from", "create-issues step.labels")
def test_issues_are_made_of_the_items_with_their_labels(run: Benches) -> None:
    plain = run(flow(ISSUES, input=TASKS), git=True).told
    labelled = run(flow({**ISSUES, "labels": ["later"]}, input=TASKS), git=True).told
    assert ("Mend the gate" in plain, "later" in plain) == (True, False)
    assert "later" in labelled


def test_a_run_names_its_worktree_as_data(run: Benches) -> None:
    found = run(flow({"name": "say", "command": "echo hello"}), git=True)
    tree = found.state.tree
    assert tree is not None
    assert run_document(found.bench.log, found.run)["workspace"] == tree.path
    assert (Path(tree.path) / ".git").exists()
