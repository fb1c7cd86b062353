-- Every append moves the position of its stream's summary: an index with the position in it would be written each time.
DROP INDEX documents_newest;
DROP INDEX documents_status;
CREATE INDEX documents_status ON documents (projection, status);
