"""The documents that a workflow refers to: looked up once, when a run starts, and reported the same way ever after."""

from collections.abc import Iterable
from pathlib import Path

from handrail.frozen import frozen
from handrail.model.workflow.guidance import Reference
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.sources.foreign_files import NOT_A_FILE, NOT_THERE, real
from handrail.sources.library import library_root
from handrail.sources.tiers import Location

OUTSIDE = "it leads outside its folder"


@frozen
class ResolvedReference:
    """A reference with where it was found, or why not."""

    reference: Reference
    path: str
    problem: str = ""
    """Why it could not be resolved, as the end of a sentence; empty if it was."""

    def document(self) -> dict[str, JsonValue]:
        """Convert the reference to data."""
        declared = self.reference
        return {
            "id": declared.id,
            "title": declared.title,
            "path": self.path,
            "purpose": declared.purpose,
            "authoritative": declared.authoritative,
            "resolveFrom": declared.resolve_from,
            "status": "unresolved" if self.problem else "resolved",
        }


def look_for(plan: Plan, place: Location) -> dict[str, JsonValue]:
    """Look for what a workflow refers to; the result is recorded when the run starts, and blocks nothing."""
    found: dict[str, JsonValue] = {}
    for reference in plan_references(plan):
        resolved = resolve(reference, bases_of(reference, place))
        found[reference.id] = {"path": resolved.path, "problem": resolved.problem}
    return found


def resolve(reference: Reference, bases: Iterable[Path]) -> ResolvedReference:
    """Look for a reference below folders; it must be a file in one of them after following symbolic links."""
    problems: list[str] = []
    for base in bases:
        problem = _problem(base / reference.source, base)
        if not problem:
            return ResolvedReference(reference, str(base / reference.source))
        problems.append(problem)
    return ResolvedReference(reference, reference.source, problems[0] if problems else NOT_THERE)


def warn_of_missing(plan: Plan, found: dict[str, JsonValue]) -> tuple[str, ...]:
    """Warn about documents that a workflow refers to and that were not found."""
    told: list[str] = []
    for each in plan_references(plan):
        seen = found.get(each.id)
        problem = seen.get("problem") if isinstance(seen, dict) else None
        if problem:
            told.append(
                f"the reference '{each.title}' ({each.source}) was not found: {problem}; agents are informed of this"
            )
    return tuple(told)


def bases_of(reference: Reference, place: Location) -> tuple[Path, ...]:
    """Return the folders below which a reference may be."""
    if reference.resolve_from == "package":
        return (library_root(),)
    return tuple(dict.fromkeys(base for base in (place.cwd, place.repository) if base is not None))


def _problem(path: Path, base: Path) -> str:
    try:
        found = path.resolve(strict=True)
        if not found.is_relative_to(real(base)):
            return OUTSIDE
        return "" if found.is_file() else NOT_A_FILE
    except (FileNotFoundError, NotADirectoryError):
        return NOT_THERE
    except (OSError, RuntimeError, ValueError):
        return "it cannot be read"


def plan_references(plan: Plan) -> tuple[Reference, ...]:
    """Return the documents that a workflow refers to."""
    return plan.guided.references if plan.guided is not None else ()
