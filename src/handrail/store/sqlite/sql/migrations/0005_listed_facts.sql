-- What lists are filtered and ordered by becomes columns with indexes: a list reads the rows that it shows.
ALTER TABLE streams ADD COLUMN workflow TEXT;
ALTER TABLE streams ADD COLUMN repository TEXT;
ALTER TABLE streams ADD COLUMN parent TEXT;
ALTER TABLE streams ADD COLUMN root TEXT;
ALTER TABLE streams ADD COLUMN started REAL;
DROP INDEX streams_status;
CREATE INDEX streams_parent ON streams (parent, started, name);

UPDATE streams SET
    workflow = CAST(json_extract(document, '$.workflow') AS TEXT),
    parent = CAST(json_extract(document, '$.parent') AS TEXT),
    started = coalesce(CAST(json_extract(document, '$.started_at') AS REAL), 0.0)
WHERE json_valid(document);
UPDATE streams SET started = 0.0 WHERE started IS NULL;

-- The lines of earlier formats do not say in which repository a run works; its first event does, unless it came in from a
-- file and names a place on another machine.
UPDATE streams SET repository = (
    SELECT coalesce(
        json_extract(first, '$.source.repository'), json_extract(first, '$.source_tree.repository'),
        json_extract(first, '$.tree.repository'), json_extract(first, '$.observed.root')
    ) FROM (SELECT CAST(payload AS TEXT) AS first FROM events WHERE stream = streams.name AND seq = 1)
    WHERE json_valid(first)
) WHERE json_valid(document) AND json_extract(document, '$.imported') IS NULL;

WITH RECURSIVE kin (name, root) AS (
    SELECT name, name FROM streams WHERE parent IS NULL
    UNION SELECT inner.name, kin.root FROM kin JOIN streams AS inner ON inner.parent = kin.name
)
UPDATE streams SET root = kin.root FROM kin WHERE kin.name = streams.name;
UPDATE streams SET root = coalesce(parent, name) WHERE root IS NULL;

-- Inputs leave the lines: every append wrote them again, however long they were.
UPDATE streams SET document = json_remove(document, '$.input') WHERE json_valid(document);
UPDATE streams SET document = json_set(document, '$.root', root) WHERE parent IS NOT NULL AND json_valid(document);
UPDATE streams SET document = json_set(document, '$.repository', repository)
WHERE repository IS NOT NULL AND json_valid(document);

CREATE INDEX streams_status ON streams (status, parent, started, name);
CREATE INDEX streams_workflow ON streams (workflow, parent, started, name);
CREATE INDEX streams_repository ON streams (repository, parent, started, name);
CREATE INDEX streams_root ON streams (root);
