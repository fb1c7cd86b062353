"""Labels of repositories and of issues."""

from collections.abc import Iterable
from typing import Any

from support.github.calls import Answer, Call, Refusal, Routes, paged
from support.github.changes import note
from support.github.json_values import is_array
from support.github.represent import show_label
from support.github.state import Issue

REPOSITORY = "/repos/{owner}/{repo}"
ISSUE = f"{REPOSITORY}/issues/{{issue_number}}"


def label_names(labels: Iterable[Any] | None) -> list[str]:
    """Read labels, which may be names or objects."""
    return [each if isinstance(each, str) else each["name"] for each in labels or ()]


def create_missing_label(call: Call, name: str, color: str = "ededed", description: str | None = None) -> str:
    """Return the name of a label as the repository writes it; one that is used for the first time is created."""
    labels = call.repository.labels
    if name.lower() not in labels:
        number = call.world.new_id()
        labels[name.lower()] = {
            "id": number, "node_id": f"LA_kwDO{number}", "name": name, "color": color, "default": False,
            "description": description,
        }  # fmt: skip
    return labels[name.lower()]["name"]


def set_labels(call: Call, issue: Issue, names: list[str]) -> None:
    """Give an issue exactly these labels."""
    before = issue.labels
    issue.labels = []
    for name in names:
        known = create_missing_label(call, name)
        if known not in issue.labels:
            issue.labels.append(known)
    changed = [("labeled", name) for name in issue.labels if name not in before]
    changed += [("unlabeled", name) for name in before if name not in issue.labels]
    for event, name in changed:
        color = call.repository.labels[name.lower()]["color"]
        note(call.world, issue, event, call.account, label={"name": name, "color": color})


def list_labels(call: Call) -> Answer:
    """List the labels of a repository."""
    return paged([show_label(call, call.repository, name) for name in call.repository.labels])


def get_label(call: Call) -> Answer:
    """Read one."""
    return Answer(show_label(call, call.repository, _known(call)))


def create_label(call: Call) -> Answer:
    """Create one; a name that is taken is refused."""
    call.require("triage")
    name = call.fields["name"]
    if name.lower() in call.repository.labels:
        raise Refusal(422, "Validation Failed", {"resource": "Label", "code": "already_exists", "field": "name"})
    create_missing_label(call, name, call.fields.get("color", "ededed"), call.fields.get("description"))
    return Answer(show_label(call, call.repository, name), 201)


def update_label(call: Call) -> Answer:
    """Change one, also on the issues that have it."""
    call.require("triage")
    label, fields = call.repository.labels.pop(_known(call)), call.fields
    old, name = label["name"], fields.get("new_name", label["name"])
    label.update({key: fields[key] for key in ("color", "description") if key in fields}, name=name)
    call.repository.labels[name.lower()] = label
    for issue in call.repository.issues.values():
        issue.labels = [name if each == old else each for each in issue.labels]
    return Answer(show_label(call, call.repository, name))


def delete_label(call: Call) -> Answer:
    """Delete one everywhere."""
    call.require("write")
    del call.repository.labels[_known(call)]
    for issue in call.repository.issues.values():
        issue.labels = [name for name in issue.labels if name.lower() in call.repository.labels]
    return Answer(status=204)


def _known(call: Call) -> str:
    name = call.params["name"].lower()
    if name not in call.repository.labels:
        raise Refusal(404, "Not Found")
    return name


def _answer(call: Call) -> Answer:
    return Answer([show_label(call, call.repository, name) for name in call.issue.labels])


def list_issue_labels(call: Call) -> Answer:
    """List the labels of an issue."""
    return paged(_answer(call).body)


def add_issue_labels(call: Call) -> Answer:
    """Add labels to an issue."""
    call.require("triage")
    set_labels(call, call.issue, [*call.issue.labels, *_wanted(call)])
    return _answer(call)


def set_issue_labels(call: Call) -> Answer:
    """Replace the labels of an issue."""
    call.require("triage")
    set_labels(call, call.issue, _wanted(call))
    return _answer(call)


def _wanted(call: Call) -> list[str]:
    return label_names(call.body if is_array(call.body) else call.fields.get("labels", ()))


def clear_issue_labels(call: Call) -> Answer:
    """Remove all labels of an issue."""
    call.require("triage")
    set_labels(call, call.issue, [])
    return Answer(status=204)


def remove_issue_label(call: Call) -> Answer:
    """Remove one label of an issue; one that it does not have is refused."""
    call.require("triage")
    name = call.params["name"].lower()
    if name not in [each.lower() for each in call.issue.labels]:
        raise Refusal(404, "Label does not exist")
    set_labels(call, call.issue, [each for each in call.issue.labels if each.lower() != name])
    return _answer(call)


ROUTES: Routes = {
    f"GET {REPOSITORY}/labels": list_labels,
    f"POST {REPOSITORY}/labels": create_label,
    f"GET {REPOSITORY}/labels/{{name}}": get_label,
    f"PATCH {REPOSITORY}/labels/{{name}}": update_label,
    f"DELETE {REPOSITORY}/labels/{{name}}": delete_label,
    f"GET {ISSUE}/labels": list_issue_labels,
    f"POST {ISSUE}/labels": add_issue_labels,
    f"PUT {ISSUE}/labels": set_issue_labels,
    f"DELETE {ISSUE}/labels": clear_issue_labels,
    f"DELETE {ISSUE}/labels/{{name}}": remove_issue_label,
}
