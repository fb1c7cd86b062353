"""Whether a workflow was last reviewed against an older authoring spec; a hint that never fails anything."""

from typing import Literal, TypeAlias

from handrail.model.source import Document, Scalar
from handrail.sources.tiers import Location, Tier, WorkflowFile

Staleness: TypeAlias = Literal["none", "likely", "possible"]

CATALOGUE = "workflows"
STAMP_KEYS = {"native": "validated_against_spec", "workrail": "validatedAgainstSpecVersion"}


def staleness(validated_against: int | None, spec_version: int) -> Staleness:
    """Compare a stamp with the current spec: `none` if equal, `likely` if not, `possible` without a stamp."""
    if validated_against is None:
        return "possible"
    return "none" if validated_against == spec_version else "likely"


def is_shown(place: Location, found: WorkflowFile) -> bool:
    """Whether the stamp matters to the reader: that of a built-in or catalogue workflow is for its maintainers."""
    if place.developing or found.tier is Tier.USER:
        return True
    return found.tier is Tier.REPOSITORY and not _is_catalogue(place, found)


def _is_catalogue(place: Location, found: WorkflowFile) -> bool:
    """Whether a workflow is in `workflows/` at the root of the repository, as in projects for WorkRail."""
    return place.repository is not None and found.main.is_relative_to(place.repository / CATALOGUE)


def stamp_of(document: Document) -> int | None:
    """Read the stamp of a workflow."""
    node = document.root.get(STAMP_KEYS[document.dialect])
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
