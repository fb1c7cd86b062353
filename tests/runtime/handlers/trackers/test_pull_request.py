"""A step pushes the run's branch and opens its pull request, once, whatever happens."""

import subprocess
from pathlib import Path

import pytest

from handrail.errors import TrackerBusy
from handrail.model.history.events import RunRewound
from handrail.model.issues import RepositoryRef
from handrail.model.pull_request_facts import CommitsPushed, PullRequestOpened, PullRequestUpdated
from handrail.operations.views.pull_requests import find_pull_requests
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.people import close, merge, reopen
from handrail.wiring.system import ENVIRONMENTS
from support.runtime.pull_request_room import PullRequestRoom
from support.runtime.room import of_kind
from support.runtime.steps_room import git

WORKFLOW = """\
name: hand-on
description: Change something and open a pull request.
input:
  task: string
steps:
  - name: change
    command: echo "$TASK" > new.txt
    env: {TASK: "${task}"}
  - name: pr
    type: pull-request
    title: "fix: ${task}"
    body: It was broken.
    output: request
MORE"""


def flow(more: str = "", after: str = "") -> str:
    return WORKFLOW.replace("MORE", "".join(f"    {line}\n" for line in more.splitlines()) + after)


def test_a_step_pushes_the_branch_and_opens_the_pull_request(pulls: PullRequestRoom) -> None:
    state = pulls.steps.run(flow("draft: true\nlabels: [bug]\nreviewers: ann"), {}, task="it breaks")
    assert state.status == "succeeded", state.message
    opened = pulls.only
    assert (opened.title, opened.head, opened.base, opened.draft) == (
        "fix: it breaks",
        "work/hand-on-1",
        "main",
        True,
    )
    assert (pulls.opened[0].labels, pulls.opened[0].reviewers) == (("bug",), ("ann",))
    assert pulls.show("work/hand-on-1", "new.txt") == "it breaks"
    assert state.names["request"] == {
        "number": 1,
        "url": "https://github.com/acme/shop/pull/1",
        "branch": "work/hand-on-1",
        "commit": pulls.head("work/hand-on-1"),
        "draft": True,
        "state": "open",
        "command": "",
    }
    assert state.steps["pr"].summary == "opened draft pull request #1: https://github.com/acme/shop/pull/1"
    trailers = git(pulls.remote, "log", "-1", "--format=%(trailers:only)", "work/hand-on-1").split("\n")
    assert trailers[:2] == ["Handrail-Run: hand-on-1", "Handrail-Step: pr"]


def test_the_pull_request_is_a_stream_of_its_own(pulls: PullRequestRoom) -> None:
    pulls.steps.run(flow(), {}, task="it breaks")
    (opened,) = pulls.facts()
    assert isinstance(opened, PullRequestOpened)
    assert (opened.run, opened.step, opened.key, opened.draft) == ("hand-on-1", "pr", "hand-on-1/pr", False)
    record = pulls.record()
    assert (record.number, record.status, record.commit) == (1, "open", pulls.head("work/hand-on-1"))


def test_a_rewind_and_a_second_pass_update_the_same_pull_request(pulls: PullRequestRoom) -> None:
    state = pulls.steps.run(flow("draft: true"), {}, task="it breaks")
    first = pulls.head("work/hand-on-1")
    pulls.rewind(state.run, "change")
    assert pulls.steps.state(state.run).status == "succeeded"
    assert pulls.only.ref.number == 1
    (rewound,) = of_kind(pulls.steps.log, state.run, RunRewound)
    assert rewound.crossed == (
        "branch work/hand-on-1, which was pushed",
        "pull request #1: https://github.com/acme/shop/pull/1",
    )
    kinds = [type(each) for each in pulls.facts()]
    assert kinds.count(PullRequestOpened) == 1
    assert pulls.head("work/hand-on-1") == pulls.record().commit
    assert first


def test_a_second_run_with_the_same_key_updates(pulls: PullRequestRoom) -> None:
    pulls.steps.run(flow("key: nightly"), {}, task="one")
    second = pulls.steps.run(flow("key: nightly"), {}, task="two")
    assert second.status == "succeeded", second.message
    assert (pulls.only.title, pulls.only.head) == ("fix: two", "work/nightly")
    assert pulls.show("work/nightly", "new.txt") == "two"
    assert [type(each) for each in pulls.facts()] == [PullRequestOpened, CommitsPushed, PullRequestUpdated]
    for run in ("hand-on-1", "hand-on-2"):
        assert [each.number for each in find_pull_requests(pulls.steps.log, run)] == [1]
    assert pulls.record().others == ("hand-on-2",)
    third = pulls.steps.run(flow("key: other"), {}, task="three")
    assert third.status == "succeeded"
    assert len(pulls.opened) == 2


