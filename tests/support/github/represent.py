"""How the things of the double look in REST answers; what is not said here comes from the description."""

from collections import Counter
from typing import Any

from support.github.calls import Call
from support.github.json_values import Json
from support.github.state import Account, Comment, Issue, Pull, Repository, Review, stamp, stamp_or_none

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def show_account(account: Account | None) -> Json | None:
    """Show an account as part of something else."""
    if account is None:
        return None
    return {"login": account.login, "id": account.id, "node_id": f"U_kgDO{account.id}", "type": account.type,
            "site_admin": False, "avatar_url": "", "gravatar_id": ""}  # fmt: skip


def show_repository(call: Call, repository: Repository) -> Json:
    """Show a repository."""
    url = f"{call.api}/repos/{repository.full_name}"
    page = f"{call.world.base}/{repository.full_name}"
    permission = repository.permission_of(call.viewer)
    return {
        "id": repository.id, "node_id": f"R_kgDO{repository.id}", "name": repository.name,
        "full_name": repository.full_name, "private": repository.private, "owner": show_account(repository.owner),
        "html_url": page, "url": url, "clone_url": f"{page}.git", "git_url": f"{page}.git", "fork": False,
        "default_branch": repository.default_branch, "has_issues": True, "archived": False, "disabled": False,
        "visibility": "private" if repository.private else "public",
        "issues_url": url + "/issues{/number}", "pulls_url": url + "/pulls{/number}",
        "allow_auto_merge": repository.allow_auto_merge, "allow_merge_commit": "merge" in repository.methods,
        "allow_squash_merge": "squash" in repository.methods, "allow_rebase_merge": "rebase" in repository.methods,
        "permissions": {
            "admin": permission == "admin", "maintain": permission in ("admin", "maintain"),
            "push": permission in ("admin", "maintain", "write"),
            "triage": permission in ("admin", "maintain", "write", "triage"), "pull": permission != "none",
        },
    }  # fmt: skip


def show_label(call: Call, repository: Repository, name: str) -> Json:
    """Show a label."""
    return {**repository.labels[name.lower()], "url": f"{call.api}/repos/{repository.full_name}/labels/{name}"}


def show_reactions(reactions: list[Json]) -> Json:
    """Count reactions."""
    counts = Counter(each["content"] for each in reactions)
    return {"url": "http://127.0.0.1/", "total_count": len(reactions), **{name: counts[name] for name in REACTIONS}}


def association_of(repository: Repository, account: Account) -> str:
    """Say what an author is to a repository."""
    if account is repository.owner:
        return "OWNER"
    return "COLLABORATOR" if account.login in repository.permissions else "NONE"


def show_issue(call: Call, repository: Repository, issue: Issue) -> Json:
    """Show an issue, or the issue side of a pull request."""
    url = f"{call.api}/repos/{repository.full_name}/issues/{issue.number}"
    shown: Json = {
        **_show_common(call, repository, issue),
        "url": url, "repository_url": f"{call.api}/repos/{repository.full_name}", "labels_url": url + "/labels{/name}",
        "comments_url": f"{url}/comments", "events_url": f"{url}/events", "id": issue.id,
        "html_url": f"{call.world.base}/{repository.full_name}/{'pull' if issue.pull else 'issues'}/{issue.number}",
        "node_id": issue.node, "state_reason": issue.state_reason, "comments": len(issue.comments),
        "closed_by": show_account(issue.closed_by), "reactions": show_reactions(issue.reactions),
        "sub_issues_summary": {
            "total": len(issue.sub_issues), "completed": sum(each.state == "closed" for each in issue.sub_issues),
            "percent_completed": 0,
        },
        "issue_dependencies_summary": {
            "blocked_by": sum(each.state == "open" for each in issue.blocked_by),
            "total_blocked_by": len(issue.blocked_by),
            "blocking": 0, "total_blocking": sum(issue in each.blocked_by for each in repository.issues.values()),
        },
    }  # fmt: skip
    if issue.parent is not None:
        shown["parent_issue_url"] = f"{call.api}/repos/{repository.full_name}/issues/{issue.parent.number}"
    if issue.pull is not None:
        page = f"{call.world.base}/{repository.full_name}/pull/{issue.number}"
        shown["draft"] = issue.pull.draft
        shown["pull_request"] = {
            "url": f"{call.api}/repos/{repository.full_name}/pulls/{issue.number}", "html_url": page,
            "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "merged_at": stamp_or_none(issue.pull.merged_at),
        }  # fmt: skip
    return shown


def _show_common(call: Call, repository: Repository, issue: Issue) -> Json:
    return {
        "number": issue.number, "title": issue.title, "body": issue.body, "user": show_account(issue.author),
        "state": issue.state, "locked": issue.locked, "active_lock_reason": issue.lock_reason, "milestone": None,
        "labels": [show_label(call, repository, name) for name in issue.labels],
        "assignee": show_account(issue.assignees[0]) if issue.assignees else None,
        "assignees": [show_account(each) for each in issue.assignees],
        "created_at": stamp(issue.created_at), "updated_at": stamp(issue.updated_at),
        "closed_at": stamp_or_none(issue.closed_at), "author_association": association_of(repository, issue.author),
    }  # fmt: skip


