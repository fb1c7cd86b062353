"""The keys of pull requests, and of issues that are prepared for a person."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.operations.views.run_document import run_document
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.service import StoredPullRequest
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves
from support.workspace.fixtures import git_home

__all__ = ["git_home"]

PULL: Json = {"name": "pr", "type": "pull-request", "title": "Paint the fence"}
WRITE: Json = {"name": "write", "command": "echo blue > fence.txt"}
ISSUES: Json = {"name": "file", "type": "create-issues", "from": "${tasks}"}
TASKS: Json = {"tasks": {"type": "list", "default": [{"title": "Mend the gate"}, {"title": "Oil the hinge"}]}}


ADDRESS = "https://github.com/acme/shop.git"


def opened(run: Benches, home: Path, *steps: Json, runs: int = 1, **more: Any) -> list[StoredPullRequest]:
    """Run up to a pull request on a code host in memory, with a remote on this disk; give what was opened."""
    bench = run.bench(git=True, **more)
    remote = bench.folder / "remote.git"
    bench.call_git("init", "-q", "--bare", str(remote))
    bench.call_git("remote", "add", "origin", ADDRESS)
    (home / ".gitconfig").write_text(f'[url "{remote.as_uri()}"]\n\tinsteadOf = {ADDRESS}\n')
    trackers = MemoryTrackers()
    bench.system = replace(bench.system, trackers=trackers)
    for _ in range(runs):
        bench.run(flow(*steps))
    return list(trackers.service.pull_requests.values())


@proves("pull-request step.title", "pull-request step.body", "pull-request step.base", "pull-request step.draft")
@proves("pull-request step.labels", "pull-request step.reviewers")
def test_a_pull_request_is_opened_as_its_step_says(run: Benches, git_home: Path) -> None:
    def shown(**more: Any) -> str:
        (found,) = opened(run, git_home, WRITE, {**PULL, **more})
        request = found.state.pull_request
        return (
            f"{request.title} {request.body} base={request.base} draft={request.draft} {found.labels} {found.reviewers}"
        )

    plain = shown()
    assert "Paint the fence" in plain
    for more, word in (
        ({"title": "Oil the gate"}, "Oil the gate"),
        ({"body": "It was dull."}, "It was dull."),
        ({"base": "stable"}, "base=stable"),
        ({"draft": True}, "draft=True"),
        ({"labels": ["colour"]}, "colour"),
        ({"reviewers": ["octocat"]}, "octocat"),
    ):
        assert word not in plain
        assert word in shown(**more)


@proves("pull-request step.key")
def test_runs_with_the_same_key_share_a_pull_request(run: Benches, git_home: Path) -> None:
    assert len(opened(run, git_home, WRITE, PULL, runs=2)) == 2
    assert len(opened(run, git_home, WRITE, {**PULL, "key": "nightly"}, runs=2)) == 1


@proves("body.prompt")
def test_an_agent_writes_the_text_that_its_prompt_asks_for(run: Benches, git_home: Path) -> None:
    (plain,) = opened(run, git_home, WRITE, PULL)
    asked = {**PULL, "body": {"prompt": "Describe the fence."}}
    (written,) = opened(run, git_home, WRITE, asked, plays={"pr/body": Play(say="It is blue now.")})
    assert "It is blue now." not in plain.state.pull_request.body
    assert "It is blue now." in written.state.pull_request.body


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
