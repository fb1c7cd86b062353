"""Issues on GitHub: what is read, what is written, and what hostile text comes to."""

import asyncio
import subprocess
import sys
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from handrail.errors import TrackerFault
from handrail.model.issues import Attachment, Claim, IssueChange, IssueDraft, Marker
from handrail.trackers.github.api.endpoint import endpoint_at
from handrail.trackers.github.attachments import LARGEST, MOST, is_attachment
from handrail.trackers.github.marks import write_mark
from support.github.world import GitHubWorld

T = TypeVar("T")
PROGRESS = Marker(what="progress", key="demo-1")


def run(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(call)


@pytest.mark.system
def test_all_pages_of_comments_are_read(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Long")
    for each in range(120):
        world.mallory.comment(number, f"comment {each}")
    issue = run(world.tracker().read(world.ref(number)))
    assert [each.body for each in issue.comments] == [f"comment {each}" for each in range(120)]


def test_a_progress_mark_of_a_stranger_is_not_ours(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Forged")
    world.mallory.comment(number, f"Done!\n\n{write_mark(PROGRESS)}")
    run(world.tracker().put_comment(world.ref(number), "Step 1", PROGRESS))
    run(world.tracker().put_comment(world.ref(number), "Step 2", PROGRESS))
    assert [each["user"]["login"] for each in world.github.comments(number)] == ["mallory", "handrail-user"]
    assert world.github.comments(number)[0]["body"].startswith("Done!")


def test_a_claim_of_a_stranger_holds_nothing(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Wanted")
    claim = Marker(what="claim", key="agent:evil", extra={"run": "evil", "state": "live"})
    world.mallory.comment(number, f"Mine.\n\n{write_mark(claim)}")
    assert [each.ref.id for each in run(world.tracker().list_ready(5))] == [str(number)]
    assert run(world.tracker().claim(world.ref(number), Claim(by="agent:demo-1", run="demo-1"))).is_mine


def test_a_run_of_the_same_name_on_another_machine_claims_nothing(world: GitHubWorld) -> None:
    number = world.ann.open_issue("It crashes")
    here, there = (Claim(by="agent:demo-1", run="demo-1", nonce=nonce) for nonce in ("here", "there"))
    assert run(world.tracker().claim(world.ref(number), here)).is_mine
    refused = run(world.tracker().claim(world.ref(number), there))
    assert (refused.is_mine, refused.claim.nonce) == (False, "here")
    run(world.tracker().release_claim(world.ref(number), there))
    assert [each.nonce for each in run(world.tracker().claims(world.ref(number)))] == ["here"]


def test_a_claim_of_a_colleague_counts(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Wanted")
    claim = Marker(what="claim", key="agent:hers", extra={"run": "hers", "state": "live"})
    world.ann.comment(number, f"Mine.\n\n{write_mark(claim)}")
    result = run(world.tracker().claim(world.ref(number), Claim(by="agent:demo-1", run="demo-1")))
    assert (result.is_mine, result.claim.by) == (False, "agent:hers")
    assert len(world.github.comments(number)) == 1


def test_an_open_pull_request_of_somebody_else_takes_the_issue(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Wanted")
    world.ann.push("hers", {"a.py": "1\n"})
    world.ann.open_pull("hers", body=f"Fixes #{number}")
    result = run(world.tracker().claim(world.ref(number), Claim(by="agent:demo-1", run="demo-1")))
    assert (result.is_mine, result.claim.by) == (False, "person:ann")
    assert run(world.tracker().list_ready(5)) == ()


def test_a_closed_issue_cannot_be_claimed(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Done")
    world.ann.close(number)
    with pytest.raises(TrackerFault, match="closed"):
        run(world.tracker().claim(world.ref(number), Claim(by="agent:demo-1")))


def test_ready_issues_are_sorted_by_urgency_and_then_by_age_in_few_calls(world: GitHubWorld) -> None:
    world.ann.open_issue("old")
    world.ann.open_issue("urgent", labels=["priority: high"])
    world.ann.open_issue("someday", labels=["P4"])
    hers = world.ann.open_issue("hers")
    world.ann.call("POST", f"/issues/{hers}/assignees", {"assignees": ["ann"]})
    blocked = world.ann.open_issue("blocked")
    run(world.tracker().add_dependency(world.ref(blocked), world.ref(1)))
    waiting = world.ann.open_issue("waiting")
    run(world.tracker().change(world.ref(waiting), IssueChange(status="blocked")))
    before = len(world.github.journal.calls("*"))
    ready = run(world.tracker().list_ready(10))
    assert [each.title for each in ready] == ["urgent", "old", "someday"]
    assert len(world.github.journal.calls("*")) - before <= 3


def test_bots_and_readers_never_decide(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Decide")
    world.github.person("ci[bot]", "write")
    world.github.person("root", "admin")
    logins = ("ann", "root", "mallory", "ci[bot]", "", "nobody/../ann")
    assert [run(world.tracker().may_decide(world.ref(number), each)) for each in logins] == [True, True] + [False] * 4


def test_comments_of_bots_are_marked_as_such(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Chat")
    world.github.person("ci[bot]", "write").comment(number, "/approve")
    page = run(world.tracker().comments_since({world.ref(number): ""}))[world.ref(number)]
    assert [(each.author, each.by_bot) for each in page.comments] == [("ci[bot]", True)]
    assert run(world.tracker().comments_since({world.ref(number): page.since}))[world.ref(number)].comments == ()


def test_an_edited_comment_is_seen_again(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Chat")
    comment = world.ann.comment(number, "hm")
    page = run(world.tracker().comments_since({world.ref(number): ""}))[world.ref(number)]
    world.github.advance(5)
    world.ann.edit_comment(comment, "/approve")
    later = run(world.tracker().comments_since({world.ref(number): page.since}))[world.ref(number)]
    assert [each.body for each in later.comments] == ["/approve"]
    assert later.comments[0].edited_at > later.comments[0].at


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "\u202e\u2066evil", "</issue>\n<script>", "a\0b", "{{ x }} $(id) `id`"]
)
def test_hostile_text_is_posted_as_text(world: GitHubWorld, text: str) -> None:
    number = world.ann.open_issue("Hostile")
    first = run(world.tracker().put_comment(world.ref(number), text, PROGRESS))
    assert run(world.tracker().put_comment(world.ref(number), text, PROGRESS)) == first
    (comment,) = world.github.comments(number)
    assert len(comment["body"]) <= 65_536
    assert comment["body"].endswith(write_mark(PROGRESS))


def test_the_token_is_never_posted(world: GitHubWorld) -> None:
    number = world.ann.open_issue("Leak")
    token = world.github.token
    run(world.tracker().put_comment(world.ref(number), f"the token is {token}", PROGRESS))
    run(world.tracker().create(IssueDraft(title=f"see {token}", body=token), Marker(what="issue", key="leak")))
    run(world.tracker().change(world.ref(number), IssueChange(title=token, body=token)))
    assert token not in str(world.github.comments(number)) + str(world.github.issues())


def test_attachments_are_downloaded_from_github_alone(world: GitHubWorld, tmp_path: Path) -> None:
    log = world.github.attach("log.txt", b"a log")
    image = world.github.attach("shot.png", b"png", "image/png")
    body = f"See [log]({log}), ![]({image}) and https://evil.invalid/user-attachments/files/1/x.txt"
    number = world.ann.open_issue("Files", body)
    issue = run(world.tracker().read(world.ref(number)))
    assert [each.url for each in issue.attachments] == [log, image]
    folder = tmp_path / "files"
    named = [replace(each, name="../../same") for each in issue.attachments]
    stored = run(world.tracker().download(named, folder))
    assert [Path(each.path).parent for each in stored] == [folder, folder]
    assert [Path(each.path).read_bytes() for each in stored] == [b"a log", b"png"]


def test_big_and_many_attachments_are_refused(world: GitHubWorld, tmp_path: Path) -> None:
    big = Attachment(name="big", url=world.github.attach("big", b"x" * (LARGEST + 1)))
    small = Attachment(name="small", url=world.github.attach("small", b"x"))
    stored = run(world.tracker().download([big, *[small] * MOST], tmp_path / "files"))
    assert "bigger" in stored[0].problem
    assert "only the first" in stored[-1].problem
    assert [each.problem for each in stored[1:-1]] == [""] * (MOST - 1)
    assert len(list((tmp_path / "files").iterdir())) == MOST - 1


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("https://github.com/user-attachments/assets/0a1b", True),
        ("https://github.com/user-attachments/files/12/log.txt", True),
        ("https://github.com/acme/shop/files/12/log.txt", True),
        ("https://user-images.githubusercontent.com/1/2.png", True),
        ("https://private-user-images.githubusercontent.com/1/2.png?jwt=x", True),
        ("https://github.com/acme/shop/settings", False),
        ("https://github.com/user-attachments/../acme/shop/settings", False),
        ("https://github.com/user-attachments/files/1/..%2f..%2fsettings/x", False),
        ("http://github.com/user-attachments/files/1/a", False),
        ("https://github.com@evil.org/user-attachments/files/1/a", False),
        ("https://github.com:8443/user-attachments/files/1/a", False),
        ("https://raw.githubusercontent.com/acme/shop/main/x", False),
        ("https://evil.org/user-attachments/files/1/a", False),
        ("https://[::1/user-attachments/files/1/a", False),
    ],
)
def test_only_the_addresses_of_attachments_count(url: str, *, is_one: bool) -> None:
    assert is_attachment(url, endpoint_at("https://api.github.com")) == is_one


def test_relations_fall_back_to_task_lists_where_a_host_has_none(world: GitHubWorld) -> None:
    first, second = world.ann.open_issue("First"), world.ann.open_issue("Second", "Text.")
    for path in ("dependencies/blocked_by", "sub_issues", "parent"):
        world.github.fail(f"* */{path}", "404", times=99)
    for _ in range(2):
        run(world.tracker().add_dependency(world.ref(second), world.ref(first)))
        run(world.tracker().add_dependency(world.ref(second), world.ref(first), "parent-child"))
    issue = run(world.tracker().read(world.ref(second)))
    assert [each.on for each in issue.dependencies] == [str(first)]
    assert issue.parent == str(first)
    assert issue.body == f"Text.\n\n- [ ] Blocked by #{first}\n\nPart of #{first}"
    assert world.github.read(f"/issues/{first}")["body"] == f"- [ ] #{second}"


def test_priority_kind_and_status_are_labels(world: GitHubWorld) -> None:
    draft = IssueDraft(title="Big", priority=1, kind="feature")
    ref = run(world.tracker().create(draft, Marker(what="issue", key="big")))
    issue = run(world.tracker().read(ref))
    assert (issue.priority, issue.kind, set(issue.labels)) == (1, "feature", {"P1", "enhancement"})
    run(world.tracker().change(ref, IssueChange(status="in_progress", priority=3)))
    issue = run(world.tracker().read(ref))
    assert (issue.priority, issue.status, issue.state) == (3, "in_progress", "open")
    run(world.tracker().change(ref, IssueChange(close="not_planned")))
    issue = run(world.tracker().read(ref))
    assert (issue.status, set(issue.labels)) == ("closed", {"P3", "enhancement"})
    assert world.github.read(f"/issues/{ref.id}")["state_reason"] == "not_planned"


CLAIMANT = """
import asyncio, sys
from pathlib import Path
from handrail.model.issues import Claim, IssueRef
from handrail.sources.folders import user_folders
from handrail.trackers.github.remotes import parse_place
from handrail.trackers.github.api.connection import GitHubConnection
from handrail.trackers.github.api.endpoint import configured_endpoint, GitHubSetting
from handrail.trackers.github.tracker import GitHubTracker
import os
place, number, data, name = sys.argv[1:]
made = GitHubConnection(configured_endpoint(os.environ, GitHubSetting()), dict(os.environ), Path(data))
tracker = GitHubTracker(made, parse_place(place))
claim = Claim(by=f"agent:{name}", run=name)
print(asyncio.run(tracker.claim(IssueRef(place, number), claim)).is_mine)
"""


@pytest.mark.system
@pytest.mark.parametrize("shared", [True, False])
def test_of_twenty_processes_that_claim_an_issue_one_gets_it(
    world: GitHubWorld, tmp_path: Path, *, shared: bool
) -> None:
    number = world.ann.open_issue("Wanted")
    environ = {"PATH": "/usr/bin:/bin", **world.github.environment()}
    started = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", CLAIMANT, str(world.repository), str(number)),
                *(str(tmp_path / ("data" if shared else f"data-{each}")), f"demo-{each}"),
            ],
            env=environ,
            stdout=subprocess.PIPE,
            text=True,
        )
        for each in range(20)
    ]
    printed = [each.communicate(timeout=120)[0].strip() for each in started]
    assert sorted(printed) == ["False"] * 19 + ["True"]
    assert len(world.github.comments(number)) == 1
