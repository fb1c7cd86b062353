"""The named points at which a run talks to the code host, and the faults that strike there."""

from dataclasses import dataclass

from support.github.faults import How

DELIVERS = """\
name: NAME
description: File the open tasks, change something, and hand it on twice.
input: {issue: issue, tasks: list}
steps:
  - {name: file, type: create-issues, from: "${tasks}", labels: [follow-up]}
  - {name: change, command: "echo one > one.txt"}
  - {name: pr, type: pull-request, title: Change it, key: k, draft: true, labels: [agent], reviewers: [ann]}
  - {name: more, command: "echo two > two.txt"}
  - {name: next, type: pull-request, title: Change it more, key: k, draft: true, labels: [agent], reviewers: [ann]}
"""
TASKS = 'tasks=[{"key": "one", "title": "Do one"}, {"key": "two", "title": "Do two", "depends_on": ["one"]}]'
CLOSES = """\
name: NAME
description: Do what the issue asks for, without a pull request.
input: {issue: issue}
steps:
  - {name: work, command: "true"}
"""
FAULTS: tuple[How, ...] = (
    "502 before",
    "502 after effect",
    "cut before",
    "cut after effect",
    "secondary limit",
    "timeout",
)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A call of the host that a run makes."""

    name: str
    call: str
    nth: int = 1
    workflow: str = "delivers"


CROSSINGS = (
    Crossing("read issue", "GET */issues/1"),
    Crossing("claim", "POST */issues/1/comments"),
    Crossing("create progress comment", "POST */issues/1/comments", 2),
    Crossing("edit progress comment", "PATCH */issues/comments/*"),
    Crossing("create first issue", "POST */issues"),
    Crossing("create second issue", "POST */issues", 2),
    Crossing("add dependency", "POST */dependencies/blocked_by"),
    Crossing("look at branch", "GIT refs *"),
    Crossing("push", "GIT push *"),
    Crossing("push again", "GIT push *", 2),
    Crossing("find pull request", "GET */pulls"),
    Crossing("open pull request", "POST */pulls"),
    Crossing("update pull request", "PATCH */pulls/*"),
    Crossing("label", "POST */issues/*/labels"),
    Crossing("request reviewers", "POST */requested_reviewers"),
    Crossing("close issue", "PATCH */issues/1", 1, "closes"),
)
LISTS = (
    Crossing("list comments", "GET */issues/1/comments"),
    Crossing("list issues", "GET */issues"),
    Crossing("list pull requests", "GET */pulls"),
)
"""Calls whose answers are lists."""
