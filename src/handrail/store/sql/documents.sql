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

-- name: replace_document
-- Write a document anew whose status stays as it is: no index has to be written.
UPDATE documents SET position = ?4, document = ?5 WHERE projection = ?1 AND key = ?2 AND status IS ?3;

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