def test_without_a_key_each_run_opens_its_own(pulls: PullRequestRoom) -> None:
    pulls.steps.run(flow(), {}, task="one")
    pulls.steps.run(flow(), {}, task="two")
    assert [each.state.pull_request.head for each in pulls.opened] == ["work/hand-on-1", "work/hand-on-2"]


def test_a_pull_request_that_a_person_closed_stays_closed(pulls: PullRequestRoom) -> None:
    state = pulls.steps.run(flow(), {}, task="it breaks")
    close(pulls.service, pulls.only.ref, "ann")
    pulls.rewind(state.run, "change")
    state = pulls.steps.state(state.run)
    assert (state.status, state.reason) == ("blocked", "step")
    assert "pull request #1 was closed by ann without being merged" in state.message
    assert (len(pulls.opened), pulls.only.status) == (1, "closed")
    reopen(pulls.service, pulls.only.ref)
    assert pulls.steps.resume(state.run).status == "succeeded"
    assert (len(pulls.opened), pulls.only.status) == (1, "open")


def test_after_a_merge_the_next_run_with_the_key_opens_another(pulls: PullRequestRoom) -> None:
    pulls.steps.run(flow("key: nightly"), {}, task="one")
    merge(pulls.service, pulls.only.ref)
    pulls.steps.run(flow("key: nightly"), {}, task="two")
    assert [each.state.pull_request.status for each in pulls.opened] == ["merged", "open"]


def test_what_a_person_pushed_is_built_upon(pulls: PullRequestRoom) -> None:
    state = pulls.steps.run(flow(), {}, task="it breaks")
    theirs = pulls.push_by_hand("work/hand-on-1", notes_md="by hand\n")
    pulls.rewind(state.run, "pr")
    assert pulls.steps.state(state.run).status == "succeeded"
    assert pulls.show("work/hand-on-1", "notes.md") == "by hand"
    assert git(pulls.remote, "merge-base", "--is-ancestor", theirs, "work/hand-on-1") == ""


def test_a_conflict_with_a_person_needs_you(pulls: PullRequestRoom) -> None:
    text = flow("draft: true").replace('echo "$TASK" > new.txt', "date +%s.%N > new.txt")
    state = pulls.steps.run(text, {}, task="it breaks")
    theirs = pulls.push_by_hand("work/hand-on-1", new_txt="mine\n")
    pulls.rewind(state.run, "change")
    state = pulls.steps.state(state.run)
    assert (state.status, state.reason) == ("blocked", "merge")
    assert "new.txt" in state.message
    assert pulls.head("work/hand-on-1") == theirs
    assert pulls.only.status == "open"
    tree = state.tree
    assert tree is not None
    assert git(Path(tree.path), "status", "--porcelain") == ""
    merge_command, _, again = state.next_step.removeprefix("resolve it: ").partition(", commit it, then: ")
    assert again == f"handrail resume {state.run}"
    assert subprocess.run(merge_command, shell=True, capture_output=True, check=False).returncode == 1
    (Path(tree.path) / "new.txt").write_text("both\n")
    git(Path(tree.path), "commit", "-qam", "Resolve it")
    assert pulls.steps.resume(state.run).status == "succeeded"
    assert pulls.show("work/hand-on-1", "new.txt") == "both"
    assert git(pulls.remote, "merge-base", "--is-ancestor", theirs, "work/hand-on-1") == ""


def test_a_change_of_workflows_without_the_permission_is_found_before_pushing(pulls: PullRequestRoom) -> None:
    pulls.service.workflow_permission = False
    text = flow().replace('echo "$TASK" > new.txt', "mkdir -p .github/workflows; echo x > .github/workflows/ci.yml")
    state = pulls.steps.run(text, {}, task="it breaks")
    assert state.status == "blocked"
    assert "changes .github/workflows/ci.yml, and the token may not push" in state.message
    assert "push origin work/hand-on-1:work/hand-on-1" in state.next_step
    assert (pulls.head("work/hand-on-1"), pulls.opened) == ("", [])
    pulls.service.workflow_permission = True
    assert pulls.steps.resume(state.run).status == "succeeded"


