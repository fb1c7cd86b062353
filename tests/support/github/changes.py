"""What happens inside the double when something changes: events, closing, pushes that move pull requests, merges."""

import re
from typing import Any

from support.github.calls import Refusal
from support.github.represent import pull_of, show_account
from support.github.state import Account, Issue, Pull, Repository, Token, World, stamp

_CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:(?P<place>[\w.-]+/[\w.-]+)?#|https?://[^\s/]+/(?P<page>[\w.-]+/[\w.-]+)/issues/)(?P<number>\d+)\b",
    re.IGNORECASE,
)
_NOT_RENDERED = re.compile(r"<!--.*?(?:-->|\Z)|^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def note(world: World, issue: Issue, event: str, by: Account, **details: Any) -> None:
    """Add an event to the timeline of an issue, which counts as a change of it."""
    issue.updated_at = max(issue.updated_at, world.now())
    issue.searchable_at = world.searches + world.search_lag
    issue.timeline.append(
        {
            "id": world.new_id(),
            "node_id": "E_1",
            "url": f"{world.base}/event",
            "event": event,
            "actor": show_account(by),
            "commit_id": None,
            "commit_url": None,
            "created_at": stamp(world.now()),
            **details,
        }
    )


def close(world: World, issue: Issue, by: Account, reason: str | None) -> None:
    """Close an issue or a pull request; one that is closed stays as it is."""
    if issue.state == "closed":
        issue.state_reason = reason or issue.state_reason
        return
    issue.state, issue.closed_at, issue.closed_by = "closed", world.now(), by
    issue.state_reason = None if issue.pull else reason or "completed"
    note(world, issue, "closed", by, state_reason=issue.state_reason)


def reopen(world: World, repository: Repository, issue: Issue, by: Account) -> None:
    """Open an issue or a pull request again."""
    if issue.state == "open":
        return
    if issue.pull is not None:
        _check_reopening(repository, issue.pull)
    issue.state, issue.closed_at, issue.closed_by = "open", None, None
    issue.state_reason = None if issue.pull else "reopened"
    note(world, issue, "reopened", by, state_reason=issue.state_reason)


def _check_reopening(repository: Repository, pull: Pull) -> None:
    def refuse(message: str) -> Refusal:
        return Refusal(
            422, "Validation Failed",
            {"resource": "PullRequest", "code": "custom", "field": "state", "message": message},
        )  # fmt: skip

    if pull.merged_at is not None:
        raise refuse("state cannot be changed. The pull request cannot be reopened.")
    if pull.head not in repository.git.branches:
        raise refuse(f"state cannot be changed. The {pull.head} branch has been deleted.")
    if not repository.git.is_ancestor(pull.head_sha, repository.git.branches[pull.head]):
        raise refuse(f"state cannot be changed. The {pull.head} branch was force-pushed or recreated.")
    if find_open_pull(repository, pull.head, pull.base):
        raise refuse("state cannot be changed. There is already an open pull request from this branch.")
    pull.head_sha = repository.git.branches[pull.head]


def find_open_pull(repository: Repository, head: str, base: str) -> Issue | None:
    """Find the open pull request between two branches."""
    for issue in repository.issues.values():
        if issue.pull and issue.state == "open" and (issue.pull.head, issue.pull.base) == (head, base):
            return issue
    return None


def closing_references(repository: Repository, text: str | None, *, rendered: bool = True) -> list[Issue]:
    """Find the issues of a repository that a text closes; code and comments of a rendered text do not count."""
    visible = _NOT_RENDERED.sub(" ", text or "") if rendered else text or ""
    found: list[Issue] = []
    for each in _CLOSING.finditer(visible):
        place = each["place"] or each["page"] or repository.full_name
        issue = repository.issues.get(int(each["number"]))
        if place.lower() == repository.full_name.lower() and issue and issue.pull is None and issue not in found:
            found.append(issue)
    return found


def receive_push(world: World, repository: Repository, before: dict[str, str], token: Token) -> None:
    """Let the pull requests, issues and checks of a repository follow what a push changed."""
    repository.git.forget()
    after = repository.git.branches
    for branch in sorted({*before, *after}):
        if before.get(branch) != after.get(branch):
            _follow_branch(world, repository, branch, (before.get(branch), after.get(branch)), token)


def _follow_branch(
    world: World, repository: Repository, branch: str, moved: tuple[str | None, str | None], token: Token
) -> None:
    old, new = moved
    by = token.account
    record_event(world, repository, "PushEvent", by, {"ref": f"refs/heads/{branch}", "before": old, "head": new})
    for issue in list(repository.issues.values()):
        if issue.pull and issue.state == "open":
            _follow_pull(world, repository, issue, branch, new, by)
    if new is not None:
        if branch == repository.default_branch and old is not None:
            close_by_messages(world, repository, repository.git.messages(old, new), by)
        if token.starts_checks:
            start_checks(world, repository, new)


def _follow_pull(world: World, repository: Repository, issue: Issue, branch: str, new: str | None, by: Account) -> None:
    pull = pull_of(issue)
    if new is None:
        if branch in (pull.head, pull.base):
            close(world, issue, by, None)
        return
    if branch == pull.head:
        forced = not repository.git.is_ancestor(pull.head_sha, new)
        pull.head_sha = new
        repository.git.set_ref(f"refs/pull/{issue.number}/head", new)
        note(world, issue, "head_ref_force_pushed" if forced else "committed", by)
    if branch == pull.base:
        if repository.git.is_ancestor(pull.head_sha, new):
            finish_merge(world, repository, issue, by, new)
        else:
            pull.base_sha = new


def start_checks(world: World, repository: Repository, commit: str) -> None:
    """Queue the checks that a push of a commit starts."""
    from support.github.routes.checks import add_check

    for name in repository.checks_on_push:
        if not any(each["head_sha"] == commit and each["name"] == name for each in repository.checks):
            add_check(world, repository, commit, name)


def close_by_messages(world: World, repository: Repository, messages: list[str], by: Account) -> None:
    """Close the issues that commits on the default branch name."""
    for message in messages:
        for issue in closing_references(repository, message, rendered=False):
            close(world, issue, by, "completed")


def finish_merge(world: World, repository: Repository, issue: Issue, by: Account, commit: str) -> None:
    """Mark a pull request as merged, and close what it closes if it went to the default branch."""
    pull = pull_of(issue)
    pull.merged_at, pull.merged_by, pull.merge_commit, pull.auto_merge = world.now(), by, commit, None
    note(world, issue, "merged", by)
    close(world, issue, by, None)
    if pull.base == repository.default_branch:
        for each in closing_references(repository, issue.body):
            close(world, each, by, "completed")


def record_event(world: World, repository: Repository, kind: str, by: Account, payload: dict[str, Any]) -> None:
    """Add an event to the list of a repository, and its delivery to that of its webhooks."""
    actor = {"id": by.id, "login": by.login, "gravatar_id": "", "url": world.base, "avatar_url": world.base}
    place = {"id": repository.id, "name": repository.full_name, "url": world.base}
    number = world.new_id()
    repository.events.append(
        {
            "id": str(number),
            "type": kind,
            "actor": actor,
            "repo": place,
            "payload": payload,
            "public": True,
            "created_at": stamp(world.now()),
        }
    )
    repository.deliveries.append(
        {
            "id": number,
            "guid": f"{number:032x}",
            "delivered_at": stamp(world.now()),
            "redelivery": False,
            "duration": 0.1,
            "status": "OK",
            "status_code": 200,
            "event": _event_name(kind),
            "action": payload.get("action"),
            "installation_id": None,
            "repository_id": repository.id,
            "throttled_at": None,
        }
    )


def _event_name(kind: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.removesuffix("Event")).lower()
