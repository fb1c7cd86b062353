-- name: projection
-- The version of a read model, and the position up to which it was folded.
SELECT version, position FROM projections WHERE name = ?;

-- name: set_projection
-- Record how far a read model was folded.
INSERT INTO projections (name, version, position) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET version = excluded.version, position = excluded.position;

-- name: forget_projection
-- Let a read model begin with the first event again.
DELETE FROM projections WHERE name = ?;

-- name: forget_documents
-- Throw away the documents of a read model.
DELETE FROM documents WHERE projection = ?;

-- name: document
-- One document.
SELECT document FROM documents WHERE projection = ? AND key = ?;

-- name: put_document
-- Write a document.
INSERT INTO documents (projection, key, status, position, document) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (projection, key) DO UPDATE
SET status = excluded.status, position = excluded.position, document = excluded.document;

-- name: documents
-- Documents of a read model, newest first, by the start of their key.
SELECT key, position, document FROM documents
WHERE projection = ?1 AND substr(key, 1, length(?2)) = ?2
ORDER BY position DESC, key LIMIT ?3;

-- name: documents_with_status
-- The same, with one status.
SELECT key, position, document FROM documents
WHERE projection = ?1 AND substr(key, 1, length(?2)) = ?2 AND status = ?4
ORDER BY position DESC, key LIMIT ?3;

-- name: summary
-- The line of a stream.
SELECT document FROM streams WHERE name = ? AND document IS NOT NULL;

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
