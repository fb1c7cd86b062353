"""Pull requests on the double of GitHub: branches, heads, merges and reviews are what git says."""

import httpx2
import pytest

from support.github.double import GitHubDouble
from support.github.people import Person


@pytest.fixture
def ann(github: GitHubDouble) -> Person:
    """Return somebody who may write."""
    return github.person("ann", "write")


def refusal(answer: httpx2.Response) -> str:
    """Return the text of a refusal."""
    body = answer.json()
    details = [
        each if isinstance(each, str) else each.get("message", each.get("field")) for each in body.get("errors", ())
    ]
    return " / ".join([str(answer.status_code), body["message"], *details])


def test_a_second_pull_request_of_a_branch_is_refused(api: httpx2.Client, ann: Person) -> None:
    ann.push("work", {"a.txt": "a\n"})
    fields = {"title": "One", "head": "work", "base": "main", "draft": True}
    assert api.post("/pulls", json=fields).json()["draft"] is True
    owner = ann.repository.owner.login
    assert refusal(api.post("/pulls", json=fields)) == (
        f"422 / Validation Failed / A pull request already exists for {owner}:work."
    )
    found = api.get("/pulls", params={"head": f"{owner}:work", "state": "all"}).json()
    assert [each["number"] for each in found] == [1]
    assert api.get("/pulls", params={"head": f"{owner}:other"}).json() == []


def test_a_head_that_is_unknown_or_has_nothing_new_is_refused(api: httpx2.Client, ann: Person) -> None:
    fields = {"title": "One", "base": "main"}
    assert refusal(api.post("/pulls", json={**fields, "head": "nope"})) == "422 / Validation Failed / head"
    ann.force_push("same", ann.repository.git.branches["main"])
    answer = api.post("/pulls", json={**fields, "head": "same"})
    assert refusal(answer) == "422 / Validation Failed / No commits between main and same"


def test_the_head_follows_its_branch_until_the_pull_request_is_closed(api: httpx2.Client, ann: Person) -> None:
    ann.push("work", {"a.txt": "a\n"})
    number = ann.open_pull("work")
    second = ann.push("work", {"b.txt": "b\nc\n"})
    shown = api.get(f"/pulls/{number}").json()
    assert (shown["head"]["sha"], shown["commits"], shown["additions"]) == (second, 2, 3)
    assert [each["filename"] for each in api.get(f"/pulls/{number}/files").json()] == ["a.txt", "b.txt"]
    ann.close(number)
    ann.push("work", {"c.txt": "c\n"})
    assert api.get(f"/pulls/{number}").json()["head"]["sha"] == second


def test_conflicts_are_found_by_git(github: GitHubDouble, api: httpx2.Client, ann: Person) -> None:
    ann.push("work", {"README.md": "work\n"})
    number = ann.open_pull("work")
    assert api.get(f"/pulls/{number}").json()["mergeable"] is True
    ann.push("main", {"README.md": "main\n"})
    shown = api.get(f"/pulls/{number}").json()
    assert (shown["mergeable"], shown["mergeable_state"]) == (False, "dirty")
    assert refusal(api.put(f"/pulls/{number}/merge", json={})) == "405 / Pull Request is not mergeable"


def test_mergeability_can_be_unknown_at_the_first_look(github: GitHubDouble, api: httpx2.Client, ann: Person) -> None:
    github.world.lazy_mergeability = True
    ann.push("work", {"a.txt": "a\n"})
    number = ann.open_pull("work")
    ann.push("work", {"a.txt": "b\n"})
    assert [api.get(f"/pulls/{number}").json()["mergeable"] for _ in range(2)] == [None, True]


def test_a_draft_and_a_head_that_moved_are_not_merged(api: httpx2.Client, ann: Person) -> None:
    old = ann.push("work", {"a.txt": "a\n"})
    draft = ann.open_pull("work", draft=True)
    assert refusal(api.put(f"/pulls/{draft}/merge", json={})) == "405 / Pull Request is still a draft"
    ann.push("other", {"b.txt": "b\n"})
    ready = ann.open_pull("other")
    answer = api.put(f"/pulls/{ready}/merge", json={"sha": old})
    assert refusal(answer) == "409 / Head branch was modified. Review and try the merge again."


@pytest.mark.parametrize(("method", "parents", "subjects"), [
    ("merge", 2, ["Merge pull request #2 from acme/work", "Two", "One", "Begin"]),
    ("squash", 1, ["A change (#2)", "Begin"]),
    ("rebase", 1, ["Two", "One", "Begin"]),
])  # fmt: skip
def test_a_merge_is_a_commit_on_the_base_and_closes_issues(
    api: httpx2.Client, ann: Person, method: str, parents: int, subjects: list[str]
) -> None:
    ann.open_issue("Broken")
    ann.push("work", {"a.txt": "a\n"}, "One")
    head = ann.push("work", {"b.txt": "b\n"}, "Two")
    number = ann.open_pull("work", body="Closes #1")
    answer = api.put(f"/pulls/{number}/merge", json={"sha": head, "merge_method": method})
    git, commit = ann.repository.git, answer.json()["sha"]
    assert git.branches["main"] == commit
    assert len(git.run("show", "-s", "--format=%P", commit).split()) == parents
    assert git.run("log", "--topo-order", "--format=%s", "main").splitlines() == subjects
    shown = api.get(f"/pulls/{number}").json()
    assert (shown["merged"], shown["state"], shown["merge_commit_sha"]) == (True, "closed", commit)
    assert api.get("/issues/1").json()["state"] == "closed"
    assert api.get(f"/pulls/{number}/merge").status_code == 204


