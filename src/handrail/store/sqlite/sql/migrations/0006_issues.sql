-- The lines of the local tracker's issues: written in the commit of their events, and rebuilt from these if they are lost.
-- The text of the schema has to stay short: a damaged file can be rebuilt only if all of it is on the first page.
CREATE TABLE issues (stream TEXT NOT NULL UNIQUE, repository TEXT NOT NULL, line TEXT NOT NULL) STRICT;
CREATE INDEX issues_repository ON issues (repository);
