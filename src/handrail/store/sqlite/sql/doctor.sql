-- name: integrity
-- What SQLite itself finds wrong with the file; one row `ok` when nothing.
PRAGMA integrity_check(20);

-- name: all_streams
-- Streams that have an end or events.
SELECT name FROM streams UNION SELECT stream FROM events WHERE stream <> '' ORDER BY 1;

-- name: blob_digests
-- All contents that were not erased.
SELECT digest FROM blobs WHERE data IS NOT NULL ORDER BY digest;

-- name: all_checkpoints
-- All checkpoints, with the hash of their event where it exists.
SELECT c.stream, c.seq, c.reducer, c.packed, c.state, c.seal, coalesce(e.hash, '')
FROM checkpoints c LEFT JOIN events e ON e.stream = c.stream AND e.seq = c.seq ORDER BY c.stream, c.seq;

-- name: move_damaged
-- Keep aside what follows the intact events of a stream.
INSERT INTO damaged (position, stream, seq, kind, version, payload, hash)
SELECT position, stream, seq, kind, version, payload, hash FROM events WHERE stream = ? AND seq > ? ORDER BY seq;

-- name: cut_events
-- Take out of a stream what was kept aside.
DELETE FROM events WHERE stream = ? AND seq > ?;

-- name: forget_head
-- Forget a stream of which nothing is intact.
DELETE FROM streams WHERE name = ?;

-- name: forget_summary
-- Forget the line of a stream in a list.
UPDATE streams SET status = NULL, listed = NULL, document = NULL WHERE name = ?;

-- name: lost_streams
-- Streams of which nothing is left, though something else speaks of their events.
SELECT stream FROM timers UNION SELECT stream FROM checkpoints UNION SELECT stream FROM inbox WHERE consumed IS NOT NULL
EXCEPT SELECT name FROM streams ORDER BY 1;

-- name: forget_timers
-- Forget all timers of a stream.
DELETE FROM timers WHERE stream = ?;

-- name: forget_timers_alone
-- Forget timers whose stream is lost.
DELETE FROM timers WHERE stream NOT IN (SELECT name FROM streams);

-- name: forget_checkpoints_alone
-- Forget checkpoints whose stream is lost.
DELETE FROM checkpoints WHERE stream NOT IN (SELECT name FROM streams);

-- name: forget_consumed_alone
-- Forget messages that were consumed by a stream that is lost.
DELETE FROM inbox WHERE consumed IS NOT NULL AND stream NOT IN (SELECT name FROM streams);

-- name: unconsume
-- Give back the messages that were consumed by events that were cut.
UPDATE inbox SET consumed = NULL WHERE stream = ? AND consumed > ?;

-- name: forget_checkpoint
-- Throw away a checkpoint that cannot be trusted.
DELETE FROM checkpoints WHERE stream = ? AND seq = ? AND reducer = ?;

-- name: forget_checkpoints_after
-- Throw away the checkpoints that were taken after events that were cut.
DELETE FROM checkpoints WHERE stream = ? AND seq > ?;

-- name: highest_position
-- The highest position that was ever given.
SELECT coalesce(max(position), 0) FROM (
    SELECT max(position) AS position FROM events
    UNION ALL SELECT max(position) FROM damaged
    UNION ALL SELECT max(position) FROM streams
);

-- name: keep_position
-- Keep the highest position that was ever given by a row of no stream, so that it is never given again.
INSERT OR IGNORE INTO events (position, stream, seq, kind, version, payload, hash)
SELECT ?1, '', ?1, '', 0, x'', '' WHERE ?1 > (SELECT coalesce(max(position), 0) FROM events);
