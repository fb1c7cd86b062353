"""Issues: list, read, create, change, lock, assign."""

from support.github.calls import Answer, Call, Refusal, Routes, check_text, invalid, paged
from support.github.changes import close, note, record_event, reopen
from support.github.json_values import Json
from support.github.represent import show_account, show_issue
from support.github.routes.labels import label_names, set_labels
from support.github.state import Account, Issue, Repository, World, parse_stamp

REPOSITORY = "/repos/{owner}/{repo}"
ISSUE = f"{REPOSITORY}/issues/{{issue_number}}"


def list_issues(call: Call) -> Answer:
    """List issues and pull requests, as GitHub mixes them."""
    found = [issue for issue in call.repository.issues.values() if _matches(call, issue)]
    return paged([show_issue(call, call.repository, issue) for issue in sort_issues(call, found)])


def sort_issues(call: Call, issues: list[Issue]) -> list[Issue]:
    """Put issues into the wanted order, by default the newest first."""

    def weigh(issue: Issue) -> tuple[float, int]:
        weights = {"updated": issue.updated_at, "comments": float(len(issue.comments))}
        return weights.get(call.query.get("sort", ""), issue.created_at), issue.number

    return sorted(issues, key=weigh, reverse=call.query.get("direction", "desc") == "desc")


def _matches(call: Call, issue: Issue) -> bool:
    query = call.query
    wanted = [name.lower() for name in query.get("labels", "").split(",") if name]
    return (
        query.get("state", "open") in ("all", issue.state)
        and set(wanted) <= {name.lower() for name in issue.labels}
        and ("since" not in query or issue.updated_at >= parse_stamp(query["since"]))
        and query.get("creator", issue.author.login) == issue.author.login
        and _matches_assignee(query.get("assignee", ""), [each.login for each in issue.assignees])
    )


def _matches_assignee(wanted: str, logins: list[str]) -> bool:
    if wanted == "none":
        return not logins
    return bool(logins) if wanted == "*" else not wanted or wanted in logins


def get_issue(call: Call) -> Answer:
    """Read one."""
    return Answer(show_issue(call, call.repository, call.issue))


def create_issue(call: Call) -> Answer:
    """Create one; labels and assignees of a caller without push permission are dropped silently."""
    by, repository, fields = call.require("read"), call.repository, call.fields
    title = str(fields["title"])
    if not title.strip():
        raise Refusal(422, "Validation Failed", {"resource": "Issue", "code": "missing_field", "field": "title"})
    check_text("Issue", fields.get("body"))
    issue = new_issue(call.world, repository, title, fields.get("body"), by)
    if repository.may(by, "triage"):
        set_labels(call, issue, label_names(fields.get("labels", ())))
        issue.assignees = _assignable(call, fields)
    return Answer(show_issue(call, repository, issue), 201)


def new_issue(world: World, repository: Repository, title: str, body: str | None, by: Account) -> Issue:
    """Count a new issue in a repository."""
    now = world.now()
    issue = Issue(max(repository.issues, default=0) + 1, world.new_id(), title, body, by, now, now)
    issue.searchable_at = world.searches + world.search_lag
    repository.issues[issue.number] = issue
    record_event(world, repository, "IssuesEvent", by, {"action": "opened", "number": issue.number})
    return issue


def _assignable(call: Call, fields: Json) -> list[Account]:
    names: list[str] = list(fields.get("assignees") or ())
    if fields.get("assignee"):
        names.append(fields["assignee"])
    return _find_assignees(call, names)


def _find_assignees(call: Call, names: list[str]) -> list[Account]:
    found = [call.world.accounts[name.lower()] for name in names if name.lower() in call.world.accounts]
    return [each for each in found if each is call.repository.owner or each.login in call.repository.permissions]


def update_issue(call: Call) -> Answer:
    """Change one: its author may change its text and state, more needs triage permission."""
    by, issue, repository, fields = call.require("read"), call.issue, call.repository, call.fields
    may_triage = repository.may(by, "triage")
    if not may_triage and issue.author is not by:
        raise Refusal(403, "Must have admin rights to Repository.")
    check_text("Issue", fields.get("body"))
    if may_triage and "labels" in fields:
        set_labels(call, issue, label_names(fields["labels"]))
    if may_triage and ("assignees" in fields or "assignee" in fields):
        issue.assignees = _assignable(call, fields)
    change_text_and_state(call, issue)
    note_update(call.world, issue)
    return Answer(show_issue(call, repository, issue))


