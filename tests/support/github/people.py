"""People and bots who act on the double, beside the program under test. What they do is in no journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.github.changes import receive_push
from support.github.git_repository import FileContent
from support.github.json_values import Json
from support.github.state import Account, Repository, Token

if TYPE_CHECKING:
    from support.github.double import GitHubDouble


@dataclass(slots=True)
class Person:
    """Somebody with an account and a token, in the repository of the test."""

    double: "GitHubDouble"
    account: Account
    token: Token
    repository: Repository

    @property
    def login(self) -> str:
        """The name of the account."""
        return self.account.login

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call of the REST API below the repository (`/issues/1`); a refusal fails the test."""
        place = f"/repos/{self.repository.full_name}{path}"
        answer = self.double.answer(method, place, body, self.token)
        if answer.status >= 400:
            raise AssertionError(f"{self.login}: {method} {place}: {answer.status} {answer.body}")
        return answer.body

    def open_issue(self, title: str, body: str = "", labels: Sequence[str] = ()) -> int:
        """Open an issue and return its number."""
        return self.call("POST", "/issues", {"title": title, "body": body, "labels": list(labels)})["number"]

    def comment(self, number: int, text: str) -> int:
        """Comment on an issue or a pull request, and return the id of the comment."""
        return self.call("POST", f"/issues/{number}/comments", {"body": text})["id"]

    def edit_comment(self, comment: int, text: str) -> None:
        """Edit a comment."""
        self.call("PATCH", f"/issues/comments/{comment}", {"body": text})

    def close(self, number: int, reason: str | None = None) -> None:
        """Close an issue or a pull request."""
        fields = {"state": "closed"} | ({"state_reason": reason} if reason else {})
        self.call("PATCH", f"/issues/{number}", fields)

    def reopen(self, number: int) -> None:
        """Open an issue or a pull request again."""
        self.call("PATCH", f"/issues/{number}", {"state": "open"})

    def label(self, number: int, *labels: str) -> None:
        """Add labels."""
        self.call("POST", f"/issues/{number}/labels", {"labels": list(labels)})

    def open_pull(self, head: str, base: str = "main", title: str = "A change", **fields: Any) -> int:
        """Open a pull request and return its number."""
        return self.call("POST", "/pulls", {"head": head, "base": base, "title": title, **fields})["number"]

    def review(self, number: int, verdict: str, text: str = "", comments: Sequence[Json] = ()) -> int:
        """Review a pull request: `approved`, `changes_requested` or `commented`; each comment has path, line, body."""
        event = {"approved": "APPROVE", "changes_requested": "REQUEST_CHANGES", "commented": "COMMENT"}[verdict]
        fields: Json = {"event": event, "body": text}
        if comments:
            fields["comments"] = list(comments)
        return self.call("POST", f"/pulls/{number}/reviews", fields)["id"]

    def merge(self, number: int, method: str = "merge") -> str:
        """Merge a pull request and return the commit."""
        return self.call("PUT", f"/pulls/{number}/merge", {"merge_method": method})["sha"]

    def push(
        self, branch: str, files: Mapping[str, FileContent], message: str = "Change files", start: str = "main"
    ) -> str:
        """Commit files onto a branch, which grows from `start` if it is new, and return the commit."""
        with self.double.world.lock:
            git = self.repository.git
            before = git.branches
            commit = git.commit_files(branch, files, message, self.account.identity, before.get(start, ""))
            receive_push(self.double.world, self.repository, before, self.token)
            return commit

    def force_push(self, branch: str, commit: str) -> None:
        """Move a branch to any commit."""
        with self.double.world.lock:
            before = self.repository.git.branches
            self.repository.git.set_ref(f"refs/heads/{branch}", commit)
            receive_push(self.double.world, self.repository, before, self.token)

    def delete_branch(self, branch: str) -> None:
        """Delete a branch."""
        self.call("DELETE", f"/git/refs/heads/{branch}")
