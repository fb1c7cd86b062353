-- Where a stream ends and its line in lists become one row, which an append writes as one page instead of two.
-- `position` is that of its last event, `listed` the one at which its line was written.
ALTER TABLE streams ADD COLUMN position INTEGER;
ALTER TABLE streams ADD COLUMN listed INTEGER;
ALTER TABLE streams ADD COLUMN status TEXT;
ALTER TABLE streams ADD COLUMN document TEXT;
UPDATE streams SET position = (SELECT e.position FROM events e WHERE e.stream = streams.name AND e.seq = streams.seq);
UPDATE streams SET listed = d.position, status = d.status, document = d.document
FROM documents d WHERE d.projection = 'runs' AND d.key = streams.name;
DELETE FROM documents WHERE projection = 'runs';
CREATE INDEX streams_status ON streams (status);

-- No AUTOINCREMENT: it writes a page of its own with every append. A row of no stream keeps the highest position that was
-- ever given, where the rows that had it were taken away. Only the text of the schema is changed: the table stays where
-- it is.
INSERT INTO events (position, stream, seq, kind, version, payload, hash)
SELECT seq, '', seq, '', 0, x'', '' FROM sqlite_sequence
WHERE name = 'events' AND seq > (SELECT coalesce(max(position), 0) FROM events);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY AUTOINCREMENT', 'PRIMARY KEY')
WHERE type = 'table' AND name = 'events';
PRAGMA writable_schema = RESET;
DELETE FROM sqlite_sequence WHERE name = 'events';
