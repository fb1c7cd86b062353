"""Sub-issues, parents and dependencies: all by database id, never by number."""

from support.github.calls import Answer, Call, Refusal, Routes, paged
from support.github.changes import note
from support.github.represent import show_issue
from support.github.state import Issue

ISSUE = "/repos/{owner}/{repo}/issues/{issue_number}"
MOST_SUB_ISSUES = 100
MOST_DEPENDENCIES = 50
_NOT_ADDED = "An error occurred while adding the sub-issue to the parent issue."


def _by_id(call: Call, number: int) -> Issue:
    found = call.world.issue_by_id(number)
    if found is None or not found[0].may(call.account, "read"):
        raise Refusal(404, "Not Found")
    return found[1]


def _show_all(call: Call, issues: list[Issue]) -> Answer:
    return paged([show_issue(call, call.repository, each) for each in issues])


def list_sub_issues(call: Call) -> Answer:
    """List the parts of an issue."""
    return _show_all(call, call.issue.sub_issues)


def add_sub_issue(call: Call) -> Answer:
    """Make an issue a part of another; one that has a parent only moves if that is asked for."""
    by, issue = call.require("triage"), call.issue
    child = _by_id(call, call.fields["sub_issue_id"])
    if child in issue.sub_issues:
        raise Refusal(422, f"{_NOT_ADDED} Issue may not contain duplicate sub-issues")
    if child is issue or _is_above(child, issue):
        raise Refusal(422, f"{_NOT_ADDED} Sub issue may not be a parent of its own")
    if child.parent is not None:
        if not call.fields.get("replace_parent"):
            raise Refusal(422, f"{_NOT_ADDED} Sub issue may only have one parent")
        child.parent.sub_issues.remove(child)
    if len(issue.sub_issues) >= MOST_SUB_ISSUES:
        raise Refusal(422, "Parent cannot have more than 100 sub-issues")
    issue.sub_issues.append(child)
    child.parent = issue
    note(call.world, issue, "sub_issue_added", by)
    return Answer(show_issue(call, call.repository, issue), 201)


def _is_above(one: Issue, other: Issue) -> bool:
    parent = other.parent
    return parent is not None and (parent is one or _is_above(one, parent))


def remove_sub_issue(call: Call) -> Answer:
    """Make an issue a whole of its own again."""
    by, issue = call.require("triage"), call.issue
    child = _by_id(call, call.fields["sub_issue_id"])
    if child not in issue.sub_issues:
        raise Refusal(404, "Not Found")
    issue.sub_issues.remove(child)
    child.parent = None
    note(call.world, issue, "sub_issue_removed", by)
    return Answer(show_issue(call, call.repository, issue))


def get_parent(call: Call) -> Answer:
    """Read the issue that an issue is a part of."""
    if call.issue.parent is None:
        raise Refusal(404, "Not Found")
    return Answer(show_issue(call, call.repository, call.issue.parent))


def list_blocked_by(call: Call) -> Answer:
    """List what an issue waits for."""
    return _show_all(call, call.issue.blocked_by)


def list_blocking(call: Call) -> Answer:
    """List what waits for an issue."""
    return _show_all(call, [each for each in call.repository.issues.values() if call.issue in each.blocked_by])


def add_blocked_by(call: Call) -> Answer:
    """Let an issue wait for another; twice, or in a circle, is refused."""
    by, issue = call.require("triage"), call.issue
    other = _by_id(call, call.fields["issue_id"])
    if other in issue.blocked_by:
        raise Refusal(422, "Validation Failed: Target issue has already been taken")
    if other is issue or issue in other.blocked_by:
        raise Refusal(422, "Validation Failed: Issues cannot block each other")
    if len(issue.blocked_by) >= MOST_DEPENDENCIES:
        raise Refusal(422, "Validation Failed: An issue cannot have more than 50 dependencies")
    issue.blocked_by.append(other)
    note(call.world, issue, "blocked_by_added", by)
    return Answer(show_issue(call, call.repository, issue), 201)


def remove_blocked_by(call: Call) -> Answer:
    """Let an issue wait no longer."""
    by, issue = call.require("triage"), call.issue
    other = _by_id(call, int(call.params["issue_id"]))
    if other not in issue.blocked_by:
        raise Refusal(404, "Not Found")
    issue.blocked_by.remove(other)
    note(call.world, issue, "blocked_by_removed", by)
    return Answer(show_issue(call, call.repository, issue))


ROUTES: Routes = {
    f"GET {ISSUE}/sub_issues": list_sub_issues,
    f"POST {ISSUE}/sub_issues": add_sub_issue,
    f"DELETE {ISSUE}/sub_issue": remove_sub_issue,
    f"GET {ISSUE}/parent": get_parent,
    f"GET {ISSUE}/dependencies/blocked_by": list_blocked_by,
    f"POST {ISSUE}/dependencies/blocked_by": add_blocked_by,
    f"DELETE {ISSUE}/dependencies/blocked_by/{{issue_id}}": remove_blocked_by,
    f"GET {ISSUE}/dependencies/blocking": list_blocking,
}
