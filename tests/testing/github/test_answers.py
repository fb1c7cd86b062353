"""Every answer of the double of GitHub is one that GitHub's description allows."""

import pytest

from support.github.double import GitHubDouble
from support.github.routes import ROUTES

READS = sorted(each.removeprefix("GET ") for each in ROUTES if each.startswith("GET "))


@pytest.fixture
def places(github: GitHubDouble) -> dict[str, str]:
    """Fill a repository with something of everything, and say where it is."""
    ann, me, repository = github.person("ann", "admin"), github.me, github.repository
    repository.checks_on_push = ["ci"]
    whole, part = ann.open_issue("Whole", "Text", ["bug"]), ann.open_issue("Part")
    ids = [github.read(f"/issues/{number}")["id"] for number in (whole, part)]
    ann.call("POST", f"/issues/{part}/sub_issues", {"sub_issue_id": ids[0]})
    ann.call("POST", f"/issues/{whole}/dependencies/blocked_by", {"issue_id": ids[1]})
    ann.call("POST", f"/issues/{whole}/assignees", {"assignees": ["ann"]})
    comment = me.comment(whole, "Hello")
    ann.call("POST", f"/issues/comments/{comment}/reactions", {"content": "eyes"})
    sha = ann.push("work", {"a.txt": "a\nb\n"})
    check = github.report_check(sha, "ci", "failure", log="1 failed")
    github.report_status(sha, "lint", "success", "fine")
    number = me.open_pull("work", body=f"Closes #{whole}")
    me.call("POST", f"/pulls/{number}/requested_reviewers", {"reviewers": ["ann"], "team_reviewers": ["core"]})
    review = ann.review(number, "changes_requested", "No", [{"path": "a.txt", "line": 1, "body": "Why?"}])
    line = github.read(f"/pulls/{number}/comments")[0]["id"]
    ann.merge(number, "squash")
    suite = github.read(f"/commits/{sha}/check-suites")["check_suites"][0]["id"]
    return {
        "owner": repository.owner.login, "repo": repository.name, "issue_number": str(whole),
        "pull_number": str(number), "comment_id": str(comment), "line_comment_id": str(line), "review_id": str(review),
        "branch": "work",
        "ref": sha, "commit_sha": sha, "basehead": "main...work", "path": "README.md", "name": "bug", "assignee": "ann",
        "username": "ann", "check_run_id": str(check), "job_id": str(check), "check_suite_id": str(suite),
        "run_id": str(suite), "hook_id": "1",
    }  # fmt: skip


def test_whatever_can_be_read_is_answered_as_described(github: GitHubDouble, places: dict[str, str]) -> None:
    token = github.person("ann").token
    refused: list[str] = []
    for template in READS:
        named = {**places, "comment_id": places["line_comment_id"]} if "pulls/comments" in template else places
        named = {**named, "ref": "heads/work"} if "/git/" in template else named
        path = template.format(**named) + ("?q=whole" if template.startswith("/search") else "")
        if github.answer("GET", path, None, token).status >= 400:
            refused.append(path)
    assert refused == []
    assert github.problems == []
