"""The mutations of GraphQL on the double."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.github.calls import Call
from support.github.changes import note
from support.github.graphql.views import GraphqlRefusal, View
from support.github.json_values import Json
from support.github.represent import pull_of, show_account
from support.github.routes.pulls import find_merge_state, find_mergeable
from support.github.routes.reviews import add_reply
from support.github.state import Account, Issue, Repository, Thread

Field = Callable[..., Any]


@dataclass(slots=True)
class Mutations:
    """What a caller may change."""

    view: View

    @property
    def call(self) -> Call:
        """The call that asks for it."""
        return self.view.call

    def root(self) -> Json:
        """Return the fields of mutations."""
        return {
            "markPullRequestReadyForReview": self._mutate_draft(draft=False),
            "convertPullRequestToDraft": self._mutate_draft(draft=True),
            "enablePullRequestAutoMerge": self._enable_auto_merge,
            "disablePullRequestAutoMerge": self._disable_auto_merge,
            "resolveReviewThread": self._mutate_thread(resolved=True),
            "unresolveReviewThread": self._mutate_thread(resolved=False),
            "addPullRequestReviewThreadReply": self._reply,
        }

    def _find_pull(self, node: str) -> tuple[Repository, Issue]:
        for repository in self.call.world.repositories.values():
            for issue in repository.issues.values():
                if issue.pull and issue.node == node and repository.may(self.call.viewer, "read"):
                    return repository, issue
        raise GraphqlRefusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'.")

    def _require(self, repository: Repository, issue: Issue) -> Account:
        account, token = self.call.account, self.call.token
        if token is not None and (token.is_actions or not token.may_write):
            what = "integration" if token.is_actions else "personal access token"
            raise GraphqlRefusal("FORBIDDEN", f"Resource not accessible by {what}")
        if not repository.may(account, "write") and issue.author is not account:
            raise GraphqlRefusal("FORBIDDEN", f"{account.login} does not have permission for this.")
        return account

    def _mutate_draft(self, *, draft: bool) -> Field:
        def change(_: Any, input: Json) -> Json:  # noqa: A002 (the name of the argument)
            repository, issue = self._find_pull(input["pullRequestId"])
            by, pull = self._require(repository, issue), pull_of(issue)
            if issue.state != "open":
                raise GraphqlRefusal("UNPROCESSABLE", "Pull request is closed")
            if pull.draft != draft:
                pull.draft = draft
                note(self.call.world, issue, "convert_to_draft" if draft else "ready_for_review", by)
            return self._payload(input, pullRequest=self.view.pull(repository, issue))

        return change

    def _enable_auto_merge(self, _: Any, input: Json) -> Json:  # noqa: A002 (the name of the argument)
        repository, issue = self._find_pull(input["pullRequestId"])
        by, pull = self._require(repository, issue), pull_of(issue)
        if not repository.allow_auto_merge:
            raise GraphqlRefusal("UNPROCESSABLE", "Auto merge is not allowed for this repository")
        if input.get("expectedHeadOid") not in (None, pull.head_sha):
            raise GraphqlRefusal("STALE_DATA", f"Expected head sha {input['expectedHeadOid']} but was {pull.head_sha}.")
        state = find_merge_state(repository, issue, find_mergeable(self.call, repository, issue))
        if issue.state != "open" or state != "blocked":
            name = "closed" if issue.state != "open" else state
            raise GraphqlRefusal("UNPROCESSABLE", f"Pull request Pull request is in {name} status")
        method = input.get("mergeMethod") or "MERGE"
        texts = {"commit_title": "", "commit_message": ""}
        pull.auto_merge = {"enabled_by": show_account(by), "merge_method": method.lower(), **texts}
        note(self.call.world, issue, "auto_merge_enabled", by)
        return self._payload(input, actor=self.view.actor(by), pullRequest=self.view.pull(repository, issue))

    def _disable_auto_merge(self, _: Any, input: Json) -> Json:  # noqa: A002 (the name of the argument)
        repository, issue = self._find_pull(input["pullRequestId"])
        by = self._require(repository, issue)
        pull_of(issue).auto_merge = None
        return self._payload(input, actor=self.view.actor(by), pullRequest=self.view.pull(repository, issue))

    def _find_thread(self, node: str) -> tuple[Repository, Issue, Thread]:
        for repository in self.call.world.repositories.values():
            for issue in repository.issues.values():
                for thread in issue.pull.threads if issue.pull else ():
                    if thread.node == node:
                        return repository, issue, thread
        raise GraphqlRefusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'.")

    def _mutate_thread(self, *, resolved: bool) -> Field:
        def change(_: Any, input: Json) -> Json:  # noqa: A002 (the name of the argument)
            repository, issue, thread = self._find_thread(input["threadId"])
            by = self._require(repository, issue)
            thread.resolved_by = by if resolved else None
            return self._payload(input, thread=self.view.thread(repository, issue, thread))

        return change

    def _reply(self, _: Any, input: Json) -> Json:  # noqa: A002 (the name of the argument)
        repository, issue, thread = self._find_thread(input["pullRequestReviewThreadId"])
        comment = add_reply(self.call, issue, thread, input["body"])
        return self._payload(input, comment=self.view.line_comment(repository, issue, comment))

    @staticmethod
    def _payload(fields: Json, **result: Any) -> Json:
        return {"clientMutationId": fields.get("clientMutationId"), **result}
