"""GraphQL on the double of GitHub: GitHub's own schema decides what may be asked."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from support.github.double import GitHubDouble

Ask = Callable[..., Any]
READY = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
DRAFT = "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
AUTO = (
    "mutation($id: ID!) { enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: SQUASH}) "
    "{ pullRequest { autoMergeRequest { mergeMethod } } } }"
)
RESOLVE = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }"
STATE = """query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) {
  pullRequest(number: $number) {
    id isDraft mergeable mergeStateStatus state
    closingIssuesReferences(first: 10) { nodes { number repository { nameWithOwner } } }
    reviewThreads(first: 50) { nodes { id isResolved isOutdated path line
      comments(first: 10) { nodes { body author { login __typename } } } } }
    statusCheckRollup { state contexts(first: 10) { nodes {
      ... on CheckRun { name conclusion } ... on StatusContext { context state } } } }
  } } }"""


@pytest.fixture
def ask(github: GitHubDouble, api: httpx2.Client) -> Ask:
    """Ask something with GraphQL."""

    def ask(query: str, token: str = "", **variables: Any) -> Any:
        headers = {"Authorization": f"bearer {token}"} if token else {}
        payload = {"query": query, "variables": variables}
        return api.post(f"{github.url}/api/graphql", json=payload, headers=headers).json()

    return ask


@pytest.fixture
def number(github: GitHubDouble) -> int:
    """Open a draft that closes an issue."""
    ann = github.person("ann", "write")
    ann.open_issue("Broken")
    ann.push("work", {"a.txt": "a\nb\n"})
    return github.me.open_pull("work", body="Closes #1", draft=True)


def state(github: GitHubDouble, ask: Ask, number: int) -> Any:
    """Ask for the whole state of a pull request."""
    repository = github.repository
    found = ask(STATE, owner=repository.owner.login, name=repository.name, number=number)
    return found["data"]["repository"]["pullRequest"]


def test_a_draft_becomes_ready_and_a_draft_again(github: GitHubDouble, ask: Ask, number: int) -> None:
    node = github.read(f"/pulls/{number}")["node_id"]
    assert ask(READY, id=node)["data"]["markPullRequestReadyForReview"]["pullRequest"]["isDraft"] is False
    assert github.read(f"/pulls/{number}")["draft"] is False
    assert ask(DRAFT, id=node)["data"]["convertPullRequestToDraft"]["pullRequest"]["isDraft"] is True
    assert github.journal.count("GRAPHQL markPullRequestReadyForReview") == 1
    assert len(github.journal.writes()) == 2


def test_actions_may_not_change_drafts(github: GitHubDouble, ask: Ask, number: int) -> None:
    token = github.new_token("github-actions[bot]", "ghs_")
    node = github.read(f"/pulls/{number}")["node_id"]
    [error] = ask(READY, token=token.value, id=node)["errors"]
    assert (error["type"], error["message"]) == ("FORBIDDEN", "Resource not accessible by integration")


def test_the_state_of_a_pull_request_is_read_at_once(github: GitHubDouble, ask: Ask, number: int) -> None:
    ann = github.person("ann")
    sha = github.repository.git.branches["work"]
    ann.review(number, "changes_requested", "No", [{"path": "a.txt", "line": 2, "body": "Why?"}])
    github.report_check(sha, "ci", "success")
    github.report_status(sha, "lint", "failure")
    found = state(github, ask, number)
    assert (found["isDraft"], found["mergeable"], found["state"]) == (True, "MERGEABLE", "OPEN")
    assert [each["number"] for each in found["closingIssuesReferences"]["nodes"]] == [1]
    assert found["statusCheckRollup"]["state"] == "FAILURE"
    [thread] = found["reviewThreads"]["nodes"]
    assert (thread["isResolved"], thread["isOutdated"], thread["line"]) == (False, False, 2)
    assert thread["comments"]["nodes"][0]["author"] == {"login": "ann", "__typename": "User"}
    ask(RESOLVE, id=thread["id"])
    ann.push("work", {"a.txt": "a\nc\n"})
    [thread] = state(github, ask, number)["reviewThreads"]["nodes"]
    assert (thread["isResolved"], thread["isOutdated"], thread["line"]) == (True, True, None)


def test_auto_merge_waits_for_required_checks(github: GitHubDouble, ask: Ask, number: int) -> None:
    node = github.read(f"/pulls/{number}")["node_id"]
    ask(READY, id=node)
    [error] = ask(AUTO, id=node)["errors"]
    assert error["message"] == "Pull request Pull request is in clean status"
    github.repository.required_checks = ["ci"]
    assert "errors" not in ask(AUTO, id=node)
    github.report_check(github.repository.git.branches["work"], "ci", "success")
    assert github.read(f"/pulls/{number}")["merged"] is True
    assert github.read("/issues/1")["state"] == "closed"


def test_a_repository_may_not_allow_auto_merge(github: GitHubDouble, ask: Ask, number: int) -> None:
    github.repository.allow_auto_merge = False
    [error] = ask(AUTO, id=github.read(f"/pulls/{number}")["node_id"])["errors"]
    assert error["message"] == "Auto merge is not allowed for this repository"


def test_what_the_schema_does_not_have_fails_the_test(github: GitHubDouble, ask: Ask) -> None:
    ask("{ viewer { password } }")
    ask("{ viewer {")
    ask(READY)
    found = github.take_problems()
    assert "Cannot query field 'password' on type 'User'." in found[0]
    assert "Syntax Error" in found[1]
    assert "$id" in found[2]


def test_a_connection_must_be_limited(github: GitHubDouble, ask: Ask, number: int) -> None:
    node = github.read(f"/pulls/{number}")["node_id"]
    query = "query($id: ID!) { node(id: $id) { ... on PullRequest { reviewThreads { totalCount } } } }"
    [error] = ask(query, id=node)["errors"]
    assert error["message"].startswith("You must provide a `first` or `last` value")
