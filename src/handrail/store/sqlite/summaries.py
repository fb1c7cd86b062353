"""Summaries on SQLite: the line of a run in lists, in the row of its stream, so that an append writes one row less."""

import json
from collections.abc import Sequence

from handrail.model.history.run_lines import read_line
from handrail.ports.log import Document, Filter, Row, StoredEvent
from handrail.store.sqlite.connection import Session, text_of
from handrail.store.sqlite.database import Database

_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class SqliteSummaries:
    """What appends left in `Append.summary`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def summaries(self, wanted: Filter | None = None) -> tuple[Row, ...]:
        """Give the summaries by stream, newest first."""
        wanted = wanted or Filter()
        bindings = (wanted.prefix, -1 if wanted.limit is None else wanted.limit, int(wanted.runs_only))
        with self._db.reading() as session:
            if wanted.status is None:
                rows = session.all("summaries", *bindings)
            else:
                rows = session.all("summaries_with_status", *bindings, wanted.status)
        named = [(text_of(key), position, document) for key, position, document in rows]
        return tuple(Row(key, position, read_line(key, document)) for key, position, document in named)


def write_summary(session: Session, stream: str, summary: Document, stored: Sequence[StoredEvent]) -> None:
    """Write the summary of a stream inside the transaction of its append."""
    position = stored[-1].position if stored else session.number("latest_position")
    status, text = as_row(summary)
    session.run("put_summary", stream, status, position, text)


def as_row(document: Document) -> tuple[str | None, str]:
    """Give the status of a document and its text."""
    status = document.get("status")
    return (status if status is None else str(status)), _text(document)
