-- name: send
-- Leave a message unless one with its key was ever left.
INSERT INTO inbox (stream, key, payload) VALUES (?, ?, ?) ON CONFLICT (stream, key) DO NOTHING;

-- name: was_sent
-- Tell whether a stream was ever sent a message with this key.
SELECT 1 FROM inbox WHERE stream = ? AND key = ?;

-- name: pending
-- Messages of a stream that were not consumed, in the order in which they came.
SELECT id, CAST(key AS BLOB), payload FROM inbox WHERE stream = ? AND consumed IS NULL ORDER BY id LIMIT ?;

-- name: has_message
-- Tell whether a stream has a message that was not consumed.
SELECT 1 FROM inbox WHERE stream = ? AND consumed IS NULL LIMIT 1;

-- name: pending_streams
-- Streams that have messages to consume.
SELECT DISTINCT CAST(stream AS BLOB) FROM inbox WHERE consumed IS NULL ORDER BY stream;

-- name: consume
-- Mark a message as consumed by the stream at a seq.
UPDATE inbox SET consumed = ? WHERE id = ? AND stream = ? AND consumed IS NULL;
