-- name: head
-- Where a stream ends.
SELECT seq, hash FROM streams WHERE name = ?;

-- name: set_head
-- Move the end of a stream.
INSERT INTO streams (name, seq, hash, position) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, position = excluded.position;

-- name: move_head
-- Move the end of a stream from where the writer left it, with its line, while its lease holds, no message waits and its
-- status and repository stay (else an index has to be written too): all that an append has to look at, at once.
UPDATE streams SET seq = ?1, hash = ?2, position = ?3, listed = ?3, document = ?4
WHERE name = ?5 AND seq = ?6 AND hash = ?7 AND status IS ?8 AND repository IS ?10
AND EXISTS (SELECT 1 FROM leases WHERE stream = ?5 AND epoch = ?9 AND held = 1)
AND NOT EXISTS (SELECT 1 FROM inbox WHERE stream = ?5 AND consumed IS NULL);

-- name: append_event
-- Record one event; the database gives its position.
INSERT INTO events (stream, seq, kind, version, payload, hash) VALUES (?, ?, ?, ?, ?, ?);

-- name: append_two_events
-- Record two events, the second at the position after the first: what most appends hold, in half the time.
INSERT INTO events (stream, seq, kind, version, payload, hash) VALUES (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?);

-- name: read_stream
-- Events of a stream after a seq, up to a seq; a limit of -1 is none.
SELECT stream, seq, position, kind, version, payload, hash FROM events
WHERE stream = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?;

-- name: read_stream_as_bytes
-- The same, with texts as bytes: for a stream that contains a text which is no longer valid UTF-8.
SELECT CAST(stream AS BLOB), seq, position, CAST(kind AS BLOB), version, payload, CAST(hash AS BLOB) FROM events
WHERE stream = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?;

-- name: read_all
-- Events of all streams after a position.
SELECT stream, seq, position, kind, version, payload, hash FROM events
WHERE position > ? AND stream <> '' ORDER BY position LIMIT ?;

-- name: event_hash
-- The hash of one event.
SELECT hash FROM events WHERE stream = ? AND seq = ?;

-- name: latest_position
-- The position of the newest event.
SELECT coalesce(max(position), 0) FROM events;

-- name: streams
-- All streams.
SELECT CAST(name AS BLOB) FROM streams WHERE seq > 0 ORDER BY name;

-- name: changed
-- A number that differs after any other connection has written.
PRAGMA data_version;

-- name: put_checkpoint
-- Keep the state of a stream after a seq.
INSERT OR REPLACE INTO checkpoints (stream, seq, reducer, packed, state, seal) VALUES (?, ?, ?, ?, ?, ?);

-- name: prune_checkpoints
-- Keep the two newest checkpoints of a stream.
DELETE FROM checkpoints WHERE stream = ?1 AND rowid NOT IN (
    SELECT rowid FROM checkpoints WHERE stream = ?1 ORDER BY seq DESC, reducer DESC LIMIT 2
);

-- name: checkpoints
-- The checkpoints of a stream by one version of the reducer, newest first, with the hash of their event.
SELECT c.seq, c.packed, c.state, c.seal, e.hash
FROM checkpoints c JOIN events e ON e.stream = c.stream AND e.seq = c.seq
WHERE c.stream = ? AND c.reducer = ? ORDER BY c.seq DESC;

-- name: set_timer
-- Set or replace a timer.
INSERT INTO timers (stream, key, due) VALUES (?, ?, ?) ON CONFLICT (stream, key) DO UPDATE SET due = excluded.due;

-- name: clear_timer
-- Forget a timer.
DELETE FROM timers WHERE stream = ? AND key = ?;

-- name: due_timers
-- Timers that are due, the earliest first.
SELECT CAST(stream AS BLOB), CAST(key AS BLOB), due FROM timers WHERE due <= ? ORDER BY due, stream, key LIMIT ?;
