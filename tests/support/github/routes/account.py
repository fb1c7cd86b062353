"""Who calls, what they may do, which repositories there are, search, limits and deliveries."""

import re

from support.github.calls import Answer, Call, Refusal, Routes, paged
from support.github.json_values import Json
from support.github.represent import show_account, show_issue, show_repository
from support.github.state import Issue, Repository

REPOSITORY = "/repos/{owner}/{repo}"


def get_user(call: Call) -> Answer:
    """Read the account of the caller; the token of a workflow run has none."""
    if call.token is not None and call.token.is_actions:
        raise Refusal(403, "Resource not accessible by integration")
    return Answer({**(show_account(call.account) or {}), "user_view_type": "public", "name": call.account.login})


def get_account(call: Call) -> Answer:
    """Read an account."""
    found = call.world.accounts.get(call.params["username"].lower())
    if found is None:
        raise Refusal(404, "Not Found")
    return Answer({**(show_account(found) or {}), "user_view_type": "public", "name": found.login})


def get_repository(call: Call) -> Answer:
    """Read a repository."""
    return Answer(show_repository(call, call.repository))


def get_permission(call: Call) -> Answer:
    """Say what somebody may do in a repository; only people with push permission may ask."""
    call.require("write")
    found = call.world.accounts.get(call.params["username"].lower())
    if found is None:
        raise Refusal(404, f"{call.params['username']} is not a user")
    role = call.repository.permission_of(found)
    legacy = {"maintain": "write", "triage": "read"}.get(role, role)
    return Answer({"permission": legacy, "role_name": role, "user": {**(show_account(found) or {}), "role_name": role}})


def check_collaborator(call: Call) -> Answer:
    """Say whether somebody is a collaborator."""
    call.require("write")
    login = call.params["username"].lower()
    if login not in [each.lower() for each in (*call.repository.permissions, call.repository.owner.login)]:
        raise Refusal(404, "Not Found")
    return Answer(status=204)


def get_rate_limit(call: Call) -> Answer:
    """Say how many calls are left."""
    reset = int(call.world.now()) + 3600
    limit: Json = {"limit": 5000, "remaining": 4999, "reset": reset, "used": 1}
    return Answer({"rate": limit, "resources": {"core": limit, "graphql": limit, "search": {**limit, "limit": 30}}})


def search_issues(call: Call) -> Answer:
    """Search, in an index that lags behind by as many searches as the double was told."""
    world = call.world
    world.searches += 1
    terms = [each.strip('"') for each in re.findall(r'[\w-]+:"[^"]*"|"[^"]*"|\S+', call.query["q"])]
    found = [
        (repository, issue)
        for repository in world.repositories.values()
        if repository.may(call.viewer, "read")
        for issue in repository.issues.values()
        if issue.searchable_at < world.searches and all(_has(repository, issue, term) for term in terms)
    ]
    found.sort(key=lambda each: each[1].created_at, reverse=call.query.get("order", "desc") == "desc")
    return paged([{**show_issue(call, repository, issue), "score": 1.0} for repository, issue in found], "items")


def _has(repository: Repository, issue: Issue, term: str) -> bool:
    key, _, value = term.partition(":")
    value = value.strip('"').lower()
    words = {
        "repo": [repository.full_name.lower()], "author": [issue.author.login.lower()], "state": [issue.state],
        "is": [issue.state, "pr" if issue.pull else "issue", "pull-request" if issue.pull else "issue"],
        "type": ["pr" if issue.pull else "issue"], "label": [name.lower() for name in issue.labels],
        "assignee": [each.login.lower() for each in issue.assignees], "in": [value],
        "head": [issue.pull.head.lower()] if issue.pull else [],
    }  # fmt: skip
    if key in words and value:
        return value in words[key]
    return term.lower() in f"{issue.title}\n{issue.body or ''}".lower()


def list_hooks(call: Call) -> Answer:
    """List the webhooks of a repository: one."""
    call.require("admin")
    url = f"{call.api}/repos/{call.repository.full_name}/hooks/1"
    hook: Json = {
        "type": "Repository",
        "id": 1,
        "name": "web",
        "active": True,
        "events": ["*"],
        "config": {},
        "url": url,
    }
    last = {"code": 200, "status": "active", "message": "OK"}
    return paged([{**hook, "test_url": url, "ping_url": url, "last_response": last}])


def list_deliveries(call: Call) -> Answer:
    """List the deliveries of a webhook, the newest first."""
    call.require("admin")
    return paged(list(reversed(call.repository.deliveries)))


ROUTES: Routes = {
    "GET /user": get_user,
    "GET /users/{username}": get_account,
    "GET /rate_limit": get_rate_limit,
    "GET /search/issues": search_issues,
    f"GET {REPOSITORY}": get_repository,
    f"GET {REPOSITORY}/collaborators/{{username}}": check_collaborator,
    f"GET {REPOSITORY}/collaborators/{{username}}/permission": get_permission,
    f"GET {REPOSITORY}/hooks": list_hooks,
    f"GET {REPOSITORY}/hooks/{{hook_id}}/deliveries": list_deliveries,
}
