"""Whether a workflow was last reviewed against an older authoring spec; a hint that never fails anything."""

from typing import Literal, TypeAlias

from handrail.model.source import Document, Scalar

Staleness: TypeAlias = Literal["none", "likely", "possible"]

STAMP_KEYS = {"native": "validated_against_spec", "workrail": "validatedAgainstSpecVersion"}


def staleness(validated_against: int | None, spec_version: int) -> Staleness:
    """Compare a stamp with the current spec: `none` when equal, `likely` when not, `possible` without a stamp."""
    if validated_against is None:
        return "possible"
    return "none" if validated_against == spec_version else "likely"


def shown(tier: str, *, developing: bool) -> bool:
    """Whether it is of use to the reader: nobody but our own developers can review a built-in workflow."""
    return developing or tier != "built-in"


def stamp_of(document: Document) -> int | None:
    """Read the stamp that a workflow carries."""
    node = document.root.get(STAMP_KEYS[document.dialect])
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
