-- Every table has a rowid: a salvage asks a damaged file for its rows one by one.

CREATE TABLE streams (
    name TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;

-- AUTOINCREMENT: a position is never given again, not even after a salvage took the last rows away.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (stream, seq)
) STRICT;

-- Rows that a salvage took out of `events`.
CREATE TABLE damaged (
    id INTEGER PRIMARY KEY,
    position INTEGER NOT NULL,
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL,
    hash TEXT NOT NULL
) STRICT;

-- `consumed`: where the stream ended when the message was consumed.
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    key TEXT NOT NULL,
    payload BLOB NOT NULL,
    consumed INTEGER,
    UNIQUE (stream, key)
) STRICT;

CREATE INDEX inbox_pending ON inbox (stream, id) WHERE consumed IS NULL;

-- `data` is NULL once the content was erased.
CREATE TABLE blobs (
    digest TEXT NOT NULL UNIQUE,
    packed INTEGER NOT NULL,
    data BLOB
) STRICT;

CREATE TABLE leases (
    stream TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    held INTEGER NOT NULL
) STRICT;

CREATE TABLE timers (
    stream TEXT NOT NULL,
    key TEXT NOT NULL,
    due REAL NOT NULL,
    UNIQUE (stream, key)
) STRICT;

CREATE INDEX timers_due ON timers (due, stream, key);

CREATE TABLE checkpoints (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    reducer INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    state BLOB NOT NULL,
    seal TEXT NOT NULL,
    UNIQUE (stream, seq, reducer)
) STRICT;

CREATE TABLE projections (
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL
) STRICT;

CREATE TABLE documents (
    projection TEXT NOT NULL,
    key TEXT NOT NULL,
    position INTEGER NOT NULL,
    document TEXT NOT NULL,
    status TEXT GENERATED ALWAYS AS (CAST(json_extract(document, '$.status') AS TEXT)) VIRTUAL,
    UNIQUE (projection, key)
) STRICT;

CREATE INDEX documents_newest ON documents (projection, position);
CREATE INDEX documents_status ON documents (projection, status, position);