def note_update(world: World, issue: Issue) -> None:
    """Count a change that has no event."""
    issue.updated_at = max(issue.updated_at, world.now())


def change_text_and_state(call: Call, issue: Issue) -> None:
    """Change what issues and pull requests have in common."""
    fields = call.fields
    if fields.get("title") is not None:
        if not str(fields["title"]).strip():
            raise invalid("Issue", "title", "missing_field")
        issue.title = str(fields["title"])
    if "body" in fields:
        issue.body = fields["body"]
    if fields.get("state") == "closed":
        close(call.world, issue, call.account, fields.get("state_reason"))
    elif fields.get("state") == "open":
        reopen(call.world, call.repository, issue, call.account)


def add_assignees(call: Call) -> Answer:
    """Assign people; whoever cannot be assigned is ignored silently."""
    by, issue = call.require("triage"), call.issue
    for account in _find_assignees(call, call.fields.get("assignees", [])):
        if account not in issue.assignees:
            issue.assignees.append(account)
            note(call.world, issue, "assigned", by, assignee=show_account(account))
    return Answer(show_issue(call, call.repository, issue), 201)


def remove_assignees(call: Call) -> Answer:
    """Take people off."""
    by, issue = call.require("triage"), call.issue
    for account in _find_assignees(call, call.fields.get("assignees", [])):
        if account in issue.assignees:
            issue.assignees.remove(account)
            note(call.world, issue, "unassigned", by, assignee=show_account(account))
    return Answer(show_issue(call, call.repository, issue))


def list_assignable(call: Call) -> Answer:
    """List who can be assigned."""
    names = [call.repository.owner.login, *call.repository.permissions]
    return paged([show_account(call.world.accounts[name.lower()]) for name in dict.fromkeys(names)])


def check_assignable(call: Call) -> Answer:
    """Say whether somebody can be assigned."""
    if not _find_assignees(call, [call.params["assignee"]]):
        raise Refusal(404, "Not Found")
    return Answer(status=204)


def lock_issue(call: Call) -> Answer:
    """Let only people with write permission comment."""
    by, issue = call.require("triage"), call.issue
    issue.locked, issue.lock_reason = True, call.fields.get("lock_reason")
    note(call.world, issue, "locked", by, lock_reason=issue.lock_reason)
    return Answer(status=204)


def unlock_issue(call: Call) -> Answer:
    """Let everybody comment again."""
    by, issue = call.require("triage"), call.issue
    issue.locked, issue.lock_reason = False, None
    note(call.world, issue, "unlocked", by, lock_reason=None)
    return Answer(status=204)


def list_timeline(call: Call) -> Answer:
    """List what happened to an issue."""
    return paged(list(call.issue.timeline))


def list_repository_events(call: Call) -> Answer:
    """List what happened in a repository, the newest first."""
    return paged(list(reversed(call.repository.events)))


ROUTES: Routes = {
    f"GET {REPOSITORY}/issues": list_issues,
    f"POST {REPOSITORY}/issues": create_issue,
    f"GET {ISSUE}": get_issue,
    f"PATCH {ISSUE}": update_issue,
    f"POST {ISSUE}/assignees": add_assignees,
    f"DELETE {ISSUE}/assignees": remove_assignees,
    f"GET {REPOSITORY}/assignees": list_assignable,
    f"GET {REPOSITORY}/assignees/{{assignee}}": check_assignable,
    f"GET {ISSUE}/assignees/{{assignee}}": check_assignable,
    f"PUT {ISSUE}/lock": lock_issue,
    f"DELETE {ISSUE}/lock": unlock_issue,
    f"GET {ISSUE}/timeline": list_timeline,
    f"GET {ISSUE}/events": list_timeline,
    f"GET {REPOSITORY}/events": list_repository_events,
}
