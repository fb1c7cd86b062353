-- name: put_summary
-- Write the line of a stream, also of one that has no events yet.
INSERT INTO streams (name, seq, hash, status, listed, document) VALUES (?1, 0, printf('%064d', 0), ?2, ?3, ?4)
ON CONFLICT (name) DO UPDATE
SET status = excluded.status, listed = excluded.listed, document = excluded.document;

-- name: forget_summaries
-- Throw away the lines of all streams.
UPDATE streams SET status = NULL, listed = NULL, document = NULL;

-- name: summaries
-- Lines of streams, newest first, by the start of their name.
SELECT name, listed, document FROM streams
WHERE document IS NOT NULL AND substr(name, 1, length(?1)) = ?1
ORDER BY listed DESC, name LIMIT ?2;

-- name: summaries_with_status
-- The same, with one status.
SELECT name, listed, document FROM streams
WHERE status = ?3 AND document IS NOT NULL AND substr(name, 1, length(?1)) = ?1
ORDER BY listed DESC, name LIMIT ?2;
