-- name: put_summary
-- Write the line of a stream, also of one that has no events yet.
INSERT INTO streams (name, seq, hash, status, listed, document) VALUES (?1, 0, printf('%064d', 0), ?2, ?3, ?4)
ON CONFLICT (name) DO UPDATE
SET status = excluded.status, listed = excluded.listed, document = excluded.document;

-- name: summaries
-- Lines of streams, newest first, by the start of their name; without those that are no runs, if so wanted.
SELECT CAST(name AS BLOB), coalesce(listed, 0), CAST(document AS BLOB) FROM streams
WHERE document IS NOT NULL AND substr(name, 1, length(?1)) = ?1 AND (?3 = 0 OR instr(name, ':') = 0)
ORDER BY listed DESC, name LIMIT ?2;

-- name: summaries_with_status
-- The same, with one status.
SELECT CAST(name AS BLOB), coalesce(listed, 0), CAST(document AS BLOB) FROM streams
WHERE status = ?4 AND document IS NOT NULL AND substr(name, 1, length(?1)) = ?1 AND (?3 = 0 OR instr(name, ':') = 0)
ORDER BY listed DESC, name LIMIT ?2;