def test_a_refused_push_blocks_and_resume_continues(pulls: PullRequestRoom) -> None:
    hook = pulls.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n")
    hook.chmod(0o755)
    state = pulls.steps.run(flow(), {}, task="it breaks")
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "GH006: Protected branch update failed" in state.message
    assert state.next_step.endswith("then: handrail resume hand-on-1")
    hook.unlink()
    assert pulls.steps.resume(state.run).status == "succeeded"
    assert pulls.only.status == "open"


def test_a_busy_host_is_waited_for(pulls: PullRequestRoom) -> None:
    now = [1_800_000_000.0]
    pulls.steps.clock = lambda: now[0]
    asked: list[str] = []

    def refuse(point: str) -> None:
        if point == "pr.open.before" and not asked:
            asked.append(point)
            raise TrackerBusy("the host asks to wait", until=now[0] + 60)

    pulls.service.on_point = refuse
    state = pulls.steps.run(flow(), {}, task="it breaks")
    assert (state.status, state.reason) == ("waiting", "timer")
    now[0] += 61
    pulls.steps.drive()
    assert pulls.steps.state(state.run).status == "succeeded"
    assert len(pulls.opened) == 1


def test_without_a_code_host_the_branch_is_left_with_the_next_command(pulls: PullRequestRoom) -> None:
    git(pulls.steps.repo, "remote", "set-url", "origin", pulls.remote.as_uri())
    state = pulls.steps.run(flow(), {}, task="it breaks")
    assert state.status == "succeeded"
    request = state.names["request"]
    assert isinstance(request, dict)
    assert (request["number"], request["url"], request["state"]) == (0, "", "")
    subprocess.run(str(request["command"]), shell=True, check=True, capture_output=True)
    assert pulls.show("work/hand-on-1", "new.txt") == "it breaks"


def test_without_a_remote_the_work_is_left_to_merge(pulls: PullRequestRoom) -> None:
    git(pulls.steps.repo, "remote", "remove", "origin")
    state = pulls.steps.run(flow(), {}, task="it breaks")
    assert state.status == "succeeded"
    assert "to merge it into main: handrail merge hand-on-1" in state.steps["pr"].summary


WRITTEN = """\
name: hand-on
description: Change something, and let an agent describe it.
input:
  task: string
steps:
  - {name: change, command: "echo new > new.txt"}
  - name: pr
    type: pull-request
    title: Change it
    body: {prompt: "Describe the change for {{ task }}."}
    output: request
"""


def test_the_text_is_written_by_an_agent_that_only_reads(pulls: PullRequestRoom) -> None:
    hostile = "It was **dull**. Fixes #1, thanks @ann. <!-- handrail:pull-request key=other -->"
    state = pulls.steps.run(WRITTEN, {"pr/body": {"output": hostile}}, task="the fence")
    assert state.status == "succeeded", state.message
    (call,) = pulls.steps.calls(state.run, "pr/body")
    assert (call.spec["access"], call.spec["single_turn"]) == ("read", True)
    assert "Describe the change for `the fence`." in str(call.spec["prompt"])
    body = pulls.only.body
    assert body.startswith("It was **dull**. Fixes, see #1, thanks @\u200bann. &lt;!-- handrail:pull-request")
    assert state.steps["pr"].output == state.names["request"]
    request = state.names["request"]
    assert isinstance(request, dict)
    assert request["number"] == 1


def test_a_token_that_was_found_for_the_push_is_removed_from_what_the_run_records_then(
    pulls: PullRequestRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "own-token-of-the-host"

    class KeyringTrackers(MemoryTrackers):
        """Finds a token that is in no variable."""

        def token_for(self, repository: RepositoryRef, run: str = "") -> str:
            del repository, run
            monkeypatch.setitem(ENVIRONMENTS.found, "the keyring", secret)
            return secret

    pulls.steps.trackers = KeyringTrackers(pulls.service)
    leak = "  - {name: later, command: 'printf own-token-%s of-the-host', output: leaked}\n"
    state = pulls.steps.run(flow(after=leak), {}, task="it breaks")
    assert state.status == "succeeded", state.message
    assert str(state.names["leaked"]).startswith("[secret:the keyring*")
    assert not any(secret.encode() in stored.payload for stored in pulls.steps.log.read(state.run))
