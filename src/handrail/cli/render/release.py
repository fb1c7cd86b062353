"""What an imported run would execute, as text and as JSON data."""

from itertools import groupby
from typing import Any

from handrail.cli.render.safe_text import escape_controls, escape_lines
from handrail.operations.delivery.release import ReleaseQuestion

_WORDS = {"command": "$", "python": "python", "agent": "agent", "workflow": "workflow", "script": "plays"}


def render_release(question: ReleaseQuestion) -> str:
    """Render what would run, step by step, and where."""
    lines = [f"{question.run}  imported, originally {question.original}"]
    source = question.source
    if source is not None:
        changes = f", with its files at snapshot {source.changes[:12]}" if source.changes else ""
        lines.append(f"works in a new worktree of {source.repository}, from {source.commit[:12]}{changes}")
        lines.append(f"on branch {source.branch}, for {source.base}")
    else:
        lines.append(f"works in {question.workspace} as it is")
    lines.append("It will run:" if question.commands else "It runs no command and no agent.")
    shown = [escape_controls(line) for line in lines]
    for workflow, listed in groupby(question.commands, key=lambda each: each.workflow):
        if workflow not in ("", question.workflow):
            shown.append(f"  in the workflow {escape_controls(workflow)}, which it calls:")
        for each in listed:
            first, *rest = escape_lines(each.text) or [""]
            shown.append(f"  {escape_controls(each.address)}  {_WORDS[each.kind]} {first}")
            shown += [f"    {line}" for line in rest]
    return "\n".join(shown)


def release_data(question: ReleaseQuestion) -> dict[str, Any]:
    """Convert the question to JSON data."""
    source = question.source
    return {
        "run": question.run,
        "original": question.original,
        "workspace": question.workspace or None,
        "repository": None if source is None else source.repository,
        "base": None if source is None else source.base,
        "commit": None if source is None else source.commit,
        "snapshot": None if source is None else source.changes or None,
        "branch": None if source is None else source.branch,
        "commands": [
            {"workflow": each.workflow or None, "step": each.address, "kind": each.kind, "text": each.text}
            for each in question.commands
        ],
    }
