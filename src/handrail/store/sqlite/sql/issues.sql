-- name: put_issue
-- Write the line of an issue.
INSERT INTO issues (
    stream, title, status, priority, kind, assignee, labels, created, updated, deferred_until, hidden, claimed, links,
    marker, repository
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (stream) DO UPDATE SET
    title = ?2, status = ?3, priority = ?4, kind = ?5, assignee = ?6, labels = ?7, created = ?8, updated = ?9,
    deferred_until = ?10, hidden = ?11, claimed = ?12, links = ?13, marker = ?14, repository = ?15;

-- name: issues_of_repository
-- The lines of a repository's issues.
SELECT stream, title, status, priority, kind, assignee, labels, created, updated, deferred_until, hidden, claimed, links,
    marker, repository
FROM issues WHERE repository = ?;

-- name: issues_of_marker
-- The lines of the issues that were created with a marker.
SELECT stream, title, status, priority, kind, assignee, labels, created, updated, deferred_until, hidden, claimed, links,
    marker, repository
FROM issues WHERE marker = ?;

-- name: issues_of_all
-- The lines of all issues.
SELECT stream, title, status, priority, kind, assignee, labels, created, updated, deferred_until, hidden, claimed, links,
    marker, repository
FROM issues;

-- name: forget_issue
-- Forget the line of an issue.
DELETE FROM issues WHERE stream = ?;
