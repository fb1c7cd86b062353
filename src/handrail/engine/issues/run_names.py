"""Names the runs that work on an issue: `work-12-a1` is the first agent on issue 12."""

import re
from collections.abc import Iterator

from handrail.model.issues import IssueRef

_UNFIT = re.compile(r"[^A-Za-z0-9.]+")
MAX_PART = 60
"""The most characters of an issue's id or of a repository's name."""


def candidate_names(ref: IssueRef, number: int) -> Iterator[str]:
    """Yield the ids that a run may get, the preferred one first; later ones distinguish repositories."""
    own = _part(ref.id) or "issue"
    yield f"work-{own}-a{number}"
    parts = [part for each in ref.place.split("/") if (part := _part(each))]
    for count in range(1, len(parts) + 1):
        yield f"work-{'-'.join(parts[-count:])}-{own}-a{number}"


def _part(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-.")[:MAX_PART].strip("-.")
