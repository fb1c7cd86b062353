-- name: put_issue
-- Write the line of an issue.
INSERT INTO issues (stream, repository, line) VALUES (?1, ?2, ?3)
ON CONFLICT (stream) DO UPDATE SET repository = ?2, line = ?3;

-- name: issues_of_repository
-- The lines of a repository's issues.
SELECT line FROM issues WHERE repository = ?;

-- name: issues_of_all
-- The lines of all issues.
SELECT line FROM issues;

-- name: forget_issue
-- Forget the line of an issue.
DELETE FROM issues WHERE stream = ?;
