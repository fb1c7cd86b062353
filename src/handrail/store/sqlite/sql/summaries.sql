-- name: put_summary
-- Write the line of a stream, also of one that has no events yet.
INSERT INTO streams (name, seq, hash, status, listed, document) VALUES (?1, 0, printf('%064d', 0), ?2, ?3, ?4)
ON CONFLICT (name) DO UPDATE
SET status = excluded.status, listed = excluded.listed, document = excluded.document;

-- name: put_facts
-- Write what lists are filtered by; nothing is written where it is there already, since each index would be.
UPDATE streams SET workflow = ?2, repository = ?3, parent = ?4, root = ?5, started = ?6 WHERE name = ?1
AND (workflow IS NOT ?2 OR repository IS NOT ?3 OR parent IS NOT ?4 OR root IS NOT ?5 OR started IS NOT ?6);

-- The following are put together: a selection, the conditions that are wanted, an order and a limit; each without its semicolon.

-- name: list_rows
-- Lines of streams with what is kept beside them.
SELECT rowid, CAST(name AS BLOB), coalesce(listed, 0), CAST(document AS BLOB),
    CAST(workflow AS BLOB), CAST(repository AS BLOB), CAST(parent AS BLOB), CAST(root AS BLOB), coalesce(started, 0.0)
FROM streams WHERE document IS NOT NULL;

-- name: list_keys
-- The names of streams that have a line.
SELECT CAST(name AS BLOB) FROM streams WHERE document IS NOT NULL;

-- name: count_rows
-- How many streams have a line.
SELECT count(*) FROM streams WHERE document IS NOT NULL;

-- name: of_runs
-- Without the streams that do not belong to runs.
AND instr(name, ':') = 0;

-- name: of_prefix
-- Whose names begin so: from the prefix to the last text that it begins.
AND name >= ? AND name < ?;

-- name: of_key
-- With this name.
AND name = ?;

-- name: of_status
-- With this status.
AND status = ?;

-- name: of_workflow
-- Of this workflow.
AND workflow = ?;

-- name: of_repository
-- That work in this repository.
AND repository = ?;

-- name: of_repositories
-- That work in one of these checkouts.
AND repository IN (SELECT value FROM json_each(?));

-- name: of_parent
-- That this run started.
AND parent = ?;

-- name: of_root
-- That come from this run, which a person started; and that run.
AND root = ?;

-- name: of_roots
-- The same for several of them.
AND root IN (SELECT value FROM json_each(?));

-- name: of_top
-- That no other run started.
AND parent IS NULL;

-- name: of_inner
-- That another run started.
AND parent IS NOT NULL;

-- name: of_before
-- The next page in the order by start.
AND (started, name) < (?, ?);

-- name: of_holding
-- Whose line holds a name; a line that only says it in a text is given too.
AND instr(document, ?) > 0;

-- name: of_holding_either
-- Whose line holds one of two names.
AND (instr(document, ?) > 0 OR instr(document, ?) > 0);

-- name: by_changed
-- Those first that changed last.
ORDER BY listed DESC, name;

-- name: by_started
-- Those first that started last.
ORDER BY started DESC, name DESC;

-- name: by_made
-- As they came into being.
ORDER BY rowid;

-- name: at_most
-- Not more than so many.
LIMIT ?;
