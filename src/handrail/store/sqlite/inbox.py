"""The inbox on SQLite."""

from handrail.ports.log import Message
from handrail.store.sqlite.database import Database


class SqliteInbox:
    """What others want a stream to know."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def send(self, stream: str, key: str, payload: bytes) -> bool:
        """Leave a message; False when the stream was ever sent one with this key."""
        with self._db.reading() as session:
            if session.one("was_sent", stream, key) is not None:
                return False
        with self._db.writing("send") as session:
            return session.run("send", stream, key, payload) == 1

    def inbox(self, stream: str, limit: int | None = None) -> tuple[Message, ...]:
        """Give the messages that were not consumed."""
        with self._db.reading() as session:
            rows = session.all("pending", stream, -1 if limit is None else limit)
        return tuple(Message(*row) for row in rows)

    def pending_streams(self) -> tuple[str, ...]:
        """Name the streams that have messages to consume."""
        with self._db.reading() as session:
            return tuple(str(row[0]) for row in session.all("pending_streams"))
