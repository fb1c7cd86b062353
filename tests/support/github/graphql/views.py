"""How the things of the double look in GraphQL, and what its mutations do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from support.github.calls import Call
from support.github.changes import closing_references
from support.github.json_values import Json
from support.github.represent import association_of, pull_of
from support.github.routes.code import show_commit
from support.github.routes.pulls import find_merge_state, find_mergeable
from support.github.routes.reviews import is_outdated
from support.github.state import Account, Comment, Issue, Pull, Repository, Review, Thread, stamp, stamp_or_none

Field = Callable[..., Any]
_MOST = 100


class GraphqlRefusal(Exception):
    """A field or a mutation is refused, as GitHub words it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(slots=True)
class View:
    """What a caller sees."""

    call: Call

    def root(self) -> Json:
        """Return the fields of queries."""
        limit = {"cost": 1, "limit": 5000, "remaining": 4999, "used": 1, "resetAt": stamp(self.call.world.now() + 3600)}
        return {
            "viewer": _late(lambda: self.actor(self.call.account)),
            "rateLimit": _late(lambda: limit),
            "repository": self._find_repository,
            "node": self._find_node,
            "nodes": self._find_nodes,
        }

    def _find_node(self, _: Any, id: str) -> Json:  # noqa: A002 (the name of the argument)
        return self.node(id)

    def _find_nodes(self, _: Any, ids: list[str]) -> list[Json]:
        return [self.node(each) for each in ids]

    def _find_repository(self, _: Any, owner: str, name: str, **__: Any) -> Json:
        found = self.call.world.repository(owner, name)
        if found is None or not found.may(self.call.viewer, "read"):
            raise GraphqlRefusal("NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return self.repository(found)

    def node(self, node: str) -> Json:
        """Find something by its global id."""
        for repository in self.call.world.repositories.values():
            if repository.may(self.call.viewer, "read"):
                for issue in repository.issues.values():
                    if issue.node == node:
                        return self.pull(repository, issue) if issue.pull else self.issue(repository, issue)
                    for thread in issue.pull.threads if issue.pull else ():
                        if thread.node == node:
                            return self.thread(repository, issue, thread)
        raise GraphqlRefusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'.")

    def actor(self, account: Account | None) -> Json | None:
        """Show an account."""
        if account is None:
            return None
        kind = account.type if account.type in ("User", "Bot", "Organization") else "User"
        # GraphQL names bots without the suffix that REST has.
        login = account.login.removesuffix("[bot]")
        place = f"/{login}"
        return {"__typename": kind, "id": f"U_kgDO{account.id}", "databaseId": account.id, "login": login,
                "name": login,
                "url": self.call.world.base + place, "resourcePath": place,
                "avatarUrl": self.call.world.base}  # fmt: skip

    def repository(self, repository: Repository) -> Json:
        """Show a repository."""

        def pulls(
            info: Any,
            states: list[str] | None = None,
            headRefName: str | None = None,  # noqa: N803 (its name in the schema)
            baseRefName: str | None = None,  # noqa: N803 (its name in the schema)
            **page: Any,
        ) -> Json:
            found = [
                self.pull(repository, each)
                for each in repository.issues.values()
                if each.pull
                and (not states or _state(each) in states)
                and headRefName in (None, each.pull.head)
                and baseRefName in (None, each.pull.base)
            ]
            return _connect(found)(info, **page)

        default = repository.default_branch
        head = repository.git.branches.get(default, "")
        return {
            "__typename": "Repository", "id": f"R_kgDO{repository.id}", "name": repository.name, "pullRequests": pulls,
            "nameWithOwner": repository.full_name, "owner": self.actor(repository.owner),
            "isPrivate": repository.private,
            "url": f"{self.call.world.base}/{repository.full_name}", "autoMergeAllowed": repository.allow_auto_merge,
            "defaultBranchRef": {
                "id": "REF_1", "name": default, "target": _late(lambda: self.commit(repository, head)),
            },
            "viewerPermission": repository.permission_of(self.call.viewer).upper(),
            "mergeCommitAllowed": "merge" in repository.methods, "squashMergeAllowed": "squash" in repository.methods,
            "rebaseMergeAllowed": "rebase" in repository.methods,
            "pullRequest": self._numbered(repository, is_pull=True),
            "issue": self._numbered(repository, is_pull=False),
        }  # fmt: skip

    def _numbered(self, repository: Repository, *, is_pull: bool) -> Field:
        def find(_: Any, number: int) -> Json:
            issue = repository.issues.get(number)
            if issue is None or (issue.pull is not None) != is_pull:
                kind = "PullRequest" if is_pull else "Issue"
                raise GraphqlRefusal("NOT_FOUND", f"Could not resolve to a {kind} with the number of {number}.")
            return self.pull(repository, issue) if is_pull else self.issue(repository, issue)

        return find

    def _text(self, repository: Repository, issue: Issue) -> Json:
        kind = "pull" if issue.pull else "issues"
        return {
            "id": issue.node, "number": issue.number, "title": issue.title, "body": issue.body or "",
            "author": self.actor(issue.author), "closed": issue.state == "closed",
            "closedAt": stamp_or_none(issue.closed_at),
            "createdAt": stamp(issue.created_at), "updatedAt": stamp(issue.updated_at),
            "url": f"{self.call.world.base}/{repository.full_name}/{kind}/{issue.number}",
            "repository": _late(lambda: self.repository(repository)),
        }  # fmt: skip

    def issue(self, repository: Repository, issue: Issue) -> Json:
        """Show an issue."""
        reason = issue.state_reason.upper() if issue.state_reason else None
        return {**self._text(repository, issue), "__typename": "Issue", "databaseId": issue.id,
                "fullDatabaseId": str(issue.id),
                "state": issue.state.upper(), "stateReason": _late(lambda: reason)}  # fmt: skip

    def pull(self, repository: Repository, issue: Issue) -> Json:
        """Show a pull request; what costs a call of git is only found out if it is asked for."""
        pull, call = pull_of(issue), self.call

        def reviews(info: Any, states: list[str] | None = None, author: str | None = None, **page: Any) -> Json:
            found = [
                each
                for each in pull.reviews
                if (not states or each.state in states) and author in (None, each.author.login)
            ]
            return _connect(self.review(repository, issue, each) for each in found)(info, **page)

        closing = closing_references(repository, issue.body) if pull.base == repository.default_branch else []
        labels = [repository.labels[name.lower()] for name in issue.labels]
        newest = {each.author.login: each for each in pull.reviews}
        return {
            **self._text(repository, issue), "__typename": "PullRequest", "databaseId": pull.id,
            "fullDatabaseId": str(pull.id), "state": _state(issue), "isDraft": pull.draft, "isCrossRepository": False,
            "headRefName": pull.head, "headRefOid": pull.head_sha, "baseRefName": pull.base,
            "baseRefOid": pull.base_sha,
            "merged": pull.merged_at is not None, "mergedAt": stamp_or_none(pull.merged_at),
            "mergedBy": self.actor(pull.merged_by), "reviewDecision": _decide(pull),
            "mergeCommit": _late(lambda: pull.merge_commit and self.commit(repository, pull.merge_commit)),
            "mergeable": _late(lambda: _MERGEABLE[find_mergeable(call, repository, issue)]),
            "mergeStateStatus": _late(lambda: self._merge_state(repository, issue)),
            "closingIssuesReferences": _connect(self.issue(repository, each) for each in closing),
            "comments": _connect(self.comment(repository, issue, each) for each in issue.comments),
            "commits": _connect_late(lambda: self._commits(repository, pull)),
            "labels": _connect({**each, "id": each["node_id"]} for each in labels),
            "reviews": reviews,
            "latestReviews": _connect(self.review(repository, issue, each) for each in newest.values()),
            "reviewRequests": _connect(
                {"id": f"RR_{each.id}", "asCodeOwner": False, "requestedReviewer": self.actor(each)}
                for each in pull.reviewers
            ),
            "reviewThreads": _connect_late(lambda: [self.thread(repository, issue, each) for each in pull.threads]),
            "statusCheckRollup": _late(lambda: self.rollup(repository, pull.head_sha)),
            "autoMergeRequest": pull.auto_merge and {
                "enabledAt": stamp(issue.updated_at), "mergeMethod": pull.auto_merge["merge_method"].upper(),
                "enabledBy": self.actor(call.world.account(pull.auto_merge["enabled_by"]["login"])),
            },
            "viewerCanEnableAutoMerge": repository.allow_auto_merge, "viewerCanUpdate": repository.may(call.viewer,
            "write"),
            "viewerDidAuthor": issue.author is call.viewer,
        }  # fmt: skip

    def _merge_state(self, repository: Repository, issue: Issue) -> str:
        return find_merge_state(repository, issue, find_mergeable(self.call, repository, issue)).upper()

    def _commits(self, repository: Repository, pull: Pull) -> list[Json]:
        shas = repository.git.commits(pull.base_sha, pull.head_sha)
        return [{"id": f"PRC_{sha}", "commit": self.commit(repository, sha)} for sha in shas]

    def commit(self, repository: Repository, sha: str) -> Json:
        """Show a commit."""
        shown = show_commit(self.call, repository, sha)
        message = shown["commit"]["message"]
        return {"__typename": "Commit", "id": f"C_{sha}", "oid": sha, "message": message, "url": shown["html_url"],
                "messageHeadline": message.split("\n")[0],
                "statusCheckRollup": _late(lambda: self.rollup(repository, sha))}  # fmt: skip

    def rollup(self, repository: Repository, sha: str) -> Json | None:
        """Show what all checks of a commit add up to."""
        checks = {each["name"]: each for each in repository.checks if each["head_sha"] == sha}
        statuses = {each["context"]: each for each in repository.statuses if each["sha"] == sha}
        if not checks and not statuses:
            return None
        contexts: list[Json] = [
            {"__typename": "CheckRun", "id": each["node_id"], "databaseId": each["id"], "name": each["name"],
             "status": each["status"].upper(), "conclusion": each["conclusion"] and each["conclusion"].upper(),
             "detailsUrl": each["details_url"], "url": each["html_url"], "startedAt": each["started_at"],
             "completedAt": each["completed_at"], "summary": each["output"]["summary"], "title": None}
            for each in checks.values()
        ] + [
            {"__typename": "StatusContext", "id": each["node_id"], "context": each["context"],
             "state": each["state"].upper(),
             "description": each["description"], "targetUrl": each["target_url"], "createdAt": each["created_at"]}
            for each in statuses.values()
        ]  # fmt: skip
        words = {(each.get("conclusion") or each.get("status") or each["state"]).upper() for each in contexts}
        bad = words & {"FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE", "STALE"}
        state = "FAILURE" if bad else "SUCCESS" if words <= {"SUCCESS", "NEUTRAL", "SKIPPED"} else "PENDING"
        return {"id": f"SCR_{sha}", "state": state, "contexts": _connect(contexts)}

    def comment(self, repository: Repository, issue: Issue, comment: Comment) -> Json:
        """Show a comment."""
        page = f"{self.call.world.base}/{repository.full_name}/{'pull' if issue.pull else 'issues'}/{issue.number}"
        return {
            "id": f"IC_kwDO{comment.id}", "databaseId": comment.id, "fullDatabaseId": str(comment.id),
            "body": comment.body,
            "author": self.actor(comment.author), "authorAssociation": association_of(repository, comment.author),
            "createdAt": stamp(comment.created_at), "updatedAt": stamp(comment.updated_at),
            "url": f"{page}#issuecomment-{comment.id}",
        }  # fmt: skip

    def line_comment(self, repository: Repository, issue: Issue, comment: Comment) -> Json:
        """Show a comment on a line."""
        outdated = is_outdated(repository, issue, comment)
        return {
            **self.comment(repository, issue, comment), "id": f"PRRC_kwDO{comment.id}", "path": comment.path,
            "line": None if outdated else comment.line, "originalLine": comment.line, "outdated": outdated,
            "diffHunk": f"@@ -1 +1 @@\n+{comment.anchor}",
            "commit": _late(lambda: self.commit(repository, pull_of(issue).head_sha)),
            "originalCommit": _late(lambda: self.commit(repository, comment.commit)), "replyTo": None,
            "url": f"{self.call.world.base}/{repository.full_name}/pull/{issue.number}#discussion_r{comment.id}",
        }  # fmt: skip

    def review(self, repository: Repository, issue: Issue, review: Review) -> Json:
        """Show a review."""
        return {
            "id": f"PRR_kwDO{review.id}", "databaseId": review.id, "fullDatabaseId": str(review.id),
            "body": review.body,
            "author": self.actor(review.author), "state": review.state, "submittedAt": stamp(review.submitted_at),
            "createdAt": stamp(review.submitted_at), "commit": _late(lambda: self.commit(repository, review.commit)),
            "url": f"{self.call.world.base}/{repository.full_name}/pull/{issue.number}#pullrequestreview-{review.id}",
        }  # fmt: skip

    def thread(self, repository: Repository, issue: Issue, thread: Thread) -> Json:
        """Show a thread on a line."""
        first = thread.comments[0]
        outdated = is_outdated(repository, issue, first)
        return {
            "__typename": "PullRequestReviewThread", "id": thread.node, "isResolved": thread.resolved_by is not None,
            "isOutdated": outdated, "isCollapsed": outdated or thread.resolved_by is not None, "path": first.path,
            "line": None if outdated else first.line, "originalLine": first.line, "diffSide": "RIGHT",
            "resolvedBy": self.actor(thread.resolved_by), "pullRequest": _late(lambda: self.pull(repository, issue)),
            "comments": _connect(self.line_comment(repository, issue, each) for each in thread.comments),
            "viewerCanReply": True, "viewerCanResolve": repository.may(self.call.viewer, "write"),
            "viewerCanUnresolve": repository.may(self.call.viewer, "write"),
        }  # fmt: skip


_MERGEABLE = {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}


def _state(issue: Issue) -> str:
    return "MERGED" if pull_of(issue).merged_at is not None else issue.state.upper()


def _decide(pull: Pull) -> str | None:
    newest = {each.author.login: each.state for each in pull.reviews if each.state in ("APPROVED", "CHANGES_REQUESTED")}
    if "CHANGES_REQUESTED" in newest.values():
        return "CHANGES_REQUESTED"
    return "APPROVED" if newest else "REVIEW_REQUIRED" if pull.reviewers else None


def _late(find: Callable[[], Any]) -> Field:
    def resolve(_: Any, **__: Any) -> Any:
        return find()

    return resolve


def _connect(items: Iterable[Any]) -> Field:
    found = list(items)
    return _connect_late(lambda: found)


def _connect_late(find: Callable[[], list[Any]]) -> Field:
    """Make a connection, of which a query has to ask for the first or the last so many."""

    def resolve(
        info: Any, first: int | None = None, last: int | None = None, after: str | None = None, **_: Any
    ) -> Json:
        size = first if first is not None else last
        if size is None:
            text = (
                f"You must provide a `first` or `last` value to properly paginate the `{info.field_name}` connection."
            )
            raise GraphqlRefusal("MISSING_PAGINATION_BOUNDARIES", text)
        if not 0 < size <= _MOST:
            place = f"the `{info.field_name}` connection"
            text = f"Requesting {size} records on {place} exceeds the `first` limit of {_MOST} records."
            raise GraphqlRefusal("EXCESSIVE_PAGINATION", text)
        found = find()
        start = int(after) if after else (0 if first is not None else max(0, len(found) - size))
        page = found[start : start + size]
        return {
            "totalCount": len(found), "nodes": page,
            "pageInfo": {"hasNextPage": start + size < len(found),
            "endCursor": str(start + len(page)) if page else None,
                         "hasPreviousPage": start > 0, "startCursor": str(start) if page else None},
        }  # fmt: skip

    return resolve
