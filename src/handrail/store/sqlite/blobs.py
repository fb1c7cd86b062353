"""Blobs on SQLite."""

import apsw

from handrail.errors import NotFound, StorageDamaged
from handrail.ports.hash_chain import digest_of
from handrail.store.sqlite.compression import pack, unpack
from handrail.store.sqlite.connection import Session
from handrail.store.sqlite.database import Database

RESTORE = "restore the data folder from a backup; runs that do not need this content are not affected"


class SqliteBlobs:
    """Large contents, named by their SHA-256 digest."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put_blob(self, data: bytes) -> str:
        """Store a content and return its digest."""
        digest = digest_of(data)
        with self._db.reading() as session:
            known = session.fetch_one("has_blob", digest) is not None
        if not known:
            with self._db.writing("put_blob") as session:
                write_blob(session, data)
        return digest

    def get_blob(self, digest: str) -> bytes:
        """Read a content and verify it."""
        with self._db.reading() as session:
            row = session.fetch_one("get_blob", digest)
        if row is None:
            raise NotFound(f"no content with digest {digest} was ever stored")
        packed, stored = row
        if stored is None:
            raise NotFound(f"the content with digest {digest} was erased")
        data = unpack(packed, stored)
        if data is None or digest_of(data) != digest:
            raise StorageDamaged(f"the content with digest {digest} is damaged", next_step=RESTORE)
        return data

    def erase_blob(self, digest: str) -> bool:
        """Remove a content from the disk."""
        with self._db.reading() as session:
            session.execute("PRAGMA secure_delete = ON")
            try:
                with self._db.writing("erase_blob") as writer:
                    erased = writer.run("erase_blob", digest) == 1
            finally:
                session.execute("PRAGMA secure_delete = OFF")
            # The write-ahead log may contain the content until it is truncated.
            session.raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        return erased


def write_blob(session: Session, data: bytes) -> None:
    """Store a content inside a transaction."""
    session.run("put_blob", digest_of(data), *pack(data))
