"""Issues on the screen. All of their text comes from outside, and is made safe."""

from collections.abc import Iterable, Sequence

from handrail.cli.render.layout import render_table
from handrail.cli.render.safe_text import crop, escape_controls, escape_lines
from handrail.model.actors import actor_words
from handrail.model.issue_records import IssueLine, LocalIssue

MAX_TITLE = 72
MAX_LINES = 400
"""The most lines of a text that are shown; `--json` has all of it."""
TEXTS = ("description", "design", "acceptance_criteria", "notes")


def describe_empty(tracker: str) -> str:
    """Say that a tracker has no issues at all."""
    where = "the local tracker" if tracker == "local" else tracker
    return f"no issues in {where} yet; handrail issues create TITLE creates one"


def render_lines(lines: Sequence[IssueLine]) -> str:
    """Render a table of issues."""
    rows = [
        [
            line.id,
            f"P{line.priority}",
            line.status,
            line.kind,
            _title(line.title),
            _who(line),
            ", ".join(line.labels),
        ]
        for line in lines
    ]
    return render_table(rows)


def _title(text: str) -> str:
    return crop(escape_controls(text), MAX_TITLE)


def _who(line: IssueLine) -> str:
    return f"@{actor_words(line.assignee)}" if line.assignee else ""


def render_issue(issue: LocalIssue, dependents: Iterable[str]) -> str:
    """Render one issue with everything that is known about it."""
    shown = [f"{issue.id}  {_title(issue.text('title'))}", *_facts(issue)]
    if needed := sorted(dependents):
        shown.append(f"needed by: {escape_controls(', '.join(needed))}")
    for name in TEXTS:
        if issue.text(name):
            shown += ["", f"{name.replace('_', ' ')}:", *_indent(issue.text(name))]
    for each in issue.records("comments"):
        who, when = actor_words(str(each.get("author", ""))), str(each.get("created_at", ""))
        shown += ["", escape_controls(f"{who}, {when}:"), *_indent(str(each.get("text", "")))]
    return "\n".join(shown)


def _facts(issue: LocalIssue) -> list[str]:
    facts = [f"{issue.status}, P{issue.priority}, {issue.text('issue_type') or 'task'}"]
    if issue.claim is not None:
        facts.append(f"claimed by {actor_words(issue.claim.by)}")
    elif issue.text("assignee"):
        facts.append(f"assigned to {actor_words(issue.text('assignee'))}")
    if issue.texts("labels"):
        facts.append(f"labels: {', '.join(issue.texts('labels'))}")
    facts += [f"{each.get('type')}: {each.get('depends_on_id')}" for each in issue.records("dependencies")]
    for name in ("external_ref", "defer_until", "due_at", "created_at", "updated_at", "closed_at", "close_reason"):
        if issue.text(name):
            facts.append(f"{name.replace('_', ' ')}: {issue.text(name)}")
    return [escape_controls(each) for each in facts]


def _indent(text: str) -> list[str]:
    lines = escape_lines(text)
    more = [f"  … {len(lines) - MAX_LINES} more lines: --json shows all"] if len(lines) > MAX_LINES else []
    return [f"  {line}" for line in lines[:MAX_LINES]] + more
