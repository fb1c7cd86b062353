"""Read models on SQLite: documents by key, and how far each model was folded."""

import json
from collections.abc import Sequence

from handrail.ports.log import RUNS, Document, Filter, Projection, Row, StoredEvent
from handrail.store.sqlite.connection import Session
from handrail.store.sqlite.database import Database
from handrail.store.sqlite.faults import of_text

BATCH = 500
_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class SqliteModels:
    """Documents that can be thrown away and built again from the events."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def apply_projection(self, projection: Projection) -> int:
        """Fold the events since the last time, a batch in each transaction."""
        applied = 0
        while True:
            with self._db.writing("apply_projection") as session:
                count = _fold_batch(session, projection)
            applied += count
            if count < BATCH:
                return applied

    def rebuild(self, name: str) -> None:
        """Throw a read model away."""
        with self._db.writing("rebuild") as session:
            _forget(session, name)

    def documents(self, name: str, wanted: Filter | None = None) -> tuple[Row, ...]:
        """Give documents of a read model, newest first."""
        wanted = wanted or Filter()
        bindings = (*_model(name), wanted.prefix, -1 if wanted.limit is None else wanted.limit)
        with self._db.reading() as session:
            if wanted.status is None:
                rows = session.all(_statement("documents", name), *bindings)
            else:
                rows = session.all(_statement("documents_with_status", name), *bindings, wanted.status)
        try:
            return tuple(Row(key, position, json.loads(document)) for key, position, document in rows)
        except ValueError as error:
            raise of_text(error, self._db.path) from error

    def summaries(self, wanted: Filter | None = None) -> tuple[Row, ...]:
        """Give the documents that appends left."""
        return self.documents(RUNS, wanted)


_OF_RUNS = {
    "document": "summary",
    "documents": "summaries",
    "documents_with_status": "summaries_with_status",
    "put_document": "put_summary",
    "forget_documents": "forget_summaries",
}
"""The lines of runs stand with their streams, so that an append writes one row less."""


def _statement(name: str, projection: str) -> str:
    return _OF_RUNS[name] if projection == RUNS else name


def _model(projection: str) -> tuple[str, ...]:
    return () if projection == RUNS else (projection,)


def write_summary(session: Session, stream: str, summary: Document, stored: Sequence[StoredEvent]) -> None:
    """Write the summary of a stream inside the transaction of its append."""
    position = stored[-1].position if stored else session.number("latest_position")
    _put(session, RUNS, stream, position, summary)


def as_row(document: Document) -> tuple[str | None, str]:
    """Give the status of a document and its text."""
    status = document.get("status")
    return (status if status is None else str(status)), _text(document)


def _put(session: Session, projection: str, key: str, position: int, document: Document) -> None:
    status, text = as_row(document)
    session.run(_statement("put_document", projection), *_model(projection), key, status, position, text)


def _fold_batch(session: Session, projection: Projection) -> int:
    row = session.one("projection", projection.name)
    version, position = row if row is not None else (None, 0)
    if version != projection.version:
        _forget(session, projection.name)
        position = 0
    rows = session.all("read_all", position, BATCH)
    for event in [StoredEvent(*row) for row in rows]:
        _fold(session, projection, event)
        position = event.position
    session.run("set_projection", projection.name, projection.version, position)
    return len(rows)


def _fold(session: Session, projection: Projection, event: StoredEvent) -> None:
    key = projection.key(event)
    if key is None:
        return
    row = session.one(_statement("document", projection.name), *_model(projection.name), key)
    before = None if row is None else json.loads(str(row[0]))
    _put(session, projection.name, key, event.position, projection.fold(before, event))


def _forget(session: Session, name: str) -> None:
    session.run(_statement("forget_documents", name), *_model(name))
    session.run("forget_projection", name)
