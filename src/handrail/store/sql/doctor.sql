-- name: integrity
-- What SQLite itself finds wrong with the file; one row `ok` when nothing.
PRAGMA integrity_check(20);

-- name: all_streams
-- Streams that have an end or events.
SELECT name FROM streams UNION SELECT stream FROM events ORDER BY 1;

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
DELETE FROM documents WHERE projection = ? AND key = ?;

-- name: summaries_alone
-- Lines whose stream is lost.
SELECT key FROM documents WHERE projection = ? AND key NOT IN (SELECT name FROM streams) ORDER BY key;

-- name: forget_timers
-- Forget all timers of a stream.
DELETE FROM timers WHERE stream = ?;

-- name: forget_timers_alone
-- Forget timers whose stream is lost.
DELETE FROM timers WHERE stream NOT IN (SELECT name FROM streams);

-- name: unconsume
-- Give back the messages that were consumed by events that were cut.
UPDATE inbox SET consumed = NULL WHERE stream = ? AND consumed > ?;

-- name: forget_checkpoint
-- Throw away a checkpoint that cannot be trusted.
DELETE FROM checkpoints WHERE stream = ? AND seq = ? AND reducer = ?;

-- name: highest_position
-- The highest position that was ever given.
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events';

-- name: raise_positions
-- Never give again a position that may have been given.
UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events';
