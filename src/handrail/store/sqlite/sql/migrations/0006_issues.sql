-- The lines of the local tracker's issues: written in the commit of their events, and rebuilt from these if they are lost.
CREATE TABLE issues (
    stream TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    kind TEXT NOT NULL,
    assignee TEXT NOT NULL,
    labels TEXT NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    deferred_until REAL NOT NULL,
    hidden INTEGER NOT NULL,
    claimed TEXT NOT NULL,
    links TEXT NOT NULL,
    marker TEXT NOT NULL,
    repository TEXT NOT NULL
) STRICT;
CREATE INDEX issues_repository ON issues (repository);
CREATE INDEX issues_marker ON issues (marker) WHERE marker <> '';
