-- name: has_blob
-- Tell whether a content is there.
SELECT 1 FROM blobs WHERE digest = ? AND data IS NOT NULL;

-- name: put_blob
-- Keep a content; one that was erased is kept again.
INSERT INTO blobs (digest, packed, data) VALUES (?, ?, ?)
ON CONFLICT (digest) DO UPDATE SET packed = excluded.packed, data = excluded.data WHERE data IS NULL;

-- name: get_blob
-- A content as it is stored.
SELECT packed, data FROM blobs WHERE digest = ?;

-- name: erase_blob
-- Remove a content and keep its name.
UPDATE blobs SET data = NULL WHERE digest = ? AND data IS NOT NULL;
