"""What would be trusted, as text and as JSON data."""

from typing import Any

from handrail.cli.render.safe_text import harmless, harmless_lines
from handrail.operations.workflows.trust import TrustQuestion


def render_question(question: TrustQuestion) -> str:
    """Show the files and what is new in them."""
    lines = [f"{question.name}  {question.path}", f"content {question.digest}", f"trust   {question.reason}"]
    lines += [f"  {path}  {size} bytes" for path, size in question.files]
    lines += [f"  {path}  not used: {why}" for path, why in question.refused]
    shown = [harmless(line) for line in lines]
    if question.difference:
        shown += ["", *harmless_lines(question.difference.rstrip("\n"))]
    return "\n".join(shown)


def trust_data(question: TrustQuestion) -> dict[str, Any]:
    """Give what would be trusted as JSON data."""
    return {
        "name": question.name,
        "path": question.path,
        "digest": question.digest,
        "trusted": question.granted,
        "state": question.state,
        "reason": question.reason,
        "files": [{"path": path, "bytes": size} for path, size in question.files],
        "refused": [{"path": path, "reason": why} for path, why in question.refused],
        "difference": question.difference,
    }
