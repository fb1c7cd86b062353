"""The lines of the local tracker's issues on SQLite."""

import json

from handrail.model.issue_records import IssueLine
from handrail.store.sqlite.connection import Session


def select_issues(session: Session, repository: str, marker: str) -> tuple[IssueLine, ...]:
    """Return the lines of the issues of a repository, of a marker, or of both; of all without either."""
    rows = session.fetch_all("issues_of_repository", repository) if repository else session.fetch_all("issues_of_all")
    # One text for all lines is read several times as fast as line by line.
    found = json.loads(f"[{','.join(row[0] for row in rows)}]")
    lines = map(IssueLine._make, found)
    return tuple(line for line in lines if line.marker == marker) if marker else tuple(lines)
