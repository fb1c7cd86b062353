-- A status that is computed from its document is indexed anew with every document; a plain one only when it changes.
DROP INDEX documents_status;
ALTER TABLE documents DROP COLUMN status;
ALTER TABLE documents ADD COLUMN status TEXT;
UPDATE documents SET status = CAST(json_extract(document, '$.status') AS TEXT);
CREATE INDEX documents_status ON documents (projection, status);
