"""What would be trusted, as text and as JSON data."""

from typing import Any

from handrail.cli.render.safe_text import escape_controls, escape_lines
from handrail.operations.workflows.trust import PlannedCommand, TrustQuestion


def render_question(question: TrustQuestion) -> str:
    """Render the files, the commands that will run, and what is new in the files."""
    lines = [f"{question.name}  {question.path}", f"content {question.digest}", f"trust   {question.reason}"]
    mixed = not question.is_granted and any(each.trusted for each in question.files)
    marks = (", trusted" if mixed and each.trusted else "" for each in question.files)
    lines += [f"  {each.path}  {each.size} bytes{mark}" for each, mark in zip(question.files, marks, strict=True)]
    lines += [f"  {path}  not used: {why}" for path, why in question.refused]
    shown = [escape_controls(line) for line in lines]
    if question.commands and not question.is_granted:
        shown += ["", "commands that will run", *(line for each in question.commands for line in _command(each))]
    if question.difference:
        shown += ["", *escape_lines(question.difference.rstrip("\n"))]
    return "\n".join(shown)


def _command(command: PlannedCommand) -> list[str]:
    first, *others = escape_lines(command.script.rstrip("\n")) or [""]
    return [f"  {escape_controls(command.place)}: {first}", *(f"    {line}" for line in others)]


def trust_data(question: TrustQuestion) -> dict[str, Any]:
    """Convert what would be trusted to JSON data."""
    return {
        "name": question.name,
        "path": question.path,
        "digest": question.digest,
        "trusted": question.is_granted,
        "state": question.state,
        "reason": question.reason,
        "files": [{"path": each.path, "bytes": each.size, "trusted": each.trusted} for each in question.files],
        "refused": [{"path": path, "reason": why} for path, why in question.refused],
        "commands": [{"place": each.place, "command": each.script} for each in question.commands],
        "difference": question.difference,
    }