def test_closing_keywords_count_only_on_the_default_branch_and_outside_code(api: httpx2.Client, ann: Person) -> None:
    for title in ("one", "two", "three"):
        ann.open_issue(title)
    ann.push("stable", {"s.txt": "s\n"})
    ann.push("work", {"a.txt": "a\n"}, start="stable")
    ann.merge(ann.open_pull("work", "stable", body="Fixes #1"))
    ann.push("more", {"b.txt": "b\n"}, "More, resolves #3")
    ann.merge(ann.open_pull("more", body="`Closes #2` <!-- Closes #2 -->\n```\nCloses #2\n```\n"))
    assert [api.get(f"/issues/{number}").json()["state"] for number in (1, 2, 3)] == ["open", "open", "closed"]


def test_a_pull_request_whose_branch_is_gone_is_closed_and_stays_so(api: httpx2.Client, ann: Person) -> None:
    ann.push("work", {"a.txt": "a\n"})
    number = ann.open_pull("work")
    ann.delete_branch("work")
    assert api.get(f"/pulls/{number}").json()["state"] == "closed"
    assert api.patch(f"/pulls/{number}", json={"state": "open"}).status_code == 422


def test_nobody_approves_their_own_pull_request(github: GitHubDouble, api: httpx2.Client, ann: Person) -> None:
    ann.push("work", {"a.txt": "a\nb\n"})
    number = github.me.open_pull("work")
    answer = api.post(f"/pulls/{number}/reviews", json={"event": "APPROVE"})
    assert refusal(answer) == "422 / Unprocessable Entity / Can not approve your own pull request"
    assert api.post(f"/pulls/{number}/reviews", json={"event": "COMMENT"}).status_code == 422
    ann.review(number, "changes_requested", "Not yet", [{"path": "a.txt", "line": 2, "body": "Why?"}])
    [review] = api.get(f"/pulls/{number}/reviews").json()
    assert (review["state"], review["user"]["login"]) == ("CHANGES_REQUESTED", "ann")
    [comment] = api.get(f"/pulls/{number}/comments").json()
    assert (comment["line"], comment["pull_request_review_id"]) == (2, review["id"])
    reply = api.post(f"/pulls/{number}/comments/{comment['id']}/replies", json={"body": "Because"})
    assert reply.json()["in_reply_to_id"] == comment["id"]
    wrong = {"body": "x", "path": "a.txt", "line": 9, "commit_id": review["commit_id"]}
    assert api.post(f"/pulls/{number}/comments", json=wrong).status_code == 422


def test_reviews_are_only_asked_of_collaborators(github: GitHubDouble, api: httpx2.Client, ann: Person) -> None:
    ann.push("work", {"a.txt": "a\n"})
    number = github.me.open_pull("work")
    github.person("stranger")
    place = f"/pulls/{number}/requested_reviewers"
    names = ("ann", "stranger", github.me.login)
    assert [api.post(place, json={"reviewers": [name]}).status_code for name in names] == [201, 422, 422]
    assert [each["login"] for each in api.get(place).json()["users"]] == ["ann"]


def test_checks_and_statuses_belong_to_a_commit(github: GitHubDouble, api: httpx2.Client, ann: Person) -> None:
    first = ann.push("work", {"a.txt": "a\n"})
    job = github.report_check(first, "ci", "failure", log="1 failed\n")
    github.report_status(first, "lint", "pending")
    github.report_status(first, "lint", "success")
    runs = api.get(f"/commits/{first}/check-runs").json()["check_runs"]
    assert [(each["name"], each["conclusion"]) for each in runs] == [("ci", "failure")]
    assert api.get(f"/commits/{first}/status").json()["state"] == "success"
    assert api.get(f"/commits/{first}/check-suites").json()["check_suites"][0]["conclusion"] == "failure"
    assert api.get(f"/actions/runs?head_sha={first}").json()["workflow_runs"][0]["conclusion"] == "failure"
    assert api.get(f"/actions/jobs/{job}/logs", follow_redirects=True).text == "1 failed\n"
    second = ann.push("work", {"a.txt": "b\n"})
    assert api.get(f"/commits/{second}/check-runs").json()["total_count"] == 0
    assert api.get(f"/commits/{second}/status").json()["state"] == "pending"


def test_a_push_starts_checks_unless_actions_made_it(github: GitHubDouble, ann: Person) -> None:
    ann.repository.checks_on_push = ["ci"]
    mine = ann.push("work", {"a.txt": "a\n"})
    robot = github.person("github-actions[bot]", "write")
    robot.token = github.new_token("github-actions[bot]", "ghs_")
    its = robot.push("work", {"a.txt": "b\n"})
    counts = [github.read(f"/commits/{sha}/check-runs")["total_count"] for sha in (mine, its)]
    assert counts == [1, 0]
