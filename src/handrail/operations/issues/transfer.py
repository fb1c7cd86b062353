"""What to know about a file of issues before it is imported."""

import time
from pathlib import Path

BEADS = ".beads"
DAY = 24 * 3600


def describe_age(name: str) -> str:
    """Say how old the export of a beads repository is: it is a copy, which may lack later changes."""
    path = Path(name)
    if path.parent.name != BEADS or not path.is_file():
        return ""
    age = max(0.0, time.time() - path.stat().st_mtime)
    words = (
        f"{age / DAY:.0f} days" if age >= 2 * DAY else f"{age / 3600:.0f} hours" if age >= 7200 else "less than 2 hours"
    )
    return f"{name} is an export of beads, written {words} ago; what changed in beads since then is not in it"
