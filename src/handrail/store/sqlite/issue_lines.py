"""The lines of the local tracker's issues on SQLite."""

from handrail.model.issue_records import IssueLine
from handrail.store.sqlite.connection import Session


def select_issues(session: Session, repository: str, marker: str) -> tuple[IssueLine, ...]:
    """Return the lines of the issues of a repository, of a marker, or of all."""
    if marker:
        rows = session.fetch_all("issues_of_marker", marker)
    elif repository:
        rows = session.fetch_all("issues_of_repository", repository)
    else:
        rows = session.fetch_all("issues_of_all")
    return tuple(map(IssueLine._make, rows))
