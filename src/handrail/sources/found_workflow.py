"""A workflow that was found, and the tier it was found in."""

from enum import StrEnum
from pathlib import Path

from handrail.frozen import frozen
from handrail.model.document import Form


class Tier(StrEnum):
    """Where a workflow was found, the strongest first; a file given by its path counts as the repository's."""

    USER = "user"
    REPOSITORY = "repository"
    BUILT_IN = "built-in"


@frozen
class Found:
    """One workflow file with its standing among those of the same name."""

    name: str
    tier: Tier
    form: Form
    main: Path
    folder: bool
    """Whether it has a folder of its own."""
    wins: bool = True
    shadows: tuple[str, ...] = ()
    """What it hides: tiers, and inside its own tier files."""
    shadowed_by: str | None = None
    problem: str | None = None
    """Why it cannot be used whatever it holds, as the end of a sentence about it."""