def show_comment(call: Call, repository: Repository, issue: Issue, comment: Comment) -> Json:
    """Show a comment of an issue or a pull request."""
    start = f"{call.api}/repos/{repository.full_name}/issues"
    page = f"{call.world.base}/{repository.full_name}/{'pull' if issue.pull else 'issues'}/{issue.number}"
    return {
        "id": comment.id, "node_id": f"IC_kwDO{comment.id}", "url": f"{start}/comments/{comment.id}",
        "html_url": f"{page}#issuecomment-{comment.id}", "issue_url": f"{start}/{issue.number}",
        "user": show_account(comment.author), "body": comment.body, "created_at": stamp(comment.created_at),
        "updated_at": stamp(comment.updated_at), "author_association": association_of(repository, comment.author),
        "reactions": show_reactions(comment.reactions),
    }  # fmt: skip


def show_pull(call: Call, repository: Repository, issue: Issue) -> Json:
    """Show a pull request as lists do."""
    pull = pull_of(issue)
    url = f"{call.api}/repos/{repository.full_name}/pulls/{issue.number}"
    issue_url = f"{call.api}/repos/{repository.full_name}/issues/{issue.number}"
    page = f"{call.world.base}/{repository.full_name}/pull/{issue.number}"
    links = {
        "self": url, "html": page, "issue": issue_url, "comments": f"{issue_url}/comments",
        "review_comments": f"{url}/comments", "review_comment": url + "/comments{/number}", "commits": f"{url}/commits",
        "statuses": f"{call.api}/repos/{repository.full_name}/statuses/{pull.head_sha}",
    }  # fmt: skip
    return {
        **_show_common(call, repository, issue),
        "id": pull.id, "node_id": issue.node, "url": url, "html_url": page, "issue_url": issue_url, "draft": pull.draft,
        "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "merged_at": stamp_or_none(pull.merged_at),
        "merge_commit_sha": pull.merge_commit, "auto_merge": pull.auto_merge,
        "requested_reviewers": [show_account(each) for each in pull.reviewers],
        "requested_teams": [{"slug": each, "name": each} for each in pull.teams],
        "head": _show_end(call, repository, pull.head, pull.head_sha),
        "base": _show_end(call, repository, pull.base, pull.base_sha),
        "_links": {name: {"href": href} for name, href in links.items()},
    }  # fmt: skip


def _show_end(call: Call, repository: Repository, ref: str, sha: str) -> Json:
    owner = repository.owner
    return {"label": f"{owner.login}:{ref}", "ref": ref, "sha": sha, "user": show_account(owner),
            "repo": show_repository(call, repository)}  # fmt: skip


def show_review(call: Call, repository: Repository, issue: Issue, review: Review) -> Json:
    """Show a review."""
    page = f"{call.world.base}/{repository.full_name}/pull/{issue.number}"
    url = f"{call.api}/repos/{repository.full_name}/pulls/{issue.number}"
    return {
        "id": review.id, "node_id": f"PRR_kwDO{review.id}", "user": show_account(review.author), "body": review.body,
        "state": review.state, "html_url": f"{page}#pullrequestreview-{review.id}", "pull_request_url": url,
        "_links": {"html": {"href": page}, "pull_request": {"href": url}}, "submitted_at": stamp(review.submitted_at),
        "commit_id": review.commit, "author_association": association_of(repository, review.author),
    }  # fmt: skip


def show_line_comment(call: Call, repository: Repository, issue: Issue, comment: Comment) -> Json:
    """Show a comment on a line."""
    start = f"{call.api}/repos/{repository.full_name}/pulls"
    url, page = f"{start}/{issue.number}", f"{call.world.base}/{repository.full_name}/pull/{issue.number}"
    shown: Json = {
        "id": comment.id, "node_id": f"PRRC_kwDO{comment.id}", "url": f"{start}/comments/{comment.id}",
        "html_url": f"{page}#discussion_r{comment.id}", "pull_request_url": url,
        "pull_request_review_id": comment.review,
        "diff_hunk": f"@@ -1 +1 @@\n+{comment.anchor}", "path": comment.path, "line": comment.line, "side": "RIGHT",
        "original_line": comment.line or 1, "position": comment.line or 1, "original_position": comment.line or 1,
        "commit_id": pull_of(issue).head_sha, "original_commit_id": comment.commit,
        "user": show_account(comment.author),
        "body": comment.body, "created_at": stamp(comment.created_at), "updated_at": stamp(comment.updated_at),
        "author_association": association_of(repository, comment.author),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": url}},
        "reactions": show_reactions(comment.reactions),
    }  # fmt: skip
    if comment.in_reply_to is not None:
        shown["in_reply_to_id"] = comment.in_reply_to
    return shown


def pull_of(issue: Issue) -> Pull:
    """Return the pull request of an issue that is known to be one."""
    if issue.pull is None:
        raise AssertionError(f"#{issue.number} is not a pull request")
    return issue.pull


def replace_none(value: Any, otherwise: str = "") -> str:
    """Return a text that there may be."""
    return value if isinstance(value, str) else otherwise
